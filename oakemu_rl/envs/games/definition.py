"""A game as data: the records that a game's TOML file is read into, field by field.

How a file is found, read and checked as a whole is in `loading.py`; how a game is played is in
`game_env.py`. Addresses are in [0, 65536), RAM begins at 16384. Frames are video frames, 50 a
second; steps are the agent's, one action each.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import attrs

from oakemu_rl.config.validators import number, optional
from oakemu_rl.envs.games.expressions import Expression
from oakemu_rl.envs.spectrum.machine import MEMORY_BYTES, ROM_BYTES
from oakemu_rl.envs.spectrum.screen import PlayArea

_ADDRESS = number(least=0, most=MEMORY_BYTES - 1)
_RAM_ADDRESS = number(least=ROM_BYTES, most=MEMORY_BYTES - 1)


@attrs.frozen(kw_only=True)
class Program:
    """The raw bytes of a program, and where it lies and begins."""

    file: str
    """Path from the folder of the game's file."""
    address: int = attrs.field(validator=_RAM_ADDRESS)
    entry: int = attrs.field(validator=_RAM_ADDRESS)
    stack: int = attrs.field(validator=_RAM_ADDRESS)
    """The stack grows down from here until the program sets its own."""


@attrs.frozen(kw_only=True)
class MemoryValue:
    """A number in the machine's memory; `u16` has its low byte first."""

    address: int = attrs.field(validator=_ADDRESS)
    type: Literal["u8", "u16"] = "u8"

    @property
    def size(self) -> int:
        """Length in bytes."""
        return 2 if self.type == "u16" else 1

    @property
    def highest(self) -> int:
        """The largest number that fits; the smallest is 0."""
        return (1 << 8 * self.size) - 1


@attrs.frozen(kw_only=True)
class KeyPress:
    """Keys held for some frames; no keys is a wait."""

    frames: int = attrs.field(validator=number(least=1))
    keys: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Reset:
    """How an episode begins.

    `start_up` runs once, from the program's entry; in the state at its end each episode begins.
    At each reset, every value in `seeds` is set to a random number of its type other than 0.
    """

    start_up: tuple[KeyPress, ...] = ()
    seeds: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class Timing:
    """Frames of a step: the action's keys are held for the first `hold_frames` of `frame_skip`."""

    frame_skip: int = attrs.field(default=4, validator=number(least=1))
    hold_frames: int | None = attrs.field(default=None, validator=optional(number(least=1)))
    """None holds the keys for the whole step."""


@attrs.frozen(kw_only=True)
class Episode:
    """What is rewarded, frame by frame, and what ends an episode; the texts are expressions."""

    reward: str
    """Summed over the frames of a step."""
    terminated: str
    """Not 0 at the end of the game; looked at after each frame."""
    max_steps: int | None = attrs.field(default=None, validator=optional(number(least=1)))
    """Steps after which the episode is truncated."""
    max_steps_without_reward: int | None = attrs.field(
        default=None, validator=optional(number(least=1))
    )
    """Steps in a row with reward 0 after which the episode is truncated."""


@attrs.frozen(kw_only=True)
class Observation:
    """What the agent sees.

    `screen` is the play area in grey, each pixel the mean of `shrink` x `shrink`; `memory` is a
    vector of `values`; `both` is a mapping with these two keys.
    """

    kind: Literal["screen", "memory", "both"] = "screen"
    shrink: Literal[1, 2, 4, 8] = 4
    play_area: PlayArea = attrs.field(factory=PlayArea)
    values: tuple[str, ...] = ()


@attrs.frozen(kw_only=True)
class GameSettings:
    """A game's file."""

    title: str
    program: Program
    values: Mapping[str, MemoryValue]
    actions: Mapping[str, tuple[str, ...]]
    """Names of the actions and the keys that each holds, in the order of their numbers."""
    reset: Reset = attrs.field(factory=Reset)
    timing: Timing = attrs.field(factory=Timing)
    episode: Episode
    observation: Observation = attrs.field(factory=Observation)


@attrs.frozen(kw_only=True, eq=False)
class GameDefinition:
    """A game that was read and checked: its settings, its program's bytes, its expressions."""

    name: str
    path: Path
    settings: GameSettings
    program: bytes = attrs.field(repr=False)
    reward: Expression
    terminated: Expression
