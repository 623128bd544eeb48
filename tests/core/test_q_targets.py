"""Worked values of targets for action values."""

import math

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import NoLegalActionError, next_actions, target_q_values

NEXT_Q = torch.tensor([[1.0, 9.0, 3.0]])
MASK = torch.tensor([[True, False, True]])
NO_ACTION = torch.zeros(1, 3, dtype=torch.bool)


def target(discount: float = 0.9, **changes: Tensor | None) -> float:
    arguments: dict[str, Tensor | None] = {
        "rewards": torch.tensor([1.0]),
        "discounts": torch.tensor([discount]),
        "next_q_target": NEXT_Q,
    }
    return target_q_values(**{**arguments, **changes}).item()


def test_the_best_legal_action_counts() -> None:
    assert target() == pytest.approx(9.1)
    assert target(next_mask=MASK) == pytest.approx(3.7)
    assert target(next_mask=MASK[0]) == pytest.approx(3.7)


def test_double_lets_one_network_choose_and_the_other_value() -> None:
    online = torch.tensor([[2.0, 9.0, 1.0]])
    assert target(next_q_online=online, next_mask=MASK) == pytest.approx(1.9)
    assert target(next_q_online=online) == pytest.approx(9.1)


@pytest.mark.parametrize(
    "changes",
    [
        {"next_mask": NO_ACTION},
        {"next_mask": NO_ACTION[0]},
        {"next_q_target": torch.full((1, 3), math.nan)},
        {"next_q_target": torch.full((1, 3), math.inf), "next_q_online": NEXT_Q},
        {"next_q_online": torch.full((1, 3), math.nan), "next_mask": NO_ACTION},
    ],
)
def test_at_a_true_end_the_target_is_exactly_the_reward(changes: dict[str, Tensor]) -> None:
    assert target(discount=0.0, **changes) == 1.0


@pytest.mark.parametrize(("discount", "expected"), [(0.9, 10.0), (0.0, 1.0)])
def test_one_step_before_a_time_limit_and_before_a_death(discount: float, expected: float) -> None:
    assert target(discount, next_q_target=torch.tensor([[10.0, 4.0]])) == pytest.approx(expected)


@pytest.mark.parametrize("mask", [torch.tensor([[True, False]] * 2 + [[False] * 2] * 2)])
def test_a_living_row_without_actions_is_refused_by_number(mask: Tensor) -> None:
    arguments = {"discounts": torch.tensor([0.9, 0.9, 0.0, 0.81]), "next_mask": mask}
    message = r"next_mask\[3\]: allows none of 2 actions, although discounts\[3\] is 0.81"
    with pytest.raises(NoLegalActionError, match=message):
        target_q_values(rewards=torch.ones(4), next_q_target=torch.zeros(4, 2), **arguments)
    with pytest.raises(NoLegalActionError, match=message):
        next_actions(next_q=torch.zeros(4, 2), **arguments)


def test_the_next_action_is_the_best_legal_one() -> None:
    q_values = torch.tensor([[1.0, 9.0, 3.0], [2.0, 2.0, 1.0], [math.nan] * 3])
    mask = torch.tensor([[True, False, True], [True, True, True], [False] * 3])
    discounts = torch.tensor([0.9, 0.9, 0.0])
    actions = next_actions(next_q=q_values, discounts=discounts, next_mask=mask)
    assert actions.tolist()[:2] == [2, 0]
    assert actions.dtype == torch.int64
    assert next_actions(next_q=q_values, discounts=discounts).tolist()[:2] == [1, 0]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_the_target_is_float32_and_carries_no_gradient(dtype: torch.dtype) -> None:
    leaves = [torch.ones(2, dtype=dtype, requires_grad=True) for _ in range(2)]
    values = [torch.ones(2, 3, dtype=dtype, requires_grad=True) for _ in range(2)]
    result = target_q_values(
        rewards=leaves[0],
        discounts=leaves[1],
        next_q_target=values[0],
        next_q_online=values[1],
        next_mask=torch.tensor([True, True, False]),
    )
    assert result.tolist() == [2.0, 2.0]
    assert result.dtype == torch.float32
    assert not result.requires_grad


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"next_q_target": torch.zeros(1)}, ValueError, r"next_q_target: .* \[B, A\], got \[1\]"),
        ({"rewards": torch.zeros(1, 1)}, ValueError, r"rewards: .* = \[1\], got \[1, 1\]"),
        ({"rewards": torch.zeros(1).long()}, TypeError, "rewards: expected a floating-point"),
        ({"discounts": torch.zeros(2)}, ValueError, r"discounts: .* = \[1\], got \[2\]"),
        ({"discounts": torch.zeros(1).bool()}, TypeError, "discounts: expected a floating-point"),
        ({"next_q_online": torch.zeros(1, 2)}, ValueError, r"next_q_online: .* got \[1, 2\]"),
        ({"next_mask": torch.ones(1, 3)}, TypeError, "next_mask: expected a bool tensor"),
        ({"next_mask": NO_ACTION.expand(2, 3)}, ValueError, r"next_mask: .* got \[2, 3\]"),
        ({"next_mask": NO_ACTION[0, :2]}, ValueError, r"next_mask: .* \[A\] = \[3\], got \[2\]"),
    ],
)
def test_wrong_arguments_are_named(
    changes: dict[str, Tensor], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        target(**changes)
