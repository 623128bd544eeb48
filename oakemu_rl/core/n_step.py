"""Returns of windows of several steps, and what discounts the value behind each window.

What is made of them is in `q_targets` and `categorical`; windows are formed by the buffers.
Letters: T steps, N environments, B sampled windows, W steps of the longest window.
"""

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.checks import (
    check_bool,
    check_dimensions,
    check_floating,
    check_integer,
    check_shape,
)
from oakemu_rl.core.number_checks import check_fraction, check_positive
from oakemu_rl.core.precision import at_least_float32


@attrs.frozen(kw_only=True, eq=False)
class NStep:
    """What windows gathered; all detached.

    A target is `returns + discounts * Q(s')`, where s' is the true successor of the window's last
    step. A discount of 0 says that there is no such value.

    Shapes:
        returns, discounts [T, N] or [B], float32 unless float64 came in; lengths likewise, int64,
        the number of steps really taken.
    """

    returns: Tensor
    discounts: Tensor
    lengths: Tensor


@torch.no_grad()
def n_step_returns(
    *, rewards: Tensor, terminated: Tensor, truncated: Tensor, gamma: float, n: int
) -> NStep:
    """The return of the window of up to n steps that begins at each stored step.

        k_t        = steps from t to the episode's end or to the last row, at most n
        G_t        = sum_{0 <= i < k_t} gamma^i * r_{t+i}
        discount_t = gamma^{k_t}, 0 where step t + k_t - 1 terminated

    A flag at index t belongs to the step that left s_t. A window ends with the first flag in it,
    so nothing leaks from the next episode, and a shortened one is discounted by the steps that it
    took. A step that terminated and was truncated counts as terminated.

    Args:
        gamma: discount per environment step.
        n: steps of a full window.

    Shapes:
        rewards [T, N] floating; terminated, truncated [T, N] bool; the results [T, N].

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, gamma lies outside [0, 1], or n is not above 0.

    Sutton and Barto 2018, "Reinforcement Learning", equation 7.1; rewards stand there one index
    later.
    """
    check_floating("rewards", rewards)
    check_dimensions("rewards", rewards, "TN")
    for name, flags in (("terminated", terminated), ("truncated", truncated)):
        check_bool(name, flags)
        check_shape(name, flags, rewards.shape, "TN")
    check_fraction("gamma", gamma)
    check_positive("n", n)
    rewards = at_least_float32(rewards)
    steps, environments = rewards.shape
    width = min(n, steps)

    rows = torch.arange(steps, device=rewards.device).unsqueeze(1)
    ends = rows.masked_fill(~(terminated | truncated), steps - 1)
    ends = ends.flip(0).cummin(dim=0).values.flip(0)
    last = torch.minimum(ends, rows + (width - 1))
    padding = rewards.new_zeros(max(width - 1, 0), environments)
    windows = torch.cat([rewards, padding]).unfold(0, width, 1)
    return _returns(windows, last - rows + 1, terminated.gather(0, last), gamma)


def window_returns(*, rewards: Tensor, lengths: Tensor, terminated: Tensor, gamma: float) -> NStep:
    """The returns of sampled windows: the numbers of `n_step_returns`.

        G_b        = sum_{0 <= i < k_b} gamma^i * r_{b,i}        k = lengths
        discount_b = gamma^{k_b}, 0 where the window's last step terminated

    Rewards behind a window's length are not looked at.

    Shapes:
        rewards [B, W] floating; lengths [B] of any integer dtype, from 1 to W; terminated [B] bool;
        the results [B].

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or gamma lies outside [0, 1].
    """
    check_floating("rewards", rewards)
    check_dimensions("rewards", rewards, "BW")
    check_integer("lengths", lengths)
    check_shape("lengths", lengths, rewards.shape[:1], "B")
    check_bool("terminated", terminated)
    check_shape("terminated", terminated, rewards.shape[:1], "B")
    check_fraction("gamma", gamma)
    return _returns(at_least_float32(rewards.detach()), lengths.long(), terminated, gamma)


def _returns(windows: Tensor, lengths: Tensor, terminated: Tensor, gamma: float) -> NStep:
    """Of detached windows [..., W], whose other dimensions are those of the lengths and flags."""
    width = windows.shape[-1]
    if width == 1:
        # What follows in a quarter of the time; small networks notice it at each update.
        returns = windows.squeeze(-1)
        discounts = torch.full_like(returns, gamma)
    else:
        powers = windows.new_tensor([gamma**power for power in range(width + 1)])
        behind = torch.arange(width, device=windows.device) >= lengths.unsqueeze(-1)
        returns = (windows.masked_fill(behind, 0.0) * powers[:-1]).sum(dim=-1)
        discounts = powers[lengths]
    discounts = discounts.masked_fill_(terminated, 0.0)
    return NStep(returns=returns, discounts=discounts, lengths=lengths)
