"""The DQN actor: plays the environments, and writes what happens into the replay."""

import threading
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.exploration import epsilon_greedy_choices, legal_actions
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.core.throttle import may_act
from oakemu_rl.envs.spaces import Array
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.metrics import names
from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.models.quick_forward import quick_forward
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.batches import mask_batch, observation_batch
from oakemu_rl.training.progress import ActorProgress

REPORT_STEPS = 500
"""Environment steps from one report to the next."""
POLL_SECONDS = 0.002
"""From one look at a learner that is behind to the next."""


class DQNActor:
    """Takes steps until `run.total_steps` are taken, epsilon-greedily and over legal actions alone.

    Args:
        context: the shared runtime context.
        environments: what is played.
        model: acts; either a model of the actor's own, into which the newest weights are copied
            before each step, or the learner's model itself where both run in one thread.
        learner_model: the model that learns.
        replay: gives the buffer to write into, which may be another one from some step on.
        updates: gives the updates made so far: an actor that is too far ahead of them waits.
        action_masker: the legal actions.
    """

    def __init__(
        self,
        *,
        context: RuntimeContext[DQNExperimentConfiguration],
        environments: VectorEnvironment,
        model: DQNModel,
        learner_model: ThreadSafeModel[DQNModel],
        replay: Callable[[], ReplayBuffer],
        updates: Callable[[], int],
        action_masker: ActionMasker,
    ) -> None:
        self._context = context
        self._config = context.config
        self._environments = environments
        self._model = model
        self._learner_model = learner_model
        self._replay = replay
        self._updates = updates
        self._masker = action_masker
        self._quick_forward = quick_forward(model, rows=environments.count)
        self._progress = ActorProgress(context)
        self._moving = threading.Lock()
        self._version: int | None = None
        self._written: ReplayBuffer | None = None
        self._recorded = np.zeros(environments.count, dtype=np.bool_)
        self.generator = np.random.default_rng(derive_seed(context.seed, "actor"))
        self.noise = torch.Generator().manual_seed(derive_seed(context.seed, "actor's noise"))

    @property
    def env_steps(self) -> int:
        """Environment steps taken so far."""
        return self._progress.env_steps

    @property
    def finished(self) -> bool:
        """Whether all steps of the run are taken."""
        return self.env_steps >= self._config.run.total_steps

    def run(self) -> None:
        """Take steps until there are enough or the run stops, in a thread beside the learner's."""
        stop_event = self._context.stop_event
        while not (self.finished or stop_event.is_set()):
            beat()
            if self.is_ahead():
                stop_event.wait(POLL_SECONDS)
                continue
            with self._moving:
                # Looked at under the lock, so that who waits in `settle` sees the last step.
                if not stop_event.is_set():
                    self.step()

    def settle(self, *, seconds: float) -> None:
        """Wait, at most so long, for the step that is being taken."""
        if self._moving.acquire(timeout=seconds):
            self._moving.release()

    def is_ahead(self) -> bool:
        """Whether the learner is so far behind that the next step has to wait."""
        replay = self._replay()
        return not may_act(
            env_steps=self.env_steps,
            updates=self._updates(),
            warm_up_steps=self._config.replay.warm_up_steps,
            steps_per_update=self._config.optimisation.steps_per_update,
            available=len(replay),
            batch_size=self._config.optimisation.batch_size,
            max_lag=self._config.optimisation.max_lag_updates,
        )

    def step(self) -> None:
        """Take one step in each environment and write it down."""
        environments, progress = self._environments, self._progress
        if not progress.begun:
            progress.begin(environments)
            self._recorded[:] = True
            self._written = self._replay()
            self._begin(self._written, None)
        replay = self._buffer()
        before = progress.env_steps
        epsilon = self._config.exploration.epsilon.value(before)
        actions = self._actions(epsilon)
        result = environments.step(actions)
        progress.count(result)
        replay.add(
            ReplayStep(
                actions=actions,
                rewards=result.rewards,
                terminated=result.terminated,
                truncated=result.truncated,
                valid=result.valid & self._recorded,
                next_observations=result.next_observations,
                next_action_masks=result.next_action_masks,
                next_values=result.next_values,
            )
        )
        if True in result.began.tolist():
            self._recorded |= result.began
            self._begin(replay, result.began)
        after = progress.env_steps
        if before // REPORT_STEPS != after // REPORT_STEPS or self.finished:
            progress.report(
                {names.EXPLORATION_RATE: epsilon, names.REPLAY_SIZE: float(len(replay))}
            )

    def _buffer(self) -> ReplayBuffer:
        """The buffer to write into; one that is new takes up each environment at its next episode,
        since the history of the present one lies in the buffer before."""
        replay = self._replay()
        if replay is not self._written:
            self._written = replay
            self._recorded[:] = False
        return replay

    def _begin(self, replay: ReplayBuffer, rows: Array | None) -> None:
        replay.begin(
            rows=rows,
            observations=self._environments.observations,
            action_masks=self._environments.action_masks,
            values=self._environments.values_now,
        )

    def _actions(self, epsilon: float) -> Array:
        count = self._environments.count
        mask = self._masker.masks(self._environments.action_masks, rows=count)
        if self._model is not self._learner_model.model:
            self._version = self._learner_model.refresh(self._model, known=self._version)
        if self._model.is_noisy:
            self._model.resample_noise(self.noise)
        draws = self.generator.random((count, 1 + self._environments.action_spec.count))
        chosen = epsilon_greedy_choices(
            q_values=partial(self._q_values, mask),
            draws=draws.tolist(),
            legal=None if mask is None else legal_actions(mask),
            epsilon=epsilon,
        )
        return np.array(chosen)

    def _q_values(self, mask: Tensor | None) -> list[list[float]]:
        observations = self._environments.observations
        if self._quick_forward is not None:
            quick: list[list[float]] = self._quick_forward(observations).tolist()
            return quick
        device = self._context.device
        with torch.inference_mode():
            values = self._model(observation_batch(observations, device), mask_batch(mask, device))
            q_values: list[list[float]] = values.tolist()
            return q_values
