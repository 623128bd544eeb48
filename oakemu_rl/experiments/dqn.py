"""A DQN run: what of it differs from the runs of other algorithms."""

from collections.abc import Sequence

import attrs
from rich.console import Console

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.cadence import rollouts_needed
from oakemu_rl.core.throttle import updates_due
from oakemu_rl.experiments.algorithm import Algorithm
from oakemu_rl.experiments.dqn_parts import build_dqn_parts
from oakemu_rl.experiments.memory import require_replay_memory, value_names
from oakemu_rl.experiments.result import ExperimentResult
from oakemu_rl.experiments.training_run import TrainingRun
from oakemu_rl.training.dqn.agent import dqn_agent


class DQNExperiment:
    """Trains an agent with DQN as configured, and tests it at the end. See `TrainingRun`.

    Args:
        configuration: all that the run is made from.
        name: what the algorithm is called in the run folder: `dqn` or `rainbow`.
        command: what to note as the command that started the run; None takes this process's.
        console: where progress and result are told.

    Raises:
        ConfigurationError: settings contradict each other.
    """

    def __init__(
        self,
        configuration: DQNExperimentConfiguration,
        *,
        name: str = "dqn",
        command: Sequence[str] | None = None,
        console: Console | None = None,
    ) -> None:
        self._run = TrainingRun(
            configuration,
            algorithm=attrs.evolve(DQN, name=name),
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
