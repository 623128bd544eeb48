"""One optimizer step that a number which is not finite can't pass."""

import math
from collections.abc import Iterable, Sequence

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.guards import skip_cause
from oakemu_rl.core.minibatches import SkipCause


@attrs.frozen(kw_only=True)
class StepOutcome:
    """The gradient's norm before clipping, and why the step was left out, if it was."""

    gradient_norm: float
    cause: SkipCause


CLIP_EPSILON = 1e-6
"""Added to the norm where gradients are clipped, as torch does it."""


class GuardedStep:
    """Backward, unscale, check, clip, step: in this order, since a scaled norm can't be clipped.

    Weights and moments stay bit for bit as they were where the loss or the gradient is not finite.
    """

    def __init__(
        self,
        *,
        optimizer: torch.optim.Optimizer,
        scaler: torch.amp.GradScaler,
        max_gradient_norm: float,
    ) -> None:
        self._optimizer = optimizer
        self._scaler = scaler
        self._max_gradient_norm = max_gradient_norm

    def take(self, loss: Tensor, *, loss_value: float) -> StepOutcome:
        """Descend `loss`, a scalar whose value the caller has read as `loss_value`."""
        if not loss.requires_grad:
            return StepOutcome(gradient_norm=0.0, cause=SkipCause.NOTHING_TO_LEARN)
        scale = self._scaler.get_scale() if self._scaler.is_enabled() else None
        if not math.isfinite(loss_value):
            cause = skip_cause(loss_finite=False, gradient_finite=False, loss_scale=scale)
            return StepOutcome(gradient_norm=0.0, cause=cause)
        self._optimizer.zero_grad(set_to_none=True)
        self._scaler.scale(loss).backward()
        self._scaler.unscale_(self._optimizer)
        parameters = list(self._with_gradient())
        gradients = [each.grad for each in parameters if each.grad is not None]
        norm = _norm(gradients)
        gradient_norm = float(norm)
        finite = math.isfinite(gradient_norm)
        # A norm overflows at times although no number did: no lower scale would help that.
        scaled_up = finite or any(not each.isfinite().all() for each in gradients)
        cause = skip_cause(
            loss_finite=True, gradient_finite=finite, loss_scale=scale if scaled_up else None
        )
        if cause is SkipCause.NONE:
            if gradient_norm > self._max_gradient_norm:
                self._clip(parameters, norm)
            self._scaler.step(self._optimizer)
        self._scaler.update(scale if cause is SkipCause.NON_FINITE_GRADIENT else None)
        return StepOutcome(gradient_norm=gradient_norm, cause=cause)

    def _clip(self, parameters: Sequence[Tensor], norm: Tensor) -> None:
        gradient = parameters[0].grad
        if len(parameters) == 1 and gradient is not None:
            gradient.mul_(self._max_gradient_norm / (norm + CLIP_EPSILON))
        else:
            torch.nn.utils.clip_grads_with_norm_(parameters, self._max_gradient_norm, norm)

    def _with_gradient(self) -> Iterable[Tensor]:
        for group in self._optimizer.param_groups:
            yield from (each for each in group["params"] if each.grad is not None)


def _norm(gradients: Sequence[Tensor]) -> Tensor:
    """The norm of all gradients together; torch's own way to it is slow for a single one."""
    if len(gradients) == 1:
        norm: Tensor = torch.linalg.vector_norm(gradients[0])
        return norm
    return torch.nn.utils.get_total_norm(gradients)
