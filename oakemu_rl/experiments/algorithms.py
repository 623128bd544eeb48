"""The algorithms that runs can be made of, by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from oakemu_rl.core.errors import RunFolderError
from oakemu_rl.experiments.algorithm import Algorithm
from oakemu_rl.experiments.dqn import DQN, RAINBOW
from oakemu_rl.experiments.ppo import PPO

ALGORITHMS: Mapping[str, Algorithm[Any]] = MappingProxyType(
    {algorithm.name: algorithm for algorithm in (PPO, DQN, RAINBOW)}
)


def find_algorithm(name: str) -> Algorithm[Any]:
    """The algorithm called `name`.

    Raises:
        RunFolderError: there is none, so that a run which says so is of another version.
    """
    if name not in ALGORITHMS:
        raise RunFolderError(
            f"algorithm {name!r} is unknown; allowed is {', '.join(ALGORITHMS)}: the run may be "
            "of a newer version of OakEmu-RL"
        )
    return ALGORITHMS[name]
