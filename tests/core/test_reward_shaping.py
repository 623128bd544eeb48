"""Worked values of shaped rewards."""

import math

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import (
    RewardMoments,
    clipped,
    merge_rewards,
    normalized_rewards,
    novelty_bonuses,
    potential_shaping,
    scaled,
    signs,
)

REWARDS = torch.tensor([[-3.0, 0.0, 0.5]])
NONE = torch.zeros(1, dtype=torch.bool)


def shaped(
    potentials: list[float], *, length: int = 3, terminated: bool = False, gamma: float = 0.5
) -> list[float]:
    return potential_shaping(
        rewards=REWARDS,
        potentials=torch.tensor([potentials]),
        lengths=torch.tensor([length]),
        terminated=torch.tensor([terminated]),
        gamma=gamma,
    )[0].tolist()


def test_rewards_are_scaled_clipped_or_reduced_to_their_sign() -> None:
    assert scaled(REWARDS, factor=2.0).tolist() == [[-6.0, 0.0, 1.0]]
    assert clipped(REWARDS, bound=1.0).tolist() == [[-1.0, 0.0, 0.5]]
    assert signs(REWARDS).tolist() == [[-1.0, 0.0, 1.0]]


def test_a_potential_pays_for_what_comes_nearer() -> None:
    # 0.5 * phi(s') - phi(s) is -1 + 1, -2 + 4 and -8 + 0.
    assert shaped([1.0, 2.0, 8.0, 0.0]) == [-3.0, 2.0, -7.5]


def test_the_potential_of_a_true_end_is_0_whatever_is_stored() -> None:
    assert shaped([1.0, 2.0, 8.0, math.nan], terminated=True) == [-3.0, 2.0, -7.5]
    assert shaped([1.0, 2.0, 8.0, 8.0], length=2, terminated=True) == [-3.0, -2.0, 0.5]


def test_behind_the_length_nothing_changes() -> None:
    assert shaped([1.0, 2.0, math.nan, math.nan], length=1) == [-3.0, 0.0, 0.5]


def test_a_constant_potential_without_a_discount_changes_the_last_step_at_most() -> None:
    assert shaped([7.0] * 4, gamma=1.0) == [-3.0, 0.0, 0.5]
    assert shaped([7.0] * 4, gamma=1.0, terminated=True) == [-3.0, 0.0, -6.5]


def test_what_was_met_often_pays_less() -> None:
    counts = torch.tensor([[0, 1, 4, 100]])
    assert novelty_bonuses(counts=counts, weight=0.5)[0].tolist() == pytest.approx(
        [0.5, 0.5, 0.25, 0.05]
    )
    assert novelty_bonuses(counts=counts, weight=0.5).dtype == torch.float32


def test_moments_are_those_of_all_rewards() -> None:
    moments = merge_rewards(RewardMoments(), torch.tensor([1.0, 3.0]))
    moments = merge_rewards(moments, torch.tensor([5.0, 7.0, 9.0]))
    assert moments.count == 5
    assert (moments.mean, moments.variance) == pytest.approx((5.0, 8.0))


def test_rewards_are_divided_by_their_deviation_and_not_shifted() -> None:
    moments = RewardMoments(count=10, mean=5.0, variance=4.0)
    assert normalized_rewards(REWARDS, moments=moments).tolist() == [[-1.5, 0.0, 0.25]]


def test_equal_rewards_are_left_as_they_are() -> None:
    assert torch.equal(normalized_rewards(REWARDS, moments=RewardMoments()), REWARDS)
    equal = torch.full((65, 1), 0.1)
    moments = merge_rewards(merge_rewards(RewardMoments(), equal[:, 0]), equal[:, 0])
    assert torch.equal(normalized_rewards(equal, moments=moments), equal)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: scaled(REWARDS, factor=0.0), ValueError, "factor: .* above 0, got 0.0"),
        (lambda: clipped(REWARDS, bound=-1.0), ValueError, "bound: .* above 0, got -1.0"),
        (lambda: signs(REWARDS[0]), ValueError, r"rewards: expected shape \[B, W\], got \[3\]"),
        (lambda: signs(REWARDS.long()), TypeError, "rewards: expected a floating-point tensor"),
        (lambda: shaped([1.0] * 3), ValueError, r"potentials: .* \[1, 4\], got \[1, 3\]"),
        (lambda: shaped([1.0] * 4, gamma=1.5), ValueError, "gamma: .* got 1.5"),
        (
            lambda: novelty_bonuses(counts=REWARDS, weight=1.0),
            TypeError,
            "counts: expected an integer tensor",
        ),
        (
            lambda: novelty_bonuses(counts=NONE.long(), weight=-1.0),
            ValueError,
            "weight: expected a finite number, at least 0, got -1.0",
        ),
        (
            lambda: merge_rewards(RewardMoments(), torch.zeros(0)),
            ValueError,
            "rows: expected at least one row",
        ),
        (
            lambda: normalized_rewards(REWARDS[0], moments=RewardMoments()),
            ValueError,
            r"rewards: expected shape \[B, W\]",
        ),
    ],
)
def test_wrong_arguments_are_named(call: object, error: type[Exception], message: str) -> None:
    assert callable(call)
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"lengths": torch.ones(1)}, TypeError, "lengths: expected an integer tensor"),
        ({"lengths": torch.ones(2).long()}, ValueError, r"lengths: .* = \[1\], got \[2\]"),
        ({"terminated": torch.ones(1)}, TypeError, "terminated: expected a bool tensor"),
        ({"terminated": NONE.expand(2)}, ValueError, r"terminated: .* got \[2\]"),
        ({"potentials": torch.ones(1, 4).long()}, TypeError, "potentials: expected a floating"),
    ],
)
def test_wrong_windows_are_named(
    changes: dict[str, Tensor], error: type[Exception], message: str
) -> None:
    arguments = {
        "rewards": REWARDS,
        "potentials": torch.ones(1, 4),
        "lengths": torch.ones(1).long(),
        "terminated": NONE,
    }
    with pytest.raises(error, match=message):
        potential_shaping(**{**arguments, **changes}, gamma=0.9)
