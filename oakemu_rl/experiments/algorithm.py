"""What a run has to know of the algorithm that learns in it."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import attrs

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.algorithms import ExperimentConfiguration
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.agents import AgentBuilder

ConfigT = TypeVar("ConfigT", bound=ExperimentConfiguration)


class Parts(Protocol):
    """Actor and learner of one run, with what they share."""

    @property
    def env_steps(self) -> int:
        """Environment steps taken so far."""

    def capture(self, env_steps: int) -> TrainingState:
        """Copy the run's state as it is; called between two updates."""

    def start(self, supervisor: Supervisor, policy: CheckpointPolicy) -> None:
        """Start the threads: the one called `learner`, which drives the policy, and others."""


@attrs.frozen(kw_only=True)
class Algorithm(Generic[ConfigT]):
    """The steps of a run that differ between algorithms."""

    name: str
    """As in the run folder's name."""
    configuration: type[ConfigT]
    require_memory: Callable[[ConfigT, VectorEnvironment], None]
    """Raises a ConfigurationError where what is allocated does not fit into the free memory."""
    build: Callable[[RuntimeContext[ConfigT], VectorEnvironment, ActionMasker], Parts]
    agent: Callable[[ConfigT], AgentBuilder]
    """Makes what plays in tests."""
    refuse: Callable[[ConfigT], None] = lambda _: None
    """Raises a ConfigurationError where a run can't do what is asked for."""
    value_names: Callable[[ConfigT], tuple[str, ...]] = lambda _: ()
    """The environment's named values that are read while training."""
    notice: Callable[[ConfigT], str | None] = lambda _: None
    """What is worth saying of a configuration before the run."""
