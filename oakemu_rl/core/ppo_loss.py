"""The terms of the PPO loss and its diagnostics.

The entropy term is in `masks`, the weights of the terms are in `weighting`; the optimizer step
is not here. Only what is being learned receives gradient: what was recorded is detached. Letter: B
rows.
"""

import math

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.checks import (
    check_dimensions,
    check_floating,
    check_shape,
)
from oakemu_rl.core.number_checks import check_not_negative, check_positive
from oakemu_rl.core.precision import at_least_float32


@attrs.frozen(kw_only=True, eq=False)
class PolicyLoss:
    """Scalars []: the loss, which carries gradient, and two detached diagnostics."""

    loss: Tensor
    approx_kl: Tensor
    clip_fraction: Tensor


def clipped_policy_loss(
    *, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float
) -> PolicyLoss:
    """The clipped surrogate of PPO, to be minimised.

        ratio = exp(log_probs - old_log_probs)
        loss  = -mean(min(ratio * A, clip(ratio, 1 - clip_range, 1 + clip_range) * A))

    Advantages are taken as given. The lesser term bounds the ratio from one side alone: from above
    where A >= 0, from below elsewhere. So its logarithm is bounded before it is exponentiated, and
    a ratio that overflows beyond its bound gives gradient 0, not NaN. `clip_fraction` is the share
    of rows with abs(ratio - 1) > clip_range, on either side; `approx_kl` is `kl_estimate`.

    Shapes:
        log_probs, old_log_probs, advantages [B] floating. Gradient reaches `log_probs` alone.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or `clip_range` is negative or not finite.

    Schulman et al. 2017, "Proximal Policy Optimization Algorithms", equation 7.
    """
    _check_rows(log_probs=log_probs, old_log_probs=old_log_probs, advantages=advantages)
    check_not_negative("clip_range", clip_range)
    advantages = at_least_float32(advantages.detach())
    log_ratio = at_least_float32(log_probs) - at_least_float32(old_log_probs.detach())
    least = math.log1p(-clip_range) if clip_range < 1.0 else -math.inf
    bounded = torch.where(
        advantages >= 0.0,
        log_ratio.clamp(max=math.log1p(clip_range)),
        log_ratio.clamp(min=least),
    )
    return PolicyLoss(
        loss=-(bounded.exp() * advantages).mean(),
        approx_kl=kl_estimate(log_probs=log_probs, old_log_probs=old_log_probs),
        clip_fraction=(log_ratio.detach().expm1().abs() > clip_range).float().mean(),
    )


@torch.no_grad()
def kl_estimate(*, log_probs: Tensor, old_log_probs: Tensor) -> Tensor:
    """An estimate of KL(old || new) from actions that the old policy took.

        mean(ratio - 1 - log ratio),   ratio = exp(log_probs - old_log_probs)

    Each term is at least 0, and the mean is that of -log ratio, with less variance.

    Shapes:
        log_probs, old_log_probs [B] floating; result [], detached.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.

    Schulman 2020, "Approximating KL Divergence", the third estimator.
    """
    _check_rows(log_probs=log_probs, old_log_probs=old_log_probs)
    log_ratio = at_least_float32(log_probs) - at_least_float32(old_log_probs)
    return (log_ratio.expm1() - log_ratio).mean()


def value_loss(
    *,
    values: Tensor,
    returns: Tensor,
    old_values: Tensor | None = None,
    clip_range: float | None = None,
) -> Tensor:
    """The squared error of values, without a factor of one half.

        without clip_range:  mean((V - R)^2)
        with it:             mean(max((V - R)^2, (V_clipped - R)^2)),
                             V_clipped = V_old + clip(V - V_old, -clip_range, clip_range)

    V_old is the value that was recorded when the row was collected. `clip_range` is in units of the
    return.

    Shapes:
        values, returns, old_values [B] floating; result []. Gradient reaches `values` alone.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, `clip_range` is not above 0, or it comes without `old_values`.
    """
    _check_rows(values=values, returns=returns)
    values, returns = at_least_float32(values), at_least_float32(returns.detach())
    squares = (values - returns).square()
    if clip_range is not None:
        check_positive("clip_range", clip_range)
        if old_values is None:
            raise ValueError(f"old_values: needed with clip_range={clip_range!r}, got None")
        _check_rows(values=values, old_values=old_values)
        old_values = at_least_float32(old_values.detach())
        clipped = old_values + (values - old_values).clamp(-clip_range, clip_range)
        squares = torch.maximum(squares, (clipped - returns).square())
    return squares.mean()


@torch.no_grad()
def explained_variance(*, values: Tensor, returns: Tensor) -> Tensor:
    """How much of the spread of returns the values account for: 1 - Var(R - V) / Var(R).

    1 for perfect values, 0 for any constant, negative for worse ones. 0 where all returns are
    equal, as there is nothing to account for.

    Shapes:
        values, returns [B] floating; result [], detached.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    _check_rows(values=values, returns=returns)
    values, returns = at_least_float32(values), at_least_float32(returns)
    spread = returns.var(correction=0)
    explained = 1.0 - (returns - values).var(correction=0) / spread
    least, greatest = torch.aminmax(returns)
    return explained.masked_fill((least == greatest) | (spread == 0.0), 0.0)


def _check_rows(**tensors: Tensor) -> None:
    first = next(iter(tensors.values()))
    for name, tensor in tensors.items():
        check_floating(name, tensor)
        check_dimensions(name, tensor, "B")
        check_shape(name, tensor, first.shape, "B")
