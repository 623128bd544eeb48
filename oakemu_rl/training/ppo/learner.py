"""The PPO learner: consumes rollouts, and drives the updates of the model."""

import threading
from collections.abc import Callable

import torch
from torch import Tensor

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.cadence import is_stale
from oakemu_rl.core.minibatches import PPOLearnerRuntimeState, PPOMinibatchMetrics
from oakemu_rl.core.ports import BCSampler
from oakemu_rl.core.schedules import Schedule
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.core.total_loss import mean_metrics
from oakemu_rl.core.weighting import LossWeights, Phase, learning_phase, loss_weights
from oakemu_rl.metrics import names
from oakemu_rl.models.ppo import PPOModel
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.ppo.minibatch_update import PPOMinibatchUpdater
from oakemu_rl.training.ppo.update_plan import CalibrateValues, PlannedUpdate, UpdatePlan
from oakemu_rl.training.progress import SETTLE_SECONDS
from oakemu_rl.training.update_ledger import UpdateLedger


class PPOLearner:
    """Performs clipped policy gradient updates on completed rollouts of the `RolloutBuffer`.

    Args:
        context: the shared runtime context.
        learner_model: the model container, with its lock.
        rollout_buffer: the buffer whose selected slot is learned from.
        optimizer: the optimizer of the model's parameters.
        lr_schedule: the learning rate over environment steps.
        action_mask: [A] bool on the learner's device, legal in every state, or None.
        bc_sampler: a source of demonstrated rows of the learner's own, or None.
    """

    def __init__(
        self,
        context: RuntimeContext[PPOExperimentConfiguration],
        learner_model: ThreadSafeModel[PPOModel],
        rollout_buffer: RolloutBuffer,
        optimizer: torch.optim.Optimizer,
        lr_schedule: Schedule,
        action_mask: Tensor | None = None,
        bc_sampler: BCSampler | None = None,
    ) -> None:
        self._context = context
        self._config = context.config
        self._model = learner_model
        self._buffer = rollout_buffer
        self._optimizer = optimizer
        self._lr_schedule = lr_schedule
        self.scaler = torch.amp.GradScaler(
            context.device.type, enabled=self._config.optimisation.precision == "float16"
        )
        self.generator = torch.Generator().manual_seed(derive_seed(context.seed, "learner"))
        self._updater = PPOMinibatchUpdater(
            self._config, optimizer, context.device, self.scaler, action_mask
        )
        self._plan = UpdatePlan(
            config=self._config,
            buffer=rollout_buffer,
            sampler=bc_sampler,
            generator=self.generator,
        )
        self._ledger = UpdateLedger(
            events=context.events, max_bad_updates=self._config.optimisation.max_bad_updates
        )
        self._state = PPOLearnerRuntimeState()
        self._dropped_rollouts = 0
        self._staleness = 0

    @property
    def iterations(self) -> int:
        """The total number of learner iterations: optimizer steps that were taken."""
        return self._state.iterations

    @property
    def rollouts_collected(self) -> int:
        """The total number of rollouts that were consumed."""
        return self._state.rollouts_collected

    @property
    def runtime_state(self) -> PPOLearnerRuntimeState:
        """The counters, as a checkpoint holds them."""
        return self._state

    @property
    def skipped_updates(self) -> int:
        """Updates left out because the loss or the gradient was not finite."""
        return self._ledger.skipped_updates

    @property
    def scaler_backoffs(self) -> int:
        """Updates left out because the gradient scaler lowered its scale."""
        return self._ledger.scaler_backoffs

    @property
    def dropped_rollouts(self) -> int:
        """Rollouts left out because their policy was too old."""
        return self._dropped_rollouts

    def restore_state(self, state: PPOLearnerRuntimeState) -> None:
        """Restore checkpointed learner counters."""
        self._state = state

    def run(
        self,
        stop_event: threading.Event,
        current_step: Callable[[], int],
        rollout_handshake: RolloutHandshake,
        policy: CheckpointPolicy,
    ) -> None:
        """Main loop: wait for a published rollout, update, and let the policy act.

        The policy notifies the tester and saves periodically; its final checkpoint is written when
        the loop ends, because of `stop_event` or because the handshake was closed and drained, and
        the actor has come to rest.

        An update counts as made at the step at which its rollout was full, whatever the actor has
        taken since: no two updates then share a step, nor a checkpoint.
        """
        while (slot := rollout_handshake.wait_for_rollout(stop_event)) is not None:
            try:
                self._buffer.select(slot)
                env_steps = self._buffer.env_steps
                self._consume(env_steps)
            finally:
                rollout_handshake.release(slot)
            policy.after_update(env_steps=env_steps)
        rollout_handshake.settle(seconds=SETTLE_SECONDS)
        policy.finish(env_steps=current_step())

    def step(self, actor_steps: int) -> None:
        """Perform a full update on the current rollout buffer contents.

        Runs `ppo_epochs` epochs where on-policy rows are present, and one epoch over a rollout that
        holds replayed rows alone, so that the bootstrap is not multiplied by the epoch count. In
        the bootstrap phase on-policy rows calibrate the value head and nothing else.
        """
        phase = learning_phase(
            step=actor_steps, bootstrap_steps=self._config.cloning.bootstrap_steps
        )
        weights = loss_weights(self._config, step=actor_steps, phase=phase)
        learning_rate = self._lr_schedule.value(actor_steps)
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate
        measured = self._update_all(phase, weights, actor_steps)
        with self._model.updating() as model:
            if model.keeps_statistics and self._buffer.valid_rows > 0:
                model.update_statistics(self._buffer.observations())
            self._model.publish()
        taken = sum(not each.skipped for each in measured)
        self._state = PPOLearnerRuntimeState(
            iterations=self._state.iterations + taken,
            rollouts_collected=self._state.rollouts_collected + 1,
        )
        self._report(measured, learning_rate=learning_rate, env_steps=actor_steps)

    def _update_all(
        self, phase: Phase, weights: LossWeights, env_steps: int
    ) -> list[PPOMinibatchMetrics]:
        measured: list[PPOMinibatchMetrics] = []
        target_kl = self._config.optimisation.target_kl
        for update in self._plan.updates(phase=phase, cloning_weight=weights.behaviour_cloning):
            beat()
            metrics = self._update(update, weights)
            measured.append(metrics)
            name = f"minibatch {len(measured)} of rollout {self.rollouts_collected + 1}"
            self._ledger.add(metrics.skip_cause, env_steps=env_steps, update=name)
            if target_kl is not None and metrics.approx_kl > target_kl:
                break
            if self._context.stop_event.is_set():
                break
        return measured

    def _update(self, update: PlannedUpdate, weights: LossWeights) -> PPOMinibatchMetrics:
        with self._model.updating() as model:
            if isinstance(update, CalibrateValues):
                return self._updater.update_value_head(update.minibatch, model)
            return self._updater.update_minibatch(
                update.on_policy, update.demonstrated, model, weights
            )

    def _report(
        self, measured: list[PPOMinibatchMetrics], *, learning_rate: float, env_steps: int
    ) -> None:
        mean = mean_metrics(measured)
        values = {
            names.LOSS: mean.total_loss,
            names.POLICY_LOSS: mean.policy_loss,
            names.VALUE_LOSS: mean.value_loss,
            names.ENTROPY_LOSS: -mean.entropy,
            names.APPROX_KL: mean.approx_kl,
            names.CLIP_FRACTION: mean.clip_fraction,
            names.EXPLAINED_VARIANCE: mean.explained_variance,
            names.GRADIENT_NORM: mean.gradient_norm,
            names.CLIP_RANGE: self._config.loss.clip_range,
            names.LEARNING_RATE: learning_rate,
            names.UPDATES: self.iterations,
            names.SKIPPED_UPDATES: self.skipped_updates,
            names.SCALER_BACKOFFS: self.scaler_backoffs,
            names.ITERATIONS: self.rollouts_collected,
            names.STALENESS: self._staleness,
            names.DROPPED_ROLLOUTS: self.dropped_rollouts,
        }
        if mean.behaviour_cloning_loss != 0.0:
            values[names.BEHAVIOUR_CLONING_LOSS] = mean.behaviour_cloning_loss
            values[names.BEHAVIOUR_CLONING_ACCURACY] = mean.behaviour_cloning_accuracy
        self._context.metrics.write(env_steps=env_steps, values=values)

    def _consume(self, actor_steps: int) -> None:
        lag = self._model.version - self._buffer.version
        if is_stale(
            rollout_version=self._buffer.version,
            learner_version=self._model.version,
            max_staleness=self._config.rollout.max_staleness,
        ):
            self._dropped_rollouts += 1
            self._context.events.record(
                "rollout_dropped",
                env_steps=actor_steps,
                versions_behind=lag,
                allowed=self._config.rollout.max_staleness,
            )
            return
        self._staleness = lag
        self.step(actor_steps)
