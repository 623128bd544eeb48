"""One DQN update on one sampled batch. The mathematics is in the core; here it is put in order."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import attrs
import torch
from torch import Tensor

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.categorical import (
    atoms_of_actions,
    categorical_loss,
    categorical_projection,
    expected_values,
    rows_outside_support,
)
from oakemu_rl.core.masks import combine_masks
from oakemu_rl.core.minibatches import DQNUpdateMetrics, SkipCause
from oakemu_rl.core.n_step import NStep, window_returns
from oakemu_rl.core.prioritisation import importance_weights
from oakemu_rl.core.q_loss import huber_loss, squared_loss, td_errors, weighted_mean
from oakemu_rl.core.q_targets import next_actions, target_q_values
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.training.guarded_step import GuardedStep
from oakemu_rl.training.precisions import PRECISIONS

HOST_FIELDS = ("indices", "serials", "probabilities")
"""What goes back to the buffer, or is made into weights, in the host's memory."""


@attrs.frozen(kw_only=True, eq=False)
class DQNUpdate:
    """What one update did; tensors are detached, [B] each.

    `errors` are what priorities are made from: temporal-difference errors, or the cross-entropies
    of a categorical model. `outside_support` counts rows of a categorical model whose target left
    the support.
    """

    cause: SkipCause
    loss: float
    gradient_norm: float
    errors: Tensor
    chosen_q: Tensor
    targets: Tensor
    raw_returns: Tensor
    returns: Tensor
    weights: Tensor | None
    outside_support: Tensor | None

    def metrics(self) -> DQNUpdateMetrics:
        """The numbers to be logged; each costs some time, so they are made when asked for."""
        magnitudes = self.errors.abs()
        outside = self.outside_support
        return DQNUpdateMetrics(
            loss=self.loss,
            gradient_norm=self.gradient_norm,
            mean_q=float(self.chosen_q.mean()),
            target_mean=float(self.targets.mean()),
            td_error_mean=float(magnitudes.mean()),
            td_error_max=float(magnitudes.max()),
            raw_return_mean=float(self.raw_returns.mean()),
            shaped_return_mean=float(self.returns.mean()),
            weight_mean=1.0 if self.weights is None else float(self.weights.mean()),
            outside_support=0 if outside is None else int(outside),
            skipped=self.cause is not SkipCause.NONE,
            skip_cause=self.cause,
        )


@attrs.frozen(kw_only=True, eq=False)
class _Losses:
    rows: Tensor
    errors: Tensor
    chosen_q: Tensor
    targets: Tensor
    outside_support: Tensor | None = None


class DQNUpdater:
    """Performs one DQN update: targets, loss, and optimizer step.

    Args:
        config: the experiment's configuration; `loss`, `optimisation` and `replay.gamma` act here.
        optimizer: the learner's optimizer.
        device: the learner's device.
        scaler: the mixed-precision gradient scaler; a disabled one for other precisions.
        action_mask: [A] bool, legal in every state, or None.
    """

    def __init__(
        self,
        config: DQNExperimentConfiguration,
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

    def update(
        self,
        batch: TransitionBatch,
        *,
        rewards: Tensor,
        model: DQNModel,
        target_model: DQNModel,
        beta: float,
    ) -> DQNUpdate:
        """Take one step on `batch`, all of it on the learner's device.

        Args:
            batch: the sampled windows.
            rewards: [B, W] those to learn from: the batch's own, or shaped ones.
            model: the model to update.
            target_model: values the states behind the windows.
            beta: how far importance weights undo the preference of priorities.
        """
        window = self._window(batch, rewards)
        losses = (
            self._categorical(batch, window, model, target_model)
            if model.is_categorical
            else self._expected(batch, window, model, target_model)
        )
        weights = _weights(batch, beta=beta)
        loss = weighted_mean(losses.rows, weights=weights)
        loss_value = loss.item()
        outcome = self._step.take(loss, loss_value=loss_value)
        raw = window if rewards is batch.rewards else self._window(batch, batch.rewards)
        return DQNUpdate(
            cause=outcome.cause,
            loss=loss_value,
            gradient_norm=outcome.gradient_norm,
            errors=losses.errors,
            chosen_q=losses.chosen_q,
            targets=losses.targets,
            raw_returns=raw.returns,
            returns=window.returns,
            weights=weights,
            outside_support=losses.outside_support,
        )

    def _window(self, batch: TransitionBatch, rewards: Tensor) -> NStep:
        return window_returns(
            rewards=rewards,
            lengths=batch.lengths,
            terminated=batch.terminated,
            gamma=self._config.replay.gamma,
        )

    def _expected(
        self, batch: TransitionBatch, window: NStep, model: DQNModel, target_model: DQNModel
    ) -> _Losses:
        mask, next_mask = self._masks(batch)
        with torch.no_grad(), self._autocast():
            next_target = target_model(batch.next_observations, next_mask)
            next_online = (
                model(batch.next_observations, next_mask) if self._config.loss.double else None
            )
        targets = target_q_values(
            rewards=window.returns,
            discounts=window.discounts,
            next_q_target=next_target,
            next_q_online=next_online,
            next_mask=next_mask,
        )
        with self._autocast():
            q_values = model(batch.observations, mask)
        errors = td_errors(q_values=q_values, actions=batch.actions, targets=targets)
        detached = errors.detach()
        return _Losses(
            rows=(
                huber_loss(errors, delta=self._config.loss.huber_delta)
                if self._config.loss.kind == "huber"
                else squared_loss(errors)
            ),
            errors=detached,
            chosen_q=detached + targets,
            targets=targets,
        )

    def _categorical(
        self, batch: TransitionBatch, window: NStep, model: DQNModel, target_model: DQNModel
    ) -> _Losses:
        mask, next_mask = self._masks(batch)
        support = model.support
        assert support is not None
        with torch.no_grad(), self._autocast():
            next_probabilities = target_model.atom_logits(batch.next_observations, next_mask)
            next_probabilities = next_probabilities.softmax(dim=-1)
            chooser = (
                model(batch.next_observations, next_mask)
                if self._config.loss.double
                else expected_values(probabilities=next_probabilities, support=support)
            )
        with torch.no_grad():
            actions = next_actions(next_q=chooser, discounts=window.discounts, next_mask=next_mask)
            chosen = atoms_of_actions(atoms=next_probabilities, actions=actions)
            targets = categorical_projection(
                rewards=window.returns,
                discounts=window.discounts,
                next_probabilities=chosen,
                support=support,
            )
        with self._autocast():
            logits = model.atom_logits(batch.observations, mask)
        log_probabilities = atoms_of_actions(atoms=logits, actions=batch.actions).log_softmax(-1)
        rows = categorical_loss(log_probabilities=log_probabilities, targets=targets)
        return _Losses(
            rows=rows,
            errors=rows.detach(),
            chosen_q=(log_probabilities.detach().exp() * support).sum(dim=-1),
            targets=(targets * support).sum(dim=-1),
            outside_support=rows_outside_support(
                rewards=window.returns,
                discounts=window.discounts,
                next_probabilities=chosen,
                support=support,
            ),
        )

    def _masks(self, batch: TransitionBatch) -> tuple[Tensor | None, Tensor | None]:
        return (
            combine_masks(self._action_mask, batch.action_masks),
            combine_masks(self._action_mask, batch.next_action_masks),
        )

    def _autocast(self) -> AbstractContextManager[object]:
        if self._precision is torch.float32:
            return nullcontext()
        return torch.autocast(self._device.type, dtype=self._precision)


def on_device(batch: TransitionBatch, device: torch.device) -> TransitionBatch:
    """The batch on `device`; itself where that is the host's memory."""
    if device.type == "cpu":
        return batch

    def moved(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.to(device, non_blocking=True)
        if isinstance(value, Mapping):
            return {name: moved(tensor) for name, tensor in value.items()}
        return value

    changes: dict[str, Any] = {
        field.name: moved(getattr(batch, field.name))
        for field in attrs.fields(TransitionBatch)
        if field.name not in HOST_FIELDS
    }
    return attrs.evolve(batch, **changes)


def _weights(batch: TransitionBatch, *, beta: float) -> Tensor | None:
    if batch.probabilities is None or batch.smallest_probability is None:
        return None
    weights = importance_weights(
        probabilities=batch.probabilities,
        smallest_probability=batch.smallest_probability,
        size=batch.size,
        beta=beta,
    )
    return weights.to(batch.rewards.device, torch.float32)
