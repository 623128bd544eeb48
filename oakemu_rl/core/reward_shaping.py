"""Rewards as they are learned from, made of those that the environment gave.

Windows of raw rewards come from a replay, so that shaping can change during a run without making
what is stored stale. Letters: B windows, W steps of the longest, R rewards.
"""

import math

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
from oakemu_rl.core.number_checks import check_fraction, check_not_negative, check_positive
from oakemu_rl.core.precision import at_least_float32
from oakemu_rl.core.statistics import Moments, batch_moments, merge_moments

_SAME = 1e-6
"""Up to this share of the mean a deviation is rounding: the rewards are all equal."""


def scaled(rewards: Tensor, *, factor: float) -> Tensor:
    """`factor * r`. A negative factor would turn good into bad and is refused.

    Shapes:
        rewards [B, W] floating; result [B, W].

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong, or `factor` is not above 0.
    """
    _check_windows(rewards)
    check_positive("factor", factor)
    return rewards * factor


def clipped(rewards: Tensor, *, bound: float) -> Tensor:
    """`min(max(r, -bound), bound)`.

    Shapes:
        rewards [B, W] floating; result [B, W].

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong, or `bound` is not above 0.
    """
    _check_windows(rewards)
    check_positive("bound", bound)
    return rewards.clamp(-bound, bound)


def signs(rewards: Tensor) -> Tensor:
    """-1, 0 or 1 for a reward below, at or above 0.

    Shapes:
        rewards [B, W] floating; result [B, W].

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong.

    Mnih et al. 2015, "Human-level control through deep reinforcement learning", where they make one
    learning rate fit many games.
    """
    _check_windows(rewards)
    return rewards.sign()


@torch.no_grad()
def potential_shaping(
    *, rewards: Tensor, potentials: Tensor, lengths: Tensor, terminated: Tensor, gamma: float
) -> Tensor:
    """Rewards for coming nearer to where it is good to be, which leave the best policy the best.

        r'_i = r_i + gamma * phi(s_{i+1}) - phi(s_i)        phi counts as 0 at a true end

    The discounted sum of a window changes by `gamma^k * phi(s_k) - phi(s_0)` alone, k its length.
    Behind its length nothing changes, and potentials are not looked at.

    Args:
        potentials: phi before each step of the window and after its last.
        terminated: whether the window's last step ended the episode truly.
        gamma: the discount that is learned with; another one would change the best policy.

    Shapes:
        rewards [B, W], potentials [B, W + 1] floating; lengths [B] of any integer dtype, from 1 to
        W; terminated [B] bool; result [B, W], float32 unless float64 came in, detached.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or gamma lies outside [0, 1].

    Ng, Harada and Russell 1999, "Policy Invariance Under Reward Transformations"; Grzes 2017,
    "Reward Shaping in Episodic Reinforcement Learning", for the potential at the end.
    """
    _check_windows(rewards)
    rows, width = rewards.shape
    check_floating("potentials", potentials)
    check_shape("potentials", potentials, (rows, width + 1), "BW")
    check_integer("lengths", lengths)
    check_shape("lengths", lengths, (rows,), "B")
    check_bool("terminated", terminated)
    check_shape("terminated", terminated, (rows,), "B")
    check_fraction("gamma", gamma)
    rewards, potentials = at_least_float32(rewards), at_least_float32(potentials)
    taken = torch.arange(1, width + 1, device=rewards.device)
    left = lengths.unsqueeze(1) - taken
    dead = terminated.unsqueeze(1) & (left == 0)
    following = potentials[:, 1:].masked_fill(dead, 0.0)
    change = torch.add(-potentials[:, :-1], following, alpha=gamma)
    return rewards + change.masked_fill(left < 0, 0.0)


@torch.no_grad()
def novelty_bonuses(*, counts: Tensor, weight: float) -> Tensor:
    """A reward for what was seldom met: `weight / sqrt(max(n, 1))`.

    Args:
        counts: how often each state, or what stands for it, was met.

    Shapes:
        counts of any shape and integer dtype; result of that shape, float32.

    Raises:
        TypeError: the dtype is wrong. ValueError: `weight` is negative or not finite.

    Strehl and Littman 2008, "An analysis of model-based Interval Estimation for Markov Decision
    Processes".
    """
    check_integer("counts", counts)
    check_not_negative("weight", weight)
    return weight * counts.clamp_min(1).float().rsqrt()


@attrs.frozen(kw_only=True)
class RewardMoments:
    """How many rewards were seen, their mean and their variance, with n. Plain numbers."""

    count: int = 0
    mean: float = 0.0
    variance: float = 0.0


def merge_rewards(moments: RewardMoments, rewards: Tensor) -> RewardMoments:
    """The moments with those of a batch of rewards taken in.

    Waits for an accelerator if the rewards lie there.

    Shapes:
        rewards [R] floating, R at least 1.

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong, or there is no reward.
    """
    check_floating("rewards", rewards)
    check_dimensions("rewards", rewards, "R")
    seen = Moments(
        count=torch.tensor(moments.count),
        mean=torch.tensor(moments.mean, dtype=torch.float64),
        variance=torch.tensor(moments.variance, dtype=torch.float64),
    )
    merged = merge_moments(seen, batch_moments(rewards.cpu()))
    return RewardMoments(
        count=int(merged.count), mean=float(merged.mean), variance=float(merged.variance)
    )


def normalized_rewards(rewards: Tensor, *, moments: RewardMoments) -> Tensor:
    """`r / std`, without a shift, which would pay for staying alive or for dying.

    Rewards stay as they are where all that were seen are equal, or none was.

    Shapes:
        rewards [B, W] floating; result [B, W].

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong.
    """
    _check_windows(rewards)
    deviation = math.sqrt(moments.variance)
    return rewards if deviation <= _SAME * abs(moments.mean) else rewards / deviation


def _check_windows(rewards: Tensor) -> None:
    check_floating("rewards", rewards)
    check_dimensions("rewards", rewards, "BW")
