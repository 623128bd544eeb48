"""A DQN run: what of it differs from the runs of other algorithms."""

from collections.abc import Sequence
from functools import partial

import attrs
from rich.console import Console

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.cadence import rollouts_needed
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.throttle import updates_due
from oakemu_rl.experiments.algorithm import Algorithm
from oakemu_rl.experiments.dqn_parts import build_dqn_parts
from oakemu_rl.experiments.memory import require_replay_memory, value_names
from oakemu_rl.experiments.result import ExperimentResult
from oakemu_rl.experiments.training_run import TrainingRun
from oakemu_rl.training.dqn.agent import dqn_agent
from oakemu_rl.training.shaping import RewardShaper


class DQNExperiment:
    """Trains an agent with DQN as configured, and tests it at the end. See `TrainingRun`.

    Args:
        configuration: all that the run is made from.
        name: what the algorithm is called in the run folder: `dqn` or `rainbow`.
        shapers: reward shapers of your own, applied after those of the configuration.
        command: what to note as the command that started the run; None takes this process's.
        console: where progress and result are told.

    Raises:
        ConfigurationError: settings contradict each other, or the name is another one.
    """

    def __init__(
        self,
        configuration: DQNExperimentConfiguration,
        *,
        name: str = "dqn",
        shapers: Sequence[RewardShaper] = (),
        command: Sequence[str] | None = None,
        console: Console | None = None,
    ) -> None:
        if name not in NAMES:
            raise ConfigurationError(f"name: got {name!r}, allowed is {' or '.join(NAMES)}")
        algorithm = DQN if name == DQN.name else RAINBOW
        self._run = TrainingRun(
            configuration,
            algorithm=with_shapers(algorithm, tuple(shapers)),
            command=command,
            console=console,
        )

    def run(self) -> ExperimentResult:
        """Train, test, and return what the last test found."""
        return self._run.run()


def _notice(configuration: DQNExperimentConfiguration) -> str | None:
    count, wanted = configuration.environment.count, configuration.run.total_steps
    warm_up = configuration.replay.warm_up_steps
    taken = count * rollouts_needed(wanted, count)
    notices = []
    if taken != wanted:
        notices.append(f"{wanted:,} steps asked for; {taken:,} will be taken, {count:,} at a time")
    due = updates_due(
        env_steps=taken,
        warm_up_steps=warm_up,
        steps_per_update=configuration.optimisation.steps_per_update,
    )
    if due == 0:
        notices.append(
            f"nothing will be learned: {taken:,} steps end before the first update, which comes "
            f"after the {warm_up:,} of replay.warm_up_steps"
        )
    return "\n".join(notices) or None


DQN: Algorithm[DQNExperimentConfiguration] = Algorithm(
    name="dqn",
    configuration=DQNExperimentConfiguration,
    require_memory=require_replay_memory,
    build=build_dqn_parts,
    agent=dqn_agent,
    value_names=value_names,
    notice=_notice,
)
RAINBOW = attrs.evolve(DQN, name="rainbow")
NAMES = (DQN.name, RAINBOW.name)


def with_shapers(
    algorithm: Algorithm[DQNExperimentConfiguration], shapers: tuple[RewardShaper, ...]
) -> Algorithm[DQNExperimentConfiguration]:
    """The algorithm with reward shapers of the user's own behind those of the configuration."""
    return attrs.evolve(
        algorithm,
        require_memory=partial(require_replay_memory, shapers=shapers),
        build=partial(build_dqn_parts, shapers=shapers),
        value_names=partial(value_names, shapers=shapers),
    )
