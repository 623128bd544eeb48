"""Advantage estimation for on-policy learning.

What the policy loss makes of advantages is in `ppo_loss`; rollouts are stored in `buffers`.
Letters: T steps, N environments.
"""

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.checks import (
    check_bool,
    check_dimensions,
    check_floating,
    check_shape,
)
from oakemu_rl.core.number_checks import check_fraction
from oakemu_rl.core.precision import at_least_float32

_EPSILON = 1e-8


@attrs.frozen(kw_only=True, eq=False)
class Advantages:
    """Advantages and returns, both [T, N] and detached."""

    advantages: Tensor
    returns: Tensor


@torch.no_grad()
def generalized_advantages(
    *,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    gamma: float,
    gae_lambda: float,
    valid: Tensor | None = None,
) -> Advantages:
    r"""Generalised advantage estimation, for a batch of rollouts that may hold many episodes.

        delta_t = r_t + gamma * V(s'_t) - V(s_t)       V(s'_t) counts as 0 if terminated_t
        A_t     = delta_t + gamma * lambda * A_{t+1}   A_{t+1} counts as 0 if either flag is set
        R_t     = A_t + V(s_t)

    s'_t is the true next observation of step t, before any reset, so that a truncated step is
    bootstrapped from the state in which the limit was reached. A flag at index t belongs to the
    step that left s_t. A step that terminated and was truncated counts as terminated. Numbers that
    count as 0 are not looked at: NaN in them changes nothing.

    The sum over later steps is taken by doubling: after round k each row holds its next 2^k terms.

    Args:
        gamma: discount per environment step.
        gae_lambda: 0 gives one-step errors, 1 gives discounted returns minus values.
        valid: false for rows that are no step of an episode, such as the reset rows of a vector
            environment. Their advantage is 0, their return is their value, and nothing passes them.

    Shapes:
        rewards, values, next_values [T, N] floating; terminated, truncated, valid [T, N] bool;
        advantages and returns [T, N], float32 unless float64 came in.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or gamma or gae_lambda lies outside [0, 1].

    Schulman et al. 2016, "High-Dimensional Continuous Control Using Generalized Advantage
    Estimation", equations 11 to 16; V(s'_t) stands there for the value of the next row.
    """
    _check_steps(rewards, values, next_values, terminated, truncated, valid)
    check_fraction("gamma", gamma)
    check_fraction("gae_lambda", gae_lambda)
    rewards, values, next_values = (at_least_float32(t) for t in (rewards, values, next_values))

    bootstraps = next_values.masked_fill(terminated, 0.0)
    advantages = torch.add(rewards, bootstraps, alpha=gamma) - values
    ended = terminated | truncated
    if valid is not None:
        advantages = advantages.masked_fill(~valid, 0.0)
        ended = ended | ~valid
    advantages = _discounted_sums(advantages, ended, gamma * gae_lambda)
    return Advantages(advantages=advantages, returns=advantages + values)


@torch.no_grad()
def normalize_advantages(advantages: Tensor) -> Tensor:
    """Shift and scale advantages to mean 0 and standard deviation 1.

    (a - mean) / (std + 1e-8), the standard deviation with n - 1; zeros where all are equal, and
    unchanged where there is only one, whose spread is unknown.

    Shapes:
        any; all elements are normalised together. The result is detached.

    Raises:
        TypeError: `advantages` is not floating.
    """
    check_floating("advantages", advantages)
    if advantages.numel() <= 1:
        return advantages.detach()
    advantages = at_least_float32(advantages)
    deviation, mean = torch.std_mean(advantages, correction=1)
    least, greatest = torch.aminmax(advantages)
    # A rounded mean of equal numbers may differ from them, and the quotient would enlarge that.
    return ((advantages - mean) / (deviation + _EPSILON)).masked_fill(least == greatest, 0.0)


def _discounted_sums(terms: Tensor, ended: Tensor, discount: float) -> Tensor:
    """S_t = terms_t + discount * S_{t+1}, where S_{t+1} counts as 0 if `ended[t]`."""
    sums, span = terms.clone(), 1
    while span < len(terms) and discount > 0.0:
        later = sums[span:].masked_fill(ended[: len(terms) - span], 0.0)
        sums[:-span].add_(later, alpha=discount)
        ended = ended[:-span] | ended[span:]
        discount, span = discount * discount, 2 * span
    return sums


def _check_steps(
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    valid: Tensor | None,
) -> None:
    check_floating("rewards", rewards)
    check_dimensions("rewards", rewards, "TN")
    for name, tensor in (("values", values), ("next_values", next_values)):
        check_floating(name, tensor)
        check_shape(name, tensor, rewards.shape, "TN")
    for name, flags in (("terminated", terminated), ("truncated", truncated), ("valid", valid)):
        if flags is not None:
            check_bool(name, flags)
            check_shape(name, flags, rewards.shape, "TN")
