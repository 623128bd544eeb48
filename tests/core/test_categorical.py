"""Worked values of distributions over returns."""

import math

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import (
    atoms_of_actions,
    categorical_loss,
    categorical_projection,
    expected_values,
    rows_outside_support,
)

SUPPORT = torch.tensor([-1.0, 0.0, 1.0])
NEXT = torch.tensor([[0.25, 0.5, 0.25]])


def rows(reward: float, discount: float, probabilities: Tensor = NEXT) -> dict[str, Tensor]:
    return {
        "rewards": torch.tensor([reward]),
        "discounts": torch.tensor([discount]),
        "next_probabilities": probabilities,
        "support": SUPPORT,
    }


@pytest.mark.parametrize(
    ("reward", "discount", "expected"),
    [
        (0.0, 1.0, [0.25, 0.5, 0.25]),
        (0.0, 0.5, [0.125, 0.75, 0.125]),
        (0.5, 1.0, [0.125, 0.375, 0.5]),
        (1.0, 1.0, [0.0, 0.25, 0.75]),
        (9.0, 1.0, [0.0, 0.0, 1.0]),
        (-9.0, 0.9, [1.0, 0.0, 0.0]),
        (0.25, 0.0, [0.0, 0.75, 0.25]),
        (1.0, 0.0, [0.0, 0.0, 1.0]),
        (7.0, 0.0, [0.0, 0.0, 1.0]),
    ],
)
def test_moved_atoms_are_shared_by_their_neighbours(
    reward: float, discount: float, expected: list[float]
) -> None:
    assert categorical_projection(**rows(reward, discount))[0].tolist() == pytest.approx(expected)


def test_at_a_true_end_all_mass_is_at_the_reward_whatever_the_network_says() -> None:
    nothing = torch.full((1, 3), math.nan)
    assert categorical_projection(**rows(0.5, 0.0, nothing)).tolist() == [[0.0, 0.5, 0.5]]


def test_a_reward_that_is_no_number_shows_in_the_target() -> None:
    assert categorical_projection(**rows(math.nan, 0.9)).isnan().any()


def test_no_mass_is_negative_where_the_last_atom_is_a_rounded_number() -> None:
    support = torch.linspace(0.1, 4.1, 12)
    for last in range(50):
        stretched = support * (1.0 + last / 7)
        target = categorical_projection(
            **rows(9e9, 1.0, torch.full((1, 12), 1 / 12)) | {"support": stretched}
        )
        assert target[0].tolist() == pytest.approx([0.0] * 11 + [1.0])
        assert (target >= 0.0).all()


def test_the_support_of_the_paper_keeps_mass_and_mean() -> None:
    support = torch.linspace(-10.0, 10.0, 51)
    probabilities = torch.randn(64, 51, generator=torch.Generator().manual_seed(1)).softmax(1)
    rewards = torch.linspace(-1.0, 1.0, 64)
    discounts = torch.full((64,), 0.9)
    result = categorical_projection(
        rewards=rewards, discounts=discounts, next_probabilities=probabilities, support=support
    )
    assert result.sum(dim=1).tolist() == pytest.approx([1.0] * 64)
    expected = rewards + discounts * (probabilities @ support)
    assert (result @ support).tolist() == pytest.approx(expected.tolist(), abs=1e-5)
    assert result.dtype == torch.float32


@pytest.mark.parametrize(("low", "high", "atoms"), [(0.0, 1_000.0, 601), (1_000.0, 1_001.0, 51)])
def test_supports_that_torch_spaces_evenly_pass(low: float, high: float, atoms: int) -> None:
    support = torch.linspace(low, high, atoms)
    equal = torch.full((1, atoms), 1.0 / atoms)
    result = categorical_projection(**{**rows(0.0, 1.0, equal), "support": support})
    assert result[0].tolist() == pytest.approx(equal[0].tolist(), abs=1e-4)


def test_rows_count_whose_mean_the_support_cannot_hold() -> None:
    result = rows_outside_support(
        rewards=torch.tensor([0.0, 0.9, 1.0, 1.1, -1.1, 0.1]),
        discounts=torch.tensor([1.0, 1.0, 0.0, 0.0, 0.9, 0.5]),
        next_probabilities=torch.tensor([[0.0, 0.5, 0.5]] * 5 + [[0.0, 0.0, 1.0]]),
        support=SUPPORT,
    )
    # 0.5, 1.4, 1.0, 1.1, -0.65 and 0.6
    assert result.item() == 2
    assert result.dtype == torch.int64


def test_a_true_end_within_the_support_is_inside() -> None:
    assert rows_outside_support(**rows(1.0, 0.0, torch.full((1, 3), math.nan))).item() == 0


def test_the_mean_of_each_action() -> None:
    probabilities = torch.tensor([[[0.0, 0.0, 1.0], [0.5, 0.25, 0.25]]])
    assert expected_values(probabilities=probabilities, support=SUPPORT).tolist() == [[1.0, -0.25]]


def test_the_atoms_of_the_action_taken() -> None:
    atoms = torch.arange(12.0).reshape(2, 2, 3).requires_grad_()
    taken = atoms_of_actions(atoms=atoms, actions=torch.tensor([1, 0], dtype=torch.uint8))
    assert taken.tolist() == [[3.0, 4.0, 5.0], [6.0, 7.0, 8.0]]
    taken.sum().backward()
    assert atoms.grad is not None
    assert atoms.grad[:, :, 0].tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_the_loss_is_the_cross_entropy_of_each_row() -> None:
    logits = torch.tensor([[0.0, 0.0, -math.inf]], requires_grad=True)
    targets = torch.tensor([[0.25, 0.75, 0.0]], requires_grad=True)
    loss = categorical_loss(log_probabilities=logits.log_softmax(1), targets=targets)
    assert loss.tolist() == pytest.approx([math.log(2.0)])
    loss.sum().backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[0.25, -0.25, 0.0]]
    assert targets.grad is None


@pytest.mark.parametrize("function", [categorical_projection, rows_outside_support])
@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"rewards": torch.zeros(2)}, ValueError, r"rewards: .* = \[1\], got \[2\]"),
        ({"rewards": torch.zeros(1).long()}, TypeError, "rewards: expected a floating-point"),
        ({"discounts": torch.zeros(1, 1)}, ValueError, r"discounts: .* got \[1, 1\]"),
        ({"next_probabilities": torch.zeros(3)}, ValueError, r"next_probabilities: .* \[B, Z\]"),
        ({"support": torch.zeros(4)}, ValueError, r"support: .* \[Z\] = \[3\], got \[4\]"),
        ({"support": torch.tensor([0.0, 1.0, 3.0])}, ValueError, "got gaps from 1 to 2"),
        ({"support": torch.tensor([1.0, 0.0, -1.0])}, ValueError, "got gaps from -1 to -1"),
        ({"support": torch.tensor([0.0, math.nan, 1.0])}, ValueError, "support: expected evenly"),
    ],
)
def test_wrong_arguments_are_named(
    function: object, changes: dict[str, Tensor], error: type[Exception], message: str
) -> None:
    assert callable(function)
    with pytest.raises(error, match=message):
        function(**{**rows(0.0, 1.0), **changes})


def test_a_support_has_two_atoms_or_more() -> None:
    arguments = {**rows(0.0, 1.0, torch.ones(1, 1)), "support": torch.ones(1)}
    with pytest.raises(ValueError, match="support: expected two atoms or more, got 1"):
        categorical_projection(**arguments)


def test_wrong_atoms_are_named() -> None:
    with pytest.raises(ValueError, match=r"probabilities: expected shape \[B, A, Z\]"):
        expected_values(probabilities=NEXT, support=SUPPORT)
    with pytest.raises(ValueError, match=r"support: expected shape \[Z\] = \[4\], got \[3\]"):
        expected_values(probabilities=torch.ones(1, 1, 4), support=SUPPORT)
    with pytest.raises(TypeError, match="actions: expected an integer tensor"):
        atoms_of_actions(atoms=torch.ones(1, 2, 3), actions=torch.zeros(1))
    with pytest.raises(ValueError, match=r"targets: .* \[B, Z\] = \[1, 3\], got \[1, 4\]"):
        categorical_loss(log_probabilities=NEXT, targets=torch.ones(1, 4))
