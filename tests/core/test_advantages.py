"""Worked values of advantage estimation."""

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import Advantages, generalized_advantages, normalize_advantages


def column(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float32).unsqueeze(1)


def flags(*values: int) -> Tensor:
    return torch.tensor(values, dtype=torch.bool).unsqueeze(1)


def estimate(
    *,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor | None = None,
    truncated: Tensor | None = None,
    gamma: float = 0.9,
    gae_lambda: float = 0.95,
    valid: Tensor | None = None,
) -> Advantages:
    none = torch.zeros_like(rewards, dtype=torch.bool)
    return generalized_advantages(
        rewards=rewards,
        values=values,
        next_values=next_values,
        terminated=none if terminated is None else terminated,
        truncated=none if truncated is None else truncated,
        gamma=gamma,
        gae_lambda=gae_lambda,
        valid=valid,
    )


def listed(tensor: Tensor) -> list[float]:
    return tensor.flatten().tolist()


@pytest.mark.parametrize(
    ("terminated", "truncated", "advantages", "returns"),
    [
        (0, 1, [4.82, 4.0], [9.82, 10.0]),
        (1, 0, [-2.875, -5.0], [2.125, 1.0]),
        (1, 1, [-2.875, -5.0], [2.125, 1.0]),
    ],
)
def test_a_time_limit_is_bootstrapped_from_the_final_observation_and_a_death_is_not(
    terminated: int, truncated: int, advantages: list[float], returns: list[float]
) -> None:
    result = estimate(
        rewards=column(1, 1),
        values=column(5, 6),
        next_values=column(6, 10),
        terminated=flags(0, terminated),
        truncated=flags(0, truncated),
    )
    assert listed(result.advantages) == pytest.approx(advantages)
    assert listed(result.returns) == pytest.approx(returns)


def test_a_flag_belongs_to_the_step_that_ended_the_episode() -> None:
    result = estimate(
        rewards=column(1, 1, 1),
        values=column(2, 2, 2),
        next_values=column(2, 2, 2),
        terminated=flags(0, 1, 0),
        gae_lambda=1.0,
    )
    assert listed(result.advantages) == pytest.approx([-0.1, -1.0, 0.8])


@pytest.mark.parametrize("successor", [0.0, 2.0, 1e9, float("inf"), float("nan")])
def test_the_value_after_a_death_changes_nothing(successor: float) -> None:
    result = estimate(
        rewards=column(1, 1, 1),
        values=column(2, 2, 2),
        next_values=column(2, 2, successor),
        terminated=flags(0, 0, 1),
    )
    assert listed(result.advantages) == pytest.approx([0.752975, -0.055, -1.0], abs=1e-6)


def test_the_last_step_is_bootstrapped_from_the_observation_after_it() -> None:
    result = estimate(rewards=column(1), values=column(2), next_values=column(10))
    assert listed(result.advantages) == pytest.approx([8.0])


def test_returns_are_advantages_plus_values() -> None:
    # With discount 0 an advantage is the reward less the value.
    result = estimate(
        rewards=column(4, 6), values=column(3, 4), next_values=column(7, 7), gamma=0.0
    )
    assert listed(result.advantages) == [1.0, 2.0]
    assert listed(result.returns) == [4.0, 6.0]


def test_lambda_zero_gives_one_step_errors() -> None:
    result = estimate(
        rewards=column(1, 2, 3), values=column(1, 1, 1), next_values=column(1, 1, 1), gae_lambda=0.0
    )
    assert listed(result.advantages) == pytest.approx([0.9, 1.9, 2.9])


def test_lambda_one_gives_discounted_returns() -> None:
    result = estimate(
        rewards=column(1, 1, 1),
        values=column(5, -3, 2),
        next_values=column(-3, 2, 10),
        gae_lambda=1.0,
    )
    assert listed(result.returns) == pytest.approx([2.71 + 7.29, 1.9 + 8.1, 1.0 + 9.0])


def test_a_reset_row_is_no_step_and_nothing_passes_it() -> None:
    nan = float("nan")
    result = estimate(
        rewards=column(1, nan, 1),
        values=column(5, 7, 6),
        next_values=column(10, nan, 10),
        truncated=flags(1, 0, 0),
        valid=flags(1, 0, 1),
    )
    assert listed(result.advantages) == pytest.approx([5.0, 0.0, 4.0])
    assert listed(result.returns) == pytest.approx([10.0, 7.0, 10.0])


def test_a_long_rollout_agrees_with_the_closed_form() -> None:
    steps, decay = 1_000, 0.9 * 0.95
    ones = torch.ones(steps, 1)
    result = estimate(rewards=ones, values=0.0 * ones, next_values=0.0 * ones)
    expected = [(1.0 - decay ** (steps - t)) / (1.0 - decay) for t in range(steps)]
    assert listed(result.advantages) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_half_types_are_widened_and_float64_is_not_made(dtype: torch.dtype) -> None:
    ones = torch.ones(3, 2, dtype=dtype)
    result = estimate(rewards=ones, values=ones, next_values=ones)
    assert result.advantages.dtype == result.returns.dtype == torch.float32


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rewards": torch.ones(2)}, ValueError, r"rewards: expected shape \[T, N\], got \[2\]"),
        ({"values": torch.ones(3, 1)}, ValueError, r"values: .* = \[2, 1\], got \[3, 1\]"),
        ({"terminated": torch.ones(2, 1)}, TypeError, "terminated: expected a bool tensor"),
        ({"valid": flags(1)}, ValueError, r"valid: .* got \[1, 1\]"),
        ({"next_values": torch.ones(2, 1, dtype=torch.int64)}, TypeError, "next_values"),
        ({"gamma": 1.01}, ValueError, r"gamma: expected a number from 0 to 1, got 1.01"),
        ({"gae_lambda": float("nan")}, ValueError, "gae_lambda: .* got nan"),
    ],
)
def test_wrong_arguments_are_named(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    arguments = {"rewards": column(1, 1), "values": column(1, 1), "next_values": column(1, 1)}
    with pytest.raises(error, match=message):
        estimate(**{**arguments, **changes})


def test_equal_advantages_become_zeros() -> None:
    assert listed(normalize_advantages(torch.tensor([5.0, 5.0, 5.0]))) == [0.0, 0.0, 0.0]
    assert listed(normalize_advantages(torch.full((65,), 0.1))) == [0.0] * 65


def test_a_single_advantage_is_left_as_it_is() -> None:
    assert listed(normalize_advantages(torch.tensor([5.0]))) == [5.0]


def test_advantages_get_mean_zero_and_deviation_one() -> None:
    result = normalize_advantages(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert listed(result) == pytest.approx([-1.161895, -0.387298, 0.387298, 1.161895])
