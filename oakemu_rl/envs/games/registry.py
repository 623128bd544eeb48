"""Finds games by name or by the path of their file, and registers our own with Gymnasium."""

from pathlib import Path

import gymnasium

from oakemu_rl.config.wording import nearest
from oakemu_rl.core.errors import GameError
from oakemu_rl.envs.games.definition import GameDefinition
from oakemu_rl.envs.games.loading import load_game

_HOME = Path(__file__).parent
GYMNASIUM_IDS = {"acorns": "OakEmu/Acorns-v0"}
"""The games in the package and their ids in Gymnasium."""


def game_names() -> tuple[str, ...]:
    """The names of the games in the package."""
    return tuple(GYMNASIUM_IDS)


def find_game(name_or_path: str) -> GameDefinition:
    """The game of this name or Gymnasium id, or the one whose file is at this path.

    Raises:
        GameError: there is no such game, or its file is wrong.
    """
    for name, gymnasium_id in GYMNASIUM_IDS.items():
        if name_or_path in (name, gymnasium_id):
            return load_game(_HOME / name / f"{name}.toml")
    if name_or_path.endswith(".toml"):
        return load_game(Path(name_or_path))
    close = nearest(name_or_path, game_names())
    hint = f"; did you mean {close!r}?" if close else ""
    raise GameError(
        f"no game is called {name_or_path!r}{hint} (games: {', '.join(game_names())}; "
        "a game of your own is named by the path of its .toml file)"
    )


def register_games() -> None:
    """Make our games known to `gymnasium.make`; calling it again changes nothing."""
    for name, gymnasium_id in GYMNASIUM_IDS.items():
        if gymnasium_id not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id,
                entry_point="oakemu_rl.envs.games.game_env:SpectrumGame",
                kwargs={"game": name},
            )
