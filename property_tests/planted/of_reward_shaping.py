"""Wrong versions of shaped rewards."""

import math
from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.scaled)
def divided_by_the_factor(rewards: Tensor, *, factor: float) -> Tensor:
    return rewards / factor


@mutant_of(core.scaled)
def scaled_in_place(rewards: Tensor, *, factor: float) -> Tensor:
    return rewards.mul_(factor)


@mutant_of(core.clipped)
def clipped_from_above_alone(rewards: Tensor, *, bound: float) -> Tensor:
    return rewards.clamp(max=bound)


@mutant_of(core.clipped)
def clipped_at_1(rewards: Tensor, *, bound: float) -> Tensor:
    del bound
    return rewards.clamp(-1.0, 1.0)


@mutant_of(core.signs)
def zero_counts_as_good(rewards: Tensor) -> Tensor:
    return torch.where(rewards >= 0.0, 1.0, -1.0)


@mutant_of(core.signs)
def size_bounded(rewards: Tensor) -> Tensor:
    return rewards.clamp(-1.0, 1.0)


@mutant_of(core.potential_shaping)
def gain_without_discount(**arguments: Any) -> Tensor:
    return core.potential_shaping(**{**arguments, "gamma": 1.0})


@mutant_of(core.potential_shaping)
def potential_kept_at_a_true_end(**arguments: Any) -> Tensor:
    alive = torch.zeros_like(arguments["terminated"])
    return core.potential_shaping(**{**arguments, "terminated": alive})


@mutant_of(core.potential_shaping)
def potential_dropped_at_every_end(**arguments: Any) -> Tensor:
    dead = torch.ones_like(arguments["terminated"])
    return core.potential_shaping(**{**arguments, "terminated": dead})


@mutant_of(core.potential_shaping)
def shaped_behind_the_length(**arguments: Any) -> Tensor:
    right = core.potential_shaping(**arguments)
    width = right.shape[1]
    behind = torch.arange(width) >= arguments["lengths"].unsqueeze(1)
    potentials = torch.nan_to_num(arguments["potentials"])
    change = arguments["gamma"] * potentials[:, 1:] - potentials[:, :-1]
    return torch.where(behind, right + change, right)


@mutant_of(core.potential_shaping)
def potential_of_the_end_times_zero(**arguments: Any) -> Tensor:
    right = core.potential_shaping(**arguments)
    return right + 0.0 * arguments["potentials"][:, 1:].detach()


@mutant_of(core.potential_shaping)
def gain_the_wrong_way_round(**arguments: Any) -> Tensor:
    return core.potential_shaping(**{**arguments, "potentials": -arguments["potentials"]})


@mutant_of(core.potential_shaping)
def potential_that_carries_gradient(**arguments: Any) -> Tensor:
    right = core.potential_shaping(**arguments)
    return right + 0.0 * torch.nan_to_num(arguments["potentials"]).sum()


@mutant_of(core.novelty_bonuses)
def bonus_by_the_count(*, counts: Tensor, weight: float) -> Tensor:
    return weight / counts.clamp_min(1).float()


@mutant_of(core.novelty_bonuses)
def bonus_without_end_for_the_unmet(*, counts: Tensor, weight: float) -> Tensor:
    return weight * counts.float().rsqrt()


@mutant_of(core.novelty_bonuses)
def one_visit_more(*, counts: Tensor, weight: float) -> Tensor:
    return weight * (counts.float() + 1.0).rsqrt()


@mutant_of(core.merge_rewards)
def only_the_last_batch(moments: core.RewardMoments, rewards: Tensor) -> core.RewardMoments:
    last = core.merge_rewards(core.RewardMoments(), rewards)
    return core.RewardMoments(
        count=moments.count + last.count, mean=last.mean, variance=last.variance
    )


@mutant_of(core.merge_rewards)
def batches_counted_and_not_rewards(
    moments: core.RewardMoments, rewards: Tensor
) -> core.RewardMoments:
    right = core.merge_rewards(moments, rewards)
    return core.RewardMoments(count=moments.count + 1, mean=right.mean, variance=right.variance)


@mutant_of(core.merge_rewards)
def variance_over_one_less(moments: core.RewardMoments, rewards: Tensor) -> core.RewardMoments:
    right = core.merge_rewards(moments, rewards)
    factor = right.count / max(right.count - 1, 1)
    return core.RewardMoments(count=right.count, mean=right.mean, variance=right.variance * factor)


@mutant_of(core.normalized_rewards)
def rewards_shifted(rewards: Tensor, *, moments: core.RewardMoments) -> Tensor:
    return core.normalized_rewards(rewards - moments.mean, moments=moments)


@mutant_of(core.normalized_rewards)
def rewards_divided_by_the_variance(rewards: Tensor, *, moments: core.RewardMoments) -> Tensor:
    right = core.normalized_rewards(rewards, moments=moments)
    return right if right is rewards else right / math.sqrt(moments.variance)


@mutant_of(core.normalized_rewards)
def equal_rewards_enlarged(rewards: Tensor, *, moments: core.RewardMoments) -> Tensor:
    return rewards / math.sqrt(moments.variance + 1e-8)
