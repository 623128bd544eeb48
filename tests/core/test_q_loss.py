"""Worked values of errors of action values and their losses."""

import pytest
import torch

from oakemu_rl.core import huber_loss, squared_loss, td_errors, weighted_mean

Q_VALUES = torch.tensor([[1.0, 4.0], [2.0, 3.0]])


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_an_error_is_prediction_minus_target(dtype: torch.dtype) -> None:
    errors = td_errors(
        q_values=Q_VALUES,
        actions=torch.tensor([1, 0], dtype=dtype),
        targets=torch.tensor([1.0, 5.0]),
    )
    assert errors.tolist() == [3.0, -3.0]


def test_gradient_reaches_the_action_taken_alone() -> None:
    q_values = Q_VALUES.clone().requires_grad_()
    targets = torch.tensor([1.0, 5.0], requires_grad=True)
    weights = torch.tensor([2.0, 1.0], requires_grad=True)
    errors = td_errors(q_values=q_values, actions=torch.tensor([1, 0]), targets=targets)
    weighted_mean(huber_loss(errors, delta=1.0), weights=weights).backward()
    assert q_values.grad is not None
    assert q_values.grad.tolist() == [[0.0, 1.0], [-0.5, 0.0]]
    assert targets.grad is None
    assert weights.grad is None


def test_huber_is_quadratic_and_then_linear() -> None:
    errors = torch.tensor([0.0, 0.5, -1.0, 3.0, -5.0])
    assert huber_loss(errors, delta=1.0).tolist() == [0.0, 0.125, 0.5, 2.5, 4.5]
    assert huber_loss(errors, delta=2.0).tolist() == [0.0, 0.125, 0.5, 4.0, 8.0]


def test_half_of_the_square_agrees_with_huber_near_0() -> None:
    errors = torch.tensor([0.0, 0.5, -1.0, 3.0])
    assert squared_loss(errors).tolist() == [0.0, 0.125, 0.5, 4.5]


def test_the_mean_is_over_rows_and_not_over_weights() -> None:
    losses = torch.tensor([4.0, 2.0])
    assert weighted_mean(losses).item() == 3.0
    assert weighted_mean(losses, weights=torch.tensor([0.5, 0.5])).item() == 1.5
    doubles = weighted_mean(losses, weights=torch.tensor([0.5, 1.0], dtype=torch.float64))
    assert doubles.item() == 2.0
    assert doubles.dtype == torch.float32


def test_wrong_arguments_are_named() -> None:
    actions, targets = torch.tensor([0, 1]), torch.zeros(2)
    with pytest.raises(ValueError, match=r"q_values: expected shape \[B, A\], got \[2\]"):
        td_errors(q_values=targets, actions=actions, targets=targets)
    with pytest.raises(TypeError, match="actions: expected an integer tensor"):
        td_errors(q_values=Q_VALUES, actions=targets, targets=targets)
    with pytest.raises(ValueError, match=r"actions: expected shape \[B\] = \[2\], got \[1\]"):
        td_errors(q_values=Q_VALUES, actions=actions[:1], targets=targets)
    with pytest.raises(ValueError, match=r"targets: expected shape \[B\] = \[2\], got \[2, 1\]"):
        td_errors(q_values=Q_VALUES, actions=actions, targets=targets.unsqueeze(1))
    with pytest.raises(ValueError, match=r"delta: expected a finite number above 0, got 0.0"):
        huber_loss(targets, delta=0.0)
    with pytest.raises(ValueError, match=r"td_errors: expected shape \[B\], got \[2, 2\]"):
        squared_loss(Q_VALUES)
    with pytest.raises(TypeError, match="losses: expected a floating-point tensor"):
        weighted_mean(actions)
    with pytest.raises(ValueError, match=r"weights: expected shape \[B\] = \[2\], got \[1\]"):
        weighted_mean(targets, weights=torch.ones(1))
