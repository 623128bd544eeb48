"""A PPO run: what of it differs from the runs of other algorithms."""

from collections.abc import Sequence

from rich.console import Console

from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.cadence import rollouts_needed
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.experiments.algorithm import Algorithm
from oakemu_rl.experiments.memory import require_rollout_memory
from oakemu_rl.experiments.ppo_parts import build_ppo_parts
from oakemu_rl.experiments.result import ExperimentResult
from oakemu_rl.experiments.training_run import TrainingRun
from oakemu_rl.training.agents import AgentBuilder
from oakemu_rl.training.ppo.agent import ppo_agent


class PPOExperiment:
    """Trains an agent with PPO as configured, and tests it at the end. See `TrainingRun`.

    Args:
        configuration: all that the run is made from.
        command: what to note as the command that started the run; None takes this process's.
        console: where progress and result are told.

    Raises:
        ConfigurationError: settings contradict each other.
    """

    def __init__(
        self,
        configuration: PPOExperimentConfiguration,
        *,
        command: Sequence[str] | None = None,
        console: Console | None = None,
    ) -> None:
        self._run = TrainingRun(configuration, algorithm=PPO, command=command, console=console)

    def run(self) -> ExperimentResult:
        """Train, test, and return what the last test found."""
        return self._run.run()


def _notice(configuration: PPOExperimentConfiguration) -> str | None:
    rows = configuration.rollout.steps * configuration.environment.count
    wanted = configuration.run.total_steps
    rollouts = rollouts_needed(wanted, rows)
    if rollouts * rows == wanted:
        return None
    return (
        f"{wanted:,} steps asked for; {rollouts * rows:,} will be taken, "
        f"which are {rollouts:,} whole rollouts of {rows:,}"
    )


def _agent(configuration: PPOExperimentConfiguration) -> AgentBuilder:
    return ppo_agent(configuration.model)


def _refuse_cloning(configuration: PPOExperimentConfiguration) -> None:
    _, most_weight = configuration.cloning.weight.bounds()
    steps = configuration.cloning.bootstrap_steps
    for path, value in (("cloning.weight", most_weight), ("cloning.bootstrap_steps", steps)):
        if value > 0:
            raise ConfigurationError(
                f"{path}: got {value:g}, but a run has no demonstrations to clone; allowed is 0 "
                "(in Python, PPOLearner takes a bc_sampler)"
            )


PPO: Algorithm[PPOExperimentConfiguration] = Algorithm(
    name="ppo",
    configuration=PPOExperimentConfiguration,
    require_memory=require_rollout_memory,
    build=build_ppo_parts,
    agent=_agent,
    refuse=_refuse_cloning,
    notice=_notice,
)
