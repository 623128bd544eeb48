"""Worked values of windows of several steps."""

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import NStep, n_step_returns, window_returns


def column(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float32).unsqueeze(1)


def flags(*values: int) -> Tensor:
    return torch.tensor(values, dtype=torch.bool).unsqueeze(1)


def windows(
    *,
    rewards: Tensor,
    terminated: Tensor | None = None,
    truncated: Tensor | None = None,
    gamma: float = 0.9,
    n: int = 3,
) -> NStep:
    none = torch.zeros_like(rewards, dtype=torch.bool)
    return n_step_returns(
        rewards=rewards,
        terminated=none if terminated is None else terminated,
        truncated=none if truncated is None else truncated,
        gamma=gamma,
        n=n,
    )


def targets(result: NStep, value: float = 10.0) -> list[float]:
    return (result.returns + result.discounts * value).flatten().tolist()


def test_a_window_cut_to_one_step_is_discounted_once() -> None:
    result = windows(rewards=column(1))
    assert targets(result) == pytest.approx([10.0])  # 8.29 is the discount of a full window


def test_a_window_ends_with_its_episode_and_keeps_the_value_at_a_time_limit() -> None:
    rewards = column(1, 1, 100)
    truncated = windows(rewards=rewards, truncated=flags(0, 1, 0))
    assert targets(truncated)[0] == pytest.approx(10.0)  # 90.19 is a leak of the next episode
    assert truncated.lengths.flatten().tolist() == [2, 1, 1]
    for also in (flags(0, 0, 0), flags(0, 1, 0)):
        dead = windows(rewards=rewards, terminated=flags(0, 1, 0), truncated=also)
        assert targets(dead)[:2] == pytest.approx([1.9, 1.0])
        assert dead.discounts.flatten().tolist() == pytest.approx([0.0, 0.0, 0.9])


def test_successors_lie_behind_the_last_step_taken() -> None:
    result = windows(rewards=column(1, 1, 1, 1, 1), terminated=flags(0, 0, 0, 0, 1))
    successors = torch.arange(5) + result.lengths.flatten()
    assert successors.tolist() == [3, 4, 5, 5, 5]


def test_inputs_stay_as_they_are() -> None:
    rewards, ends = column(1, 2, 3), flags(0, 1, 0)
    windows(rewards=rewards, terminated=ends, truncated=ends)
    assert torch.equal(rewards, column(1, 2, 3))
    assert torch.equal(ends, flags(0, 1, 0))


def test_a_full_window_sums_its_steps() -> None:
    result = windows(rewards=column(1, 2, 3, 4), gamma=0.5, n=2)
    assert result.returns.flatten().tolist() == [2.0, 3.5, 5.0, 4.0]
    assert result.discounts.flatten().tolist() == [0.25, 0.25, 0.25, 0.5]


def test_environments_do_not_mix() -> None:
    rewards = torch.tensor([[1.0, 10.0], [1.0, 10.0]])
    ended = torch.tensor([[True, False], [False, False]])
    result = windows(rewards=rewards, truncated=ended)
    assert result.returns.tolist() == [[1.0, 19.0], [1.0, 10.0]]


@pytest.mark.parametrize(
    ("terminated", "truncated", "target"), [(0, 1, 10.0), (1, 0, 1.0), (1, 1, 1.0)]
)
def test_one_step_with_a_value_of_ten(terminated: int, truncated: int, target: float) -> None:
    result = windows(
        rewards=column(1), terminated=flags(terminated), truncated=flags(truncated), n=1
    )
    assert targets(result) == pytest.approx([target])


def test_sampled_windows_give_the_same_numbers() -> None:
    result = window_returns(
        rewards=torch.tensor([[1.0, 1.0, 1.0], [1.0, 1.0, 100.0], [1.0, 1.0, 0.0]]),
        lengths=torch.tensor([3, 2, 2]),
        terminated=torch.tensor([False, False, True]),
        gamma=0.9,
    )
    assert result.returns.tolist() == pytest.approx([2.71, 1.9, 1.9])
    assert result.discounts.tolist() == pytest.approx([0.729, 0.81, 0.0])
    assert result.lengths.tolist() == [3, 2, 2]


def test_windows_of_one_step() -> None:
    result = window_returns(
        rewards=torch.tensor([[1.0], [2.0]]),
        lengths=torch.tensor([1, 1], dtype=torch.int32),
        terminated=torch.tensor([False, True]),
        gamma=0.9,
    )
    assert result.returns.tolist() == [1.0, 2.0]
    assert result.discounts.tolist() == pytest.approx([0.9, 0.0])
    assert result.lengths.dtype == torch.int64


def test_no_step_has_no_window() -> None:
    assert windows(rewards=torch.zeros(0, 2)).returns.shape == (0, 2)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rewards": torch.ones(2)}, ValueError, r"rewards: expected shape \[T, N\], got \[2\]"),
        ({"rewards": torch.ones(2, 1).long()}, TypeError, "rewards: expected a floating-point"),
        ({"truncated": flags(1)}, ValueError, r"truncated: .* = \[2, 1\], got \[1, 1\]"),
        ({"terminated": torch.ones(2, 1)}, TypeError, "terminated: expected a bool tensor"),
        ({"gamma": -0.1}, ValueError, "gamma: expected a number from 0 to 1, got -0.1"),
        ({"n": 0}, ValueError, "n: expected a finite number above 0, got 0"),
    ],
)
def test_wrong_arguments_are_named(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        windows(**{"rewards": column(1, 1), **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rewards": torch.ones(2)}, ValueError, r"rewards: expected shape \[B, W\], got \[2\]"),
        ({"lengths": torch.ones(2)}, TypeError, "lengths: expected an integer tensor"),
        ({"lengths": torch.ones(3).long()}, ValueError, r"lengths: .* = \[2\], got \[3\]"),
        ({"terminated": torch.ones(2)}, TypeError, "terminated: expected a bool tensor"),
        ({"terminated": torch.ones(3).bool()}, ValueError, r"terminated: .* got \[3\]"),
        ({"gamma": 2.0}, ValueError, "gamma: .* got 2.0"),
    ],
)
def test_wrong_windows_are_named(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    arguments = {
        "rewards": torch.ones(2, 3),
        "lengths": torch.tensor([1, 3]),
        "terminated": torch.zeros(2).bool(),
        "gamma": 0.9,
    }
    with pytest.raises(error, match=message):
        window_returns(**{**arguments, **changes})
