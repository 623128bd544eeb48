"""The PPO actor: plays the environments with a snapshot of the model, and fills rollouts."""

import torch
from torch import Tensor

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.buffers.slots import RolloutStep
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.masks import action_log_probs, masked_log_probs, sample_actions
from oakemu_rl.core.observations import map_observations
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.spaces import Batch
from oakemu_rl.envs.vector import VectorEnvironment, VectorStep
from oakemu_rl.models.ppo import PPOModel
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.batches import mask_batch, observation_batch
from oakemu_rl.training.progress import ActorProgress


class PPOActor:
    """Collects one rollout after the other until `run.total_steps` environment steps are taken.

    Every row of a rollout comes from the one version of the model that was newest when the rollout
    began.
    """

    def __init__(
        self,
        *,
        context: RuntimeContext[PPOExperimentConfiguration],
        environments: VectorEnvironment,
        model: PPOModel,
        learner_model: ThreadSafeModel[PPOModel],
        rollout_buffer: RolloutBuffer,
        action_masker: ActionMasker,
    ) -> None:
        self._context = context
        self._options = context.config.rollout
        self._environments = environments
        self._model = model
        self._learner_model = learner_model
        self._buffer = rollout_buffer
        self._masker = action_masker
        self._progress = ActorProgress(context)
        self.generator = torch.Generator(context.device).manual_seed(
            derive_seed(context.seed, "actor")
        )

    @property
    def env_steps(self) -> int:
        """Environment steps taken so far; the resets of a vector environment are none."""
        return self._progress.env_steps

    def run(self, handshake: RolloutHandshake) -> None:
        """Produce rollouts until there are enough or the run stops."""
        while not (handshake.closed or self._context.stop_event.is_set()):
            self.produce(handshake)

    def produce(self, handshake: RolloutHandshake) -> None:
        """Collect and publish one rollout; close the handshake when it was the last."""
        slot = handshake.begin_filling(self._context.stop_event)
        if slot is None:
            return
        if not self._collect(slot):
            handshake.abandon(slot)
            return
        handshake.publish(slot)
        self._progress.report()
        if self.env_steps >= self._context.config.run.total_steps:
            handshake.close()

    def _collect(self, slot: int) -> bool:
        """Fill the slot; False if the run was stopped before it was full."""
        if not self._progress.begun:
            self._progress.begin(self._environments)
        snapshot = self._learner_model.snapshot()
        snapshot.copy_to(self._model)
        self._buffer.begin(slot, version=snapshot.version)
        for _ in range(self._buffer.steps):
            if self._context.stop_event.is_set():
                return False
            beat()
            self._buffer.write(slot, self._step())
        self._buffer.finalise(
            slot,
            last_values=self._values(self._environments.observations),
            gamma=self._options.gamma,
            gae_lambda=self._options.gae_lambda,
            env_steps=self.env_steps,
        )
        return True

    @torch.inference_mode()
    def _step(self) -> RolloutStep:
        count = self._environments.count
        observations = observation_batch(self._environments.observations, self._context.device)
        masks = self._masker.masks(self._environments.action_masks, rows=count)
        mask = mask_batch(masks, self._context.device)
        output = self._model(observations)
        actions = sample_actions(logits=output.logits, mask=mask, generator=self.generator)
        log_probs = action_log_probs(
            log_probs=masked_log_probs(logits=output.logits, mask=mask), actions=actions
        )
        result = self._environments.step(actions.cpu().numpy())
        self._progress.count(result)
        return RolloutStep(
            observations=map_observations(Tensor.cpu, observations),
            actions=actions.cpu(),
            log_probs=log_probs.cpu(),
            values=output.values.cpu(),
            final_values=self._final_values(result),
            rewards=torch.from_numpy(result.rewards),
            terminated=torch.from_numpy(result.terminated),
            truncated=torch.from_numpy(result.truncated),
            valid=torch.from_numpy(result.valid),
            action_masks=masks,
        )

    def _final_values(self, result: VectorStep) -> Tensor:
        """The values of the observations in which a time limit cut an episode, 0 elsewhere."""
        values = torch.zeros(self._environments.count)
        cut = result.truncated & ~result.terminated
        if cut.any():
            values[torch.from_numpy(cut)] = self._values(result.next_observations)[cut]
        return values

    @torch.inference_mode()
    def _values(self, observations: Batch) -> Tensor:
        values: Tensor = self._model(observation_batch(observations, self._context.device)).values
        return values.cpu()
