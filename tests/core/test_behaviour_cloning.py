"""Worked values of behaviour cloning."""

import math

import pytest
import torch

from oakemu_rl.core import behaviour_cloning_accuracy, behaviour_cloning_loss

LOGITS = torch.tensor([[0.0, 0.0, 5.0], [math.log(3.0), 0.0, 0.0]])
ACTIONS = torch.tensor([0, 0])
MASK = torch.tensor([True, True, False])


def test_the_loss_is_the_mean_cross_entropy_over_legal_actions() -> None:
    loss = behaviour_cloning_loss(logits=LOGITS, actions=ACTIONS, mask=MASK)
    assert loss.item() == pytest.approx((math.log(2.0) - math.log(0.75)) / 2)


def test_weights_make_a_weighted_mean() -> None:
    loss = behaviour_cloning_loss(
        logits=LOGITS, actions=ACTIONS, mask=MASK, weights=torch.tensor([3.0, 1.0])
    )
    assert loss.item() == pytest.approx((3 * math.log(2.0) - math.log(0.75)) / 4)


def test_weights_of_zero_leave_nothing_to_learn() -> None:
    logits = LOGITS.clone().requires_grad_()
    loss = behaviour_cloning_loss(logits=logits, actions=ACTIONS, weights=torch.zeros(2))
    loss.backward()
    assert loss.item() == 0.0
    assert logits.grad is not None
    assert not logits.grad.any()


def test_labels_are_smoothed_over_legal_actions_alone() -> None:
    loss = behaviour_cloning_loss(
        logits=LOGITS[1:], actions=ACTIONS[1:], mask=MASK, label_smoothing=0.2
    )
    expected = -0.8 * math.log(0.75) - 0.2 * (math.log(0.75) + math.log(0.25)) / 2
    assert loss.item() == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_actions_of_any_integer_dtype_give_the_same_loss(dtype: torch.dtype) -> None:
    wanted = behaviour_cloning_loss(logits=LOGITS, actions=ACTIONS)
    assert torch.equal(behaviour_cloning_loss(logits=LOGITS, actions=ACTIONS.to(dtype)), wanted)


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (2, r"actions\[1\]: got 2, .* legal there: \[0, 1\]"),
        (3, r"actions\[1\]: got 3"),
        (-1, r"actions\[1\]: got -1"),
    ],
)
def test_an_illegal_label_is_refused_with_its_row(label: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        behaviour_cloning_loss(logits=LOGITS, actions=torch.tensor([0, label]), mask=MASK)


@pytest.mark.parametrize("weight", [-1.0, math.nan, math.inf])
def test_a_wrong_weight_is_refused_with_its_row(weight: float) -> None:
    with pytest.raises(ValueError, match=r"weights\[1\]: got .*, allowed is a finite number"):
        behaviour_cloning_loss(logits=LOGITS, actions=ACTIONS, weights=torch.tensor([1.0, weight]))


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(TypeError, match="actions: expected an integer tensor"):
        behaviour_cloning_loss(logits=LOGITS, actions=torch.tensor([0.0, 1.0]))
    with pytest.raises(ValueError, match=r"actions: expected shape \[B\] = \[2\], got \[3\]"):
        behaviour_cloning_loss(logits=LOGITS, actions=torch.tensor([0, 1, 0]))
    with pytest.raises(ValueError, match=r"label_smoothing: .* got 1.5"):
        behaviour_cloning_loss(logits=LOGITS, actions=ACTIONS, label_smoothing=1.5)


def test_accuracy_is_the_share_of_rows_whose_likeliest_legal_action_was_shown() -> None:
    accuracy = behaviour_cloning_accuracy(logits=LOGITS, actions=ACTIONS)
    assert accuracy.item() == 0.5
    assert behaviour_cloning_accuracy(logits=LOGITS, actions=ACTIONS, mask=MASK).item() == 1.0
