"""What an actor counts and reports while it plays, whatever it collects."""

import time
from collections.abc import Mapping

from oakemu_rl.config.algorithms import ExperimentConfiguration
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.vector import VectorEnvironment, VectorStep
from oakemu_rl.metrics import names
from oakemu_rl.metrics.window import EpisodeWindow
from oakemu_rl.runtime.context import RuntimeContext

SETTLE_SECONDS = 1.0
"""How long an actor is waited for before the last checkpoint: for its step in the environment."""


class ActorProgress:
    """Environment steps, the most recent episodes, and the time since the first step."""

    def __init__(self, context: RuntimeContext[ExperimentConfiguration]) -> None:
        self._context = context
        self._window = EpisodeWindow(context.config.metrics.episode_window)
        self._started: float | None = None
        self.env_steps = 0
        """Steps taken so far; the resets of a vector environment are none."""

    @property
    def begun(self) -> bool:
        """Whether the first episodes were begun."""
        return self._started is not None

    def begin(self, environments: VectorEnvironment) -> None:
        """Begin the first episodes, on seeds that follow from the run's."""
        self._started = time.perf_counter()
        environments.reset(
            [
                derive_seed(self._context.seed, "environment", index)
                for index in range(environments.count)
            ]
        )

    def count(self, step: VectorStep) -> None:
        """The environments have taken a step."""
        self.env_steps += step.valid.tolist().count(True)
        for episode in step.episodes:
            self._window.add(episode_return=episode.episode_return, length=episode.length)

    def report(self, values: Mapping[str, float] | None = None) -> None:
        """Write what there is to tell, with other `values` beside it."""
        assert self._started is not None
        elapsed = time.perf_counter() - self._started
        self._context.metrics.write(
            env_steps=self.env_steps,
            values=self._window.values()
            | {
                names.FPS: self.env_steps / elapsed,
                names.TIME_ELAPSED: elapsed,
                names.TOTAL_TIMESTEPS: self.env_steps,
            }
            | dict(values or {}),
        )
