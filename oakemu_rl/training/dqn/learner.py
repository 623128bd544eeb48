"""The DQN learner: draws from the replay, and drives the updates of model and target."""

import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.minibatches import DQNLearnerRuntimeState, SkipCause
from oakemu_rl.core.schedules import Schedule
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.core.throttle import may_learn
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.metrics import names
from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.models.flat import FlatAdam, FlatParameters
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.dqn.update import DQNUpdate, DQNUpdater, on_device
from oakemu_rl.training.shaping import RewardShapingPipeline, RewardWindows
from oakemu_rl.training.update_ledger import UpdateLedger

REPORT_UPDATES = 100
"""Updates from one report to the next."""
POLL_SECONDS = 0.0005
"""From one look for new steps to the next, where no update is due."""


class Learner:
    """Updates the DQN model using transitions from the replay buffer.

    Args:
        context: the shared runtime context.
        learner_model: the model container, with its lock.
        target_model: the target DQN model; takes the model's weights at once.
        replay_buffer: the experience replay buffer.
        optimizer: the optimizer of the model's parameters.
        lr_schedule: the learning rate over environment steps.
        action_masker: restricts the next actions in targets to those that the actor can take.
        reward_shaping: a reward-shaping pipeline of the learner's own, or None.
    """

    def __init__(
        self,
        context: RuntimeContext[DQNExperimentConfiguration],
        learner_model: ThreadSafeModel[DQNModel],
        target_model: DQNModel,
        replay_buffer: ReplayBuffer,
        optimizer: torch.optim.Optimizer,
        lr_schedule: Schedule,
        action_masker: ActionMasker | None = None,
        reward_shaping: RewardShapingPipeline | None = None,
    ) -> None:
        self._context = context
        self._config = context.config
        self._model = learner_model
        self._target_model = target_model
        self._weights = (
            optimizer.parameters
            if isinstance(optimizer, FlatAdam)
            else FlatParameters(learner_model.model)
        )
        self._target_weights = FlatParameters(target_model)
        self._target_weights.copy_from(self._weights)
        self._replay = replay_buffer
        self._optimizer = optimizer
        self._lr_schedule = lr_schedule
        self._masker = action_masker
        self._shaping = reward_shaping
        self.scaler = torch.amp.GradScaler(
            context.device.type, enabled=self._config.optimisation.precision == "float16"
        )
        self.generator = np.random.default_rng(derive_seed(context.seed, "replay"))
        self.noise = torch.Generator().manual_seed(derive_seed(context.seed, "learner's noise"))
        static = None if action_masker is None else action_masker.static_mask
        self._updater = DQNUpdater(
            self._config,
            optimizer,
            context.device,
            self.scaler,
            None if static is None else static.to(context.device),
        )
        self._ledger = UpdateLedger(
            events=context.events, max_bad_updates=self._config.optimisation.max_bad_updates
        )
        self._state = DQNLearnerRuntimeState()
        self._refused_priorities = 0
        self._outside_support = 0

    @property
    def action_masker(self) -> ActionMasker | None:
        """The action masker."""
        return self._masker

    @property
    def config(self) -> DQNExperimentConfiguration:
        """The experiment's configuration."""
        return self._config

    @property
    def iterations(self) -> int:
        """The number of learner iterations: optimizer steps that were taken."""
        return self._state.iterations

    @property
    def replay_buffer(self) -> ReplayBuffer:
        """The replay buffer."""
        return self._replay

    @property
    def target_updates(self) -> int:
        """The number of target model updates."""
        return self._state.target_updates

    @property
    def total_skipped_updates(self) -> int:
        """Priorities left as they were because the sampled step had been overwritten."""
        return self._state.total_skipped_updates

    @property
    def runtime_state(self) -> DQNLearnerRuntimeState:
        """The counters, as a checkpoint holds them."""
        return self._state

    @property
    def skipped_updates(self) -> int:
        """Updates left out because the loss or the gradient was not finite."""
        return self._ledger.skipped_updates

    @property
    def refused_priorities(self) -> int:
        """Priorities left as they were because the error was not finite."""
        return self._refused_priorities

    @property
    def outside_support(self) -> int:
        """Rows whose target left the support of a categorical model."""
        return self._outside_support

    def replace_replay_buffer(self, replay_buffer: ReplayBuffer) -> None:
        """Replace the replay buffer used for sampling, from the next step on."""
        self._replay = replay_buffer

    def restore_state(self, state: DQNLearnerRuntimeState) -> None:
        """Restore checkpointed learner counters."""
        self._state = state

    def run(
        self,
        stop_event: threading.Event,
        current_step: Callable[[], int],
        policy: CheckpointPolicy,
    ) -> None:
        """Main loop: perform learning steps as they fall due, and let the policy act.

        The policy notifies the tester on target updates and saves periodically, each at most once
        an environment step and after all updates that fall due with it: no two checkpoints then
        share a step. Its final checkpoint is written when the loop ends, because of `stop_event` or
        because all environment steps of the run are taken and no update is due any more.

        `current_step` may itself take the next environment step: that is how one thread runs actor
        and learner in lockstep.
        """
        last_step = -1
        while not stop_event.is_set():
            beat()
            env_steps = current_step()
            target_updates = self.target_updates
            while not stop_event.is_set() and self.step(env_steps):
                beat()
            if self.target_updates != target_updates:
                policy.notify(env_steps=env_steps)
            policy.save_if_due(env_steps=env_steps)
            if env_steps >= self._config.run.total_steps:
                break
            if env_steps == last_step:
                stop_event.wait(POLL_SECONDS)
            last_step = env_steps
        policy.finish(env_steps=current_step())

    def step(self, env_steps: int) -> bool:
        """Perform a single learning step.

        Args:
            env_steps: environment steps performed across all actors.

        Returns:
            True if a learning step was performed, False if throttled or not enough data.
        """
        replay, options = self._replay, self._config.optimisation
        if not may_learn(
            env_steps=env_steps,
            updates=self.iterations,
            warm_up_steps=self._config.replay.warm_up_steps,
            steps_per_update=options.steps_per_update,
            available=len(replay),
            batch_size=options.batch_size,
        ):
            return False
        sampled = replay.sample(options.batch_size, generator=self.generator)
        learning_rate = self._lr_schedule.value(env_steps)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        update = self._update(on_device(sampled, self._context.device), env_steps)
        if replay.is_prioritised:
            self._prioritise(replay, sampled, update.errors)
        self._count(update, env_steps)
        if self.iterations % REPORT_UPDATES == 0 and update.cause is SkipCause.NONE:
            self._report(update, env_steps=env_steps, learning_rate=learning_rate)
        return True

    def _update(self, batch: TransitionBatch, env_steps: int) -> DQNUpdate:
        rewards = self._rewards(batch)
        with self._model.updating() as model:
            if model.is_noisy:
                model.resample_noise(self.noise)
                self._target_model.resample_noise(self.noise)
            if model.keeps_statistics:
                model.update_statistics(batch.observations)
            update = self._updater.update(
                batch,
                rewards=rewards,
                model=model,
                target_model=self._target_model,
                beta=self._config.replay.importance_exponent.value(env_steps),
            )
            self._model.advance()
        return update

    def _rewards(self, batch: TransitionBatch) -> Tensor:
        if self._shaping is None:
            return batch.rewards
        return self._shaping.shape(
            RewardWindows(
                rewards=batch.rewards,
                lengths=batch.lengths,
                terminated=batch.terminated,
                values=batch.values,
                gamma=self._config.replay.gamma,
            )
        )

    def _prioritise(self, replay: ReplayBuffer, sampled: TransitionBatch, errors: Tensor) -> None:
        result = replay.update_priorities(
            sampled.indices.numpy(), sampled.serials.numpy(), errors.cpu().numpy()
        )
        self._refused_priorities += result.refused
        self._state = DQNLearnerRuntimeState(
            iterations=self._state.iterations,
            target_updates=self._state.target_updates,
            total_skipped_updates=self._state.total_skipped_updates + result.skipped,
        )

    def _count(self, update: DQNUpdate, env_steps: int) -> None:
        """Count the update and, if it was taken, let the target follow when it is due."""
        name = f"update {self.iterations + 1}"
        self._ledger.add(update.cause, env_steps=env_steps, update=name)
        if update.outside_support is not None:
            self._note_support(int(update.outside_support), env_steps)
        if update.cause is not SkipCause.NONE:
            return
        iterations, target_updates = self.iterations + 1, self.target_updates
        options = self._config.optimisation
        if iterations % options.target_update_every == 0:
            self._follow(options.target_update_rate)
            target_updates += 1
        self._state = DQNLearnerRuntimeState(
            iterations=iterations,
            target_updates=target_updates,
            total_skipped_updates=self.total_skipped_updates,
        )

    def _follow(self, rate: float) -> None:
        if rate == 1.0:
            self._target_weights.copy_from(self._weights)
        else:
            self._target_weights.mix_from(self._weights, rate=rate)

    def _note_support(self, rows: int, env_steps: int) -> None:
        if rows and not self._outside_support:
            support = self._config.model
            self._context.events.record(
                "warning",
                env_steps=env_steps,
                text=(
                    "returns leave the support of their distribution, "
                    f"model.value_min {support.value_min:g} to model.value_max "
                    f"{support.value_max:g}: widen it if {names.OUTSIDE_SUPPORT} goes on growing"
                ),
            )
        self._outside_support += rows

    def _report(self, update: DQNUpdate, *, env_steps: int, learning_rate: float) -> None:
        measured = update.metrics()
        values = {
            names.LOSS: measured.loss,
            names.GRADIENT_NORM: measured.gradient_norm,
            names.Q_MEAN: measured.mean_q,
            names.TARGET_MEAN: measured.target_mean,
            names.ERROR_MEAN: measured.td_error_mean,
            names.ERROR_MAX: measured.td_error_max,
            names.RAW_RETURN_MEAN: measured.raw_return_mean,
            names.SHAPED_RETURN_MEAN: measured.shaped_return_mean,
            names.LEARNING_RATE: learning_rate,
            names.UPDATES: self.iterations,
            names.TARGET_UPDATES: self.target_updates,
            names.SKIPPED_UPDATES: self.skipped_updates,
            names.SCALER_BACKOFFS: self._ledger.scaler_backoffs,
        }
        if update.weights is not None:
            values[names.IMPORTANCE_WEIGHT_MEAN] = measured.weight_mean
            values[names.SKIPPED_PRIORITIES] = self.total_skipped_updates
            values[names.REFUSED_PRIORITIES] = self.refused_priorities
        if update.outside_support is not None:
            values[names.OUTSIDE_SUPPORT] = self.outside_support
        self._context.metrics.write(env_steps=env_steps, values=values)
