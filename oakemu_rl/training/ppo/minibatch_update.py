"""One PPO update on one minibatch. The mathematics is in the core; here it is put in order."""

import torch
from torch import Tensor

from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.advantages import normalize_advantages
from oakemu_rl.core.behaviour_cloning import behaviour_cloning_accuracy, behaviour_cloning_loss
from oakemu_rl.core.masks import action_log_probs, combine_masks, masked_entropy, masked_log_probs
from oakemu_rl.core.minibatches import (
    BehaviorCloningMinibatch,
    PPOMinibatchMetrics,
    RolloutMinibatch,
    SkipCause,
)
from oakemu_rl.core.observations import map_observations
from oakemu_rl.core.ppo_loss import clipped_policy_loss, explained_variance, value_loss
from oakemu_rl.core.total_loss import total_loss
from oakemu_rl.core.weighting import LossWeights
from oakemu_rl.models.ppo import PPOModel
from oakemu_rl.training.guarded_step import GuardedStep
from oakemu_rl.training.precisions import PRECISIONS

Terms = dict[str, Tensor]


class PPOMinibatchUpdater:
    """Performs one PPO minibatch update: PPO loss, behaviour-cloning loss, and optimizer step.

    Args:
        config: the experiment's configuration; `loss`, `optimisation` and `cloning` act here.
        optimizer: the learner's optimizer.
        device: the learner's device.
        scaler: the mixed-precision gradient scaler; a disabled one for other precisions.
        action_mask: [A] bool, legal in every state, or None.
    """

    def __init__(
        self,
        config: PPOExperimentConfiguration,
        optimizer: torch.optim.Optimizer,
        device: torch.device,
        scaler: torch.amp.GradScaler,
        action_mask: Tensor | None = None,
    ) -> None:
        self._config = config
        self._device = device
        self._action_mask = action_mask
        self._precision = PRECISIONS[config.optimisation.precision]
        self._step = GuardedStep(
            optimizer=optimizer,
            scaler=scaler,
            max_gradient_norm=config.optimisation.max_gradient_norm,
        )

    def update_minibatch(
        self,
        ppo_minibatch: RolloutMinibatch | None,
        bc_minibatch: BehaviorCloningMinibatch | None,
        model: PPOModel,
        weights: LossWeights,
    ) -> PPOMinibatchMetrics:
        """Perform a single update on either minibatch or on both.

        Raises:
            ValueError: both minibatches are None, or a demonstrated action is illegal.
        """
        if ppo_minibatch is None and bc_minibatch is None:
            raise ValueError("ppo_minibatch and bc_minibatch are both None: nothing to learn from")
        zero = torch.zeros((), device=self._device)
        terms: Terms = dict.fromkeys(
            ("policy_loss", "value_loss", "entropy", "behaviour_cloning_loss"), zero
        )
        if ppo_minibatch is not None:
            terms |= self._ppo_terms(ppo_minibatch, model)
        if bc_minibatch is not None:
            terms |= self._cloning_terms(self._on_device(bc_minibatch), model)
        loss = total_loss(
            weights=weights,
            policy_loss=terms["policy_loss"],
            value_loss=terms["value_loss"],
            entropy=terms["entropy"],
            behaviour_cloning_loss=terms["behaviour_cloning_loss"],
        )
        return self._descend(loss, terms)

    def update_value_head(
        self, ppo_minibatch: RolloutMinibatch, model: PPOModel
    ) -> PPOMinibatchMetrics:
        """Take one optimizer step on the value head alone, on detached features of the trunk.

        Trunk and policy head get no gradient at all, so that they and their moments in the
        optimizer stay bit for bit as they were. The policy-side metrics are zero.
        """
        with self._autocast():
            values = model.calibration_values(ppo_minibatch.observations)
        loss = value_loss(values=values, returns=ppo_minibatch.returns)
        return self._descend(
            loss, {"value_loss": loss, "explained_variance": _explained(values, ppo_minibatch)}
        )

    def _ppo_terms(self, minibatch: RolloutMinibatch, model: PPOModel) -> Terms:
        with self._autocast():
            output = model(minibatch.observations)
        mask = combine_masks(self._action_mask, minibatch.action_masks)
        log_probs = masked_log_probs(logits=output.logits, mask=mask)
        advantages = minibatch.advantages
        if self._config.optimisation.normalize_advantages:
            advantages = normalize_advantages(advantages)
        policy = clipped_policy_loss(
            log_probs=action_log_probs(log_probs=log_probs, actions=minibatch.actions),
            old_log_probs=minibatch.log_probs,
            advantages=advantages,
            clip_range=self._config.loss.clip_range,
        )
        clip_range = self._config.loss.value_clip_range
        return {
            "policy_loss": policy.loss,
            "approx_kl": policy.approx_kl,
            "clip_fraction": policy.clip_fraction,
            "entropy": masked_entropy(logits=output.logits, mask=mask).mean(),
            "value_loss": value_loss(
                values=output.values,
                returns=minibatch.returns,
                old_values=None if clip_range is None else minibatch.values,
                clip_range=clip_range,
            ),
            "explained_variance": _explained(output.values, minibatch),
        }

    def _cloning_terms(self, minibatch: BehaviorCloningMinibatch, model: PPOModel) -> Terms:
        with self._autocast():
            logits = model(minibatch.observations).logits
        mask = combine_masks(self._action_mask, minibatch.action_masks)
        return {
            "behaviour_cloning_loss": behaviour_cloning_loss(
                logits=logits,
                actions=minibatch.actions,
                mask=mask,
                weights=minibatch.weights,
                label_smoothing=self._config.cloning.label_smoothing,
            ),
            "behaviour_cloning_accuracy": behaviour_cloning_accuracy(
                logits=logits, actions=minibatch.actions, mask=mask
            ),
        }

    def _on_device(self, minibatch: BehaviorCloningMinibatch) -> BehaviorCloningMinibatch:
        """The rows on the learner's device; a sampler may keep its own elsewhere."""

        def moved(tensor: Tensor) -> Tensor:
            return tensor.to(self._device)

        weights, masks = minibatch.weights, minibatch.action_masks
        return BehaviorCloningMinibatch(
            observations=map_observations(moved, minibatch.observations),
            actions=moved(minibatch.actions),
            weights=None if weights is None else moved(weights),
            action_masks=None if masks is None else moved(masks),
        )

    def _descend(self, loss: Tensor, terms: Terms) -> PPOMinibatchMetrics:
        names = list(terms)
        # One transfer for all numbers: each read of a tensor makes the host wait for an
        # accelerator.
        numbers = torch.stack([loss.detach(), *(terms[name].detach() for name in names)]).tolist()
        outcome = self._step.take(loss, loss_value=numbers[0])
        return PPOMinibatchMetrics(
            total_loss=numbers[0],
            gradient_norm=outcome.gradient_norm,
            skipped=outcome.cause is not SkipCause.NONE,
            skip_cause=outcome.cause,
            **dict(zip(names, numbers[1:], strict=True)),
        )

    def _autocast(self) -> torch.autocast:
        return torch.autocast(
            self._device.type,
            dtype=self._precision,
            enabled=self._precision is not torch.float32,
        )


def _explained(values: Tensor, minibatch: RolloutMinibatch) -> Tensor:
    return explained_variance(values=values.detach(), returns=minibatch.returns)
