"""Small runs of DQN and of Rainbow, as words of the command line."""

from pathlib import Path

from tests.experiments.commands import train

SMALL = (
    "--run.device=cpu",
    "--metrics.console=plain",
    "--environment.count=4",
    "--model.hidden-sizes=[16]",
    "--replay.capacity=2000",
    "--replay.warm-up-steps=100",
    "--optimisation.batch-size=16",
    "--optimisation.steps-per-update=4",
    "--optimisation.target-update-every=32",
    "--evaluation.every-steps=256",
    "--evaluation.episodes=2",
    "--evaluation.final-episodes=3",
    "--evaluation.environments=2",
)
"""An update at every call of the environments, from the first step after the warm-up on."""

SMALL_GAME = (
    *SMALL,
    "--environment.count=2",
    "--environment.frame-stack=2",
    "--model.channel-multiplier=0.25",
    "--model.feature-size=32",
    "--replay.warm-up-steps=32",
    "--evaluation.every-steps=64",
    "--evaluation.episodes=1",
    "--evaluation.final-episodes=1",
)

ALGORITHMS = ("dqn", "rainbow")


def train_dqn(
    what: str, folder: Path, *words: str, algorithm: str = "dqn", small: tuple[str, ...] = SMALL
) -> list[str]:
    """The words of `train`. Of two flags of one name the later one counts."""
    return train(what, folder, f"--algo={algorithm}", *words, small=small)
