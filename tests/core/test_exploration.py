"""Worked values of acting with random actions in between."""

import math
from functools import partial

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import NoLegalActionError, epsilon_greedy_actions
from oakemu_rl.core.exploration import epsilon_greedy_choices, legal_actions

Q_VALUES = torch.tensor([[1.0, 9.0, 3.0], [4.0, 4.0, 4.0]])
MASK = torch.tensor([[True, False, True], [False, True, True]])


def actions(
    q_values: Tensor = Q_VALUES, mask: Tensor | None = None, epsilon: float = 0.0, seed: int = 1
) -> Tensor:
    return epsilon_greedy_actions(
        q_values=q_values,
        mask=mask,
        epsilon=epsilon,
        generator=torch.Generator().manual_seed(seed),
    )


def test_without_chance_the_best_legal_action_is_taken() -> None:
    assert actions().tolist() == [1, 0]
    assert actions(mask=MASK).tolist() == [2, 1]
    assert actions(mask=MASK[1]).tolist() == [1, 1]
    assert actions().dtype == torch.int64


def test_values_that_are_no_numbers_do_not_make_an_illegal_action_legal() -> None:
    for value in (-math.inf, math.inf, math.nan):
        q_values = torch.tensor([[value, 9.0, value]])
        assert actions(q_values, MASK[:1]).item() in (0, 2)


def test_random_actions_are_uniform_over_the_legal_ones() -> None:
    rows = 6_000
    drawn = actions(Q_VALUES[:1].expand(rows, 3), MASK[1], epsilon=1.0)
    counts = torch.bincount(drawn, minlength=3).tolist()
    assert counts[0] == 0
    assert counts[1] == pytest.approx(rows / 2, abs=200)


def test_an_epsilon_of_a_half_leaves_half_of_the_actions_greedy() -> None:
    rows = 6_000
    drawn = actions(Q_VALUES[:1].expand(rows, 3), epsilon=0.5)
    counts = torch.bincount(drawn, minlength=3).tolist()
    assert counts[1] == pytest.approx(rows * (0.5 + 0.5 / 3), abs=200)


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_as_many_numbers_are_drawn_whatever_happens(mask: Tensor | None, epsilon: float) -> None:
    generator = torch.Generator().manual_seed(5)
    epsilon_greedy_actions(q_values=Q_VALUES, mask=mask, epsilon=epsilon, generator=generator)
    expected = torch.Generator().manual_seed(5)
    torch.rand(2, 4, generator=expected)
    assert torch.equal(generator.get_state(), expected.get_state())


def test_the_global_generator_is_left_alone() -> None:
    before = torch.get_rng_state()
    actions(epsilon=0.5)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_row_without_legal_actions_is_refused_by_number() -> None:
    nothing = torch.tensor([[True, False, True], [False] * 3])
    with pytest.raises(NoLegalActionError, match=r"environment 1: .* none of 3 actions"):
        actions(mask=nothing)
    with pytest.raises(NoLegalActionError, match="environment 0"):
        actions(mask=nothing[1], epsilon=1.0)


def test_plain_numbers_choose_the_greatest_value_or_the_greatest_draw() -> None:
    choose = partial(
        epsilon_greedy_choices,
        q_values=lambda: [[1.0, 9.0, 3.0], [1.0, 9.0, 3.0]],
        draws=[[0.5, 0.9, 0.1, 0.2], [0.2, 0.9, 0.1, 0.3]],
    )
    assert choose(epsilon=0.3) == [1, 0]
    assert choose(epsilon=0.3, legal=[[0, 2], [1, 2]]) == [2, 2]
    with pytest.raises(NoLegalActionError, match="environment 1: none of its 3 actions is legal"):
        choose(epsilon=0.3, legal=[[0], []])
    with pytest.raises(ValueError, match="epsilon: expected a number from 0 to 1, got -1"):
        choose(epsilon=-1)


def test_values_are_asked_for_only_where_an_action_is_not_random() -> None:
    asked = []

    def values() -> list[list[float]]:
        asked.append(1)
        return [[1.0, 2.0], [2.0, 1.0]]

    choose = partial(epsilon_greedy_choices, q_values=values)
    assert choose(draws=[[0.1, 0.4, 0.3], [0.1, 0.3, 0.4]], epsilon=0.2) == [0, 1]
    assert asked == []
    assert choose(draws=[[0.1, 0.4, 0.3], [0.3, 0.3, 0.4]], epsilon=0.2) == [0, 0]
    assert asked == [1]


def test_the_numbers_of_legal_actions() -> None:
    assert legal_actions(MASK) == [[0, 2], [1, 2]]
    with pytest.raises(NoLegalActionError, match="environment 1: its action mask allows none of 3"):
        legal_actions(torch.tensor([[True, False, True], [False] * 3]))
    with pytest.raises(ValueError, match=r"mask: expected shape \[B, A\]"):
        legal_actions(MASK[0])
    with pytest.raises(TypeError, match="mask: expected a bool tensor"):
        legal_actions(MASK.float())


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"q_values": torch.zeros(3)}, ValueError, r"q_values: expected shape \[B, A\], got \[3\]"),
        ({"q_values": Q_VALUES.long()}, TypeError, "q_values: expected a floating-point tensor"),
        ({"mask": torch.ones(2, 3)}, TypeError, "mask: expected a bool tensor"),
        ({"mask": MASK[:1]}, ValueError, r"mask: .* = \[2, 3\], got \[1, 3\]"),
        ({"mask": MASK[0, :2]}, ValueError, r"mask: .* \[A\] = \[3\], got \[2\]"),
        ({"epsilon": 1.5}, ValueError, "epsilon: expected a number from 0 to 1, got 1.5"),
    ],
)
def test_wrong_arguments_are_named(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        actions(**changes)
