"""The command `train`."""

from oakemu_rl.cli.commands import Settings, Train
from oakemu_rl.cli.configuration import resolve
from oakemu_rl.config.layers import flag_name
from oakemu_rl.core.errors import UserError


def train(command: Train, settings: Settings) -> int:
    """Resolve the configuration, then train; the experiment knows its exit code."""
    configuration = resolve(
        command.what,
        algorithm=command.algo,
        file=command.config,
        settings=with_short_flags(command, settings),
    )
    from oakemu_rl.experiments.algorithms import find_algorithm
    from oakemu_rl.experiments.training_run import TrainingRun

    return TrainingRun(configuration, algorithm=find_algorithm(command.algo)).run().exit_code


def with_short_flags(command: Train, settings: Settings) -> Settings:
    """The dotted flags and those that short flags stand for.

    Raises:
        UserError: a setting is given both ways.
    """
    short = {
        "--seed": ("run.seed", command.seed),
        "--total-steps": ("run.total_steps", command.total_steps),
        "--run-dir": ("run.folder", command.run_dir),
        "--lockstep": ("run.mode", "lockstep" if command.lockstep else None),
    }
    joined = dict(settings)
    for flag, (path, text) in short.items():
        if text is None:
            continue
        if path in joined:
            raise UserError(f"{flag} and {flag_name(path)} set the same; leave out one")
        joined[path] = text
    return joined
