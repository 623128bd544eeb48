"""Scripted players: they read a game's values from memory, and mark what good play scores."""

from collections.abc import Mapping
from typing import Protocol

from oakemu_rl.envs.games.registry import GYMNASIUM_IDS

_NOOP, _LEFT, _RIGHT = 0, 1, 2
_BASKET_MIDDLE = 2  # columns from the basket's left edge to where it catches best
_NO_ACORN, _BROKEN = 0, 3
_WAITING_PLACE = 14


class ScriptedPlayer(Protocol):
    """Chooses actions from a game's named values."""

    def act(self, values: Mapping[str, int]) -> int:
        """The number of the action to take."""


class AcornsPlayer:
    """Goes below the acorn, and to the middle while there is none."""

    def act(self, values: Mapping[str, int]) -> int:
        """Left or right by the distance to the wanted column; a step moves two columns."""
        waiting = values["phase"] in (_NO_ACORN, _BROKEN)
        goal = _WAITING_PLACE if waiting else values["acorn_x"] - _BASKET_MIDDLE
        distance = goal - values["basket"]
        if abs(distance) <= 1:
            return _NOOP
        return _RIGHT if distance > 0 else _LEFT


def scripted_player(name: str) -> ScriptedPlayer | None:
    """The scripted player of our game of this name or Gymnasium id; None where there is none."""
    return AcornsPlayer() if name in ("acorns", GYMNASIUM_IDS["acorns"]) else None
