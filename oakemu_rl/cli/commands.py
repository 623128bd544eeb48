"""The commands as data: their flags, defaults and help. What they do is imported when they run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal

import attrs
from tyro.conf import FlagCreatePairsOff, Positional, arg

Settings = Mapping[str, str]
"""Texts of dotted flags by path, as typed: `{"loss.clip_range": "0.1"}`."""

What = Annotated[
    Positional[str],
    arg(metavar="WHAT", help="A game, the file of a game's definition, or a Gymnasium id."),
]
DEFAULT_ALGORITHM: Final = "ppo"
Algorithm = Annotated[
    Literal["ppo", "dqn", "rainbow"],
    arg(help="The algorithm; rainbow is DQN with all its improvements switched on."),
]
File = Annotated[
    Path | None,
    arg(metavar="FILE.toml", help="A file of settings.", help_behavior_hint="(default: none)"),
]
Switch = FlagCreatePairsOff[bool]


@attrs.frozen(kw_only=True)
class Train:
    """Train an agent.

    Every setting is a flag, by its dotted path: --run.device cpu or --run.device=cpu.
    A value is written as in TOML (true, [64, 64], {kind = "linear", ...}); a bare word is a string.
    `oakemu-rl config show WHAT --algo ALGO` prints all settings of an algorithm and their values.
    Of two sources the later one wins: defaults, the preset of WHAT, --config, flags.
    """

    what: What
    algo: Algorithm = DEFAULT_ALGORITHM
    config: File = None
    seed: Annotated[
        str | None,
        arg(metavar="N", help="Short for --run.seed.", help_behavior_hint="(default: 0)"),
    ] = None
    total_steps: Annotated[
        str | None,
        arg(
            metavar="N",
            help="Environment steps to train for, short for --run.total-steps.",
            help_behavior_hint="(default: the preset's)",
        ),
    ] = None
    run_dir: Annotated[
        str | None,
        arg(
            metavar="DIR",
            help="The run folder, new or empty, short for --run.folder.",
            help_behavior_hint="(default: a new one below runs/)",
        ),
    ] = None
    lockstep: Annotated[
        Switch, arg(help="One thread, equal bits for equal seeds, short for --run.mode lockstep.")
    ] = False

    def run(self, settings: Settings, /) -> int:
        """Train to the end; the exit code."""
        from oakemu_rl.cli.training import train

        return train(self, settings)


@attrs.frozen(kw_only=True)
class Evaluate:
    """Play games with a trained agent and print its score."""

    run_folder: Annotated[
        Positional[Path],
        arg(metavar="RUN|CHECKPOINT", help="A run folder, or one checkpoint in it."),
    ]
    checkpoint: Annotated[
        str,
        arg(metavar="best|latest|STEP", help="Which checkpoint of the run."),
    ] = "best"
    episodes: Annotated[int, arg(metavar="N", help="Games to play.")] = 30
    seed: Annotated[int, arg(metavar="N", help="Seed of the games.")] = 0
    sampled: Annotated[Switch, arg(help="Sample actions instead of taking the likeliest.")] = False
    json: Annotated[Switch, arg(help="Print one JSON object and nothing else.")] = False

    def run(self, _settings: Settings, /) -> int:
        """Evaluate; the exit code."""
        from oakemu_rl.cli.evaluation import evaluate

        return evaluate(self)


@attrs.frozen(kw_only=True)
class ShowConfig:
    """Print all settings of a run as TOML; takes the dotted flags of `train`."""

    what: What
    algo: Algorithm = DEFAULT_ALGORITHM
    config: File = None

    def run(self, settings: Settings, /) -> int:
        """Print; the exit code."""
        from oakemu_rl.cli.configuration import show

        return show(self, settings)


@attrs.frozen(kw_only=True)
class CheckConfig:
    """Check a file of settings without starting anything."""

    file: Annotated[Positional[Path], arg(metavar="FILE.toml", help="A file of settings.")]
    algo: Algorithm = DEFAULT_ALGORITHM

    def run(self, _settings: Settings, /) -> int:
        """Check; the exit code."""
        from oakemu_rl.cli.configuration import check

        return check(self)


@attrs.frozen(kw_only=True)
class ListGames:
    """List the games that come with OakEmu-RL."""

    def run(self, _settings: Settings, /) -> int:
        """List; the exit code."""
        from oakemu_rl.cli.games import list_games

        return list_games()


Command = Train | Evaluate | ShowConfig | CheckConfig | ListGames

COMMANDS: Mapping[str, type[Command]] = {
    "train": Train,
    "eval": Evaluate,
    "config show": ShowConfig,
    "config check": CheckConfig,
    "games list": ListGames,
}
"""What is typed after `oakemu-rl`, and its command."""

WITH_SETTINGS = (Train, ShowConfig)
"""The commands that take dotted flags."""
