"""Worked values of the terms of the PPO loss."""

import math

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import clipped_policy_loss, explained_variance, kl_estimate, value_loss


def tensor(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float32)


@pytest.mark.parametrize(
    ("ratio", "advantage", "loss", "gradient", "clipped"),
    [
        (1.0, 2.0, -2.0, -2.0, 0.0),
        (1.5, 1.0, -1.2, 0.0, 1.0),
        (0.5, 1.0, -0.5, -0.5, 1.0),
        (1.5, -1.0, 1.5, 1.5, 1.0),
        (0.5, -1.0, 0.8, 0.0, 1.0),
        (1.1, 1.0, -1.1, -1.1, 0.0),
    ],
)
def test_the_ratio_is_bounded_on_the_side_that_would_gain(
    ratio: float, advantage: float, loss: float, gradient: float, clipped: float
) -> None:
    log_probs = tensor(math.log(ratio) - 1.0).requires_grad_()
    result = clipped_policy_loss(
        log_probs=log_probs,
        old_log_probs=tensor(-1.0),
        advantages=tensor(advantage),
        clip_range=0.2,
    )
    result.loss.backward()
    assert log_probs.grad is not None
    assert result.loss.item() == pytest.approx(loss)
    assert log_probs.grad.item() == pytest.approx(gradient)
    assert result.clip_fraction.item() == clipped
    assert result.approx_kl.item() == pytest.approx(ratio - 1.0 - math.log(ratio), abs=1e-6)


def test_an_unchanged_policy_has_ratio_one() -> None:
    log_probs = tensor(-0.6931, -1.2)
    result = clipped_policy_loss(
        log_probs=log_probs, old_log_probs=log_probs, advantages=tensor(1.0, 3.0), clip_range=0.2
    )
    assert result.loss.item() == -2.0
    assert result.approx_kl.item() == 0.0
    assert result.clip_fraction.item() == 0.0


@pytest.mark.parametrize(("advantage", "loss"), [(1.0, -1.1), (0.0, -0.5)])
def test_a_ratio_that_overflows_behind_its_bound_gives_no_nan(
    advantage: float, loss: float
) -> None:
    log_probs = tensor(0.0, -1.0).requires_grad_()
    result = clipped_policy_loss(
        log_probs=log_probs,
        old_log_probs=tensor(-200.0, -1.0),
        advantages=tensor(advantage, 1.0),
        clip_range=0.2,
    )
    result.loss.backward()
    assert log_probs.grad is not None
    assert result.loss.item() == pytest.approx(loss)
    assert log_probs.grad.tolist() == [0.0, -0.5]


@pytest.mark.parametrize("clip_range", [-0.1, math.inf, math.nan])
def test_a_wrong_clip_range_is_named(clip_range: float) -> None:
    with pytest.raises(ValueError, match="clip_range: expected a finite number, at least 0"):
        clipped_policy_loss(
            log_probs=tensor(0),
            old_log_probs=tensor(0),
            advantages=tensor(1),
            clip_range=clip_range,
        )


def test_rows_of_different_numbers_are_named() -> None:
    with pytest.raises(ValueError, match=r"advantages: expected shape \[B\] = \[1\], got \[2\]"):
        clipped_policy_loss(
            log_probs=tensor(0), old_log_probs=tensor(0), advantages=tensor(1, 2), clip_range=0.2
        )
    with pytest.raises(ValueError, match=r"returns: expected shape \[B\], got \[1, 1\]"):
        value_loss(values=tensor(0), returns=tensor(0).unsqueeze(0))


def test_the_divergence_is_estimated_from_the_old_policys_actions() -> None:
    old = tensor(math.log(0.5), math.log(0.5))
    new = tensor(math.log(0.25), math.log(0.75))
    expected = 0.5 * (0.5 - 1 + math.log(2)) + 0.5 * (1.5 - 1 - math.log(1.5))
    assert kl_estimate(log_probs=new, old_log_probs=old).item() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "clip_range", "loss", "gradient"),
    [
        (1.0, 0.2, 3.24, 0.0),
        (0.1, 0.2, 3.61, -3.8),
        (-1.0, 0.2, 9.0, -6.0),
        (1.0, None, 1.0, -2.0),
    ],
)
def test_the_value_is_clipped_around_the_recorded_one(
    value: float, clip_range: float | None, loss: float, gradient: float
) -> None:
    values = tensor(value).requires_grad_()
    result = value_loss(
        values=values, returns=tensor(2.0), old_values=tensor(0.0), clip_range=clip_range
    )
    result.backward()
    assert values.grad is not None
    assert result.item() == pytest.approx(loss)
    assert values.grad.item() == pytest.approx(gradient)


def test_clipping_needs_the_recorded_values() -> None:
    with pytest.raises(ValueError, match=r"old_values: needed with clip_range=0.2, got None"):
        value_loss(values=tensor(1), returns=tensor(1), clip_range=0.2)


def test_a_value_clip_range_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match=r"clip_range: .* above 0, got 0"):
        value_loss(values=tensor(1), returns=tensor(1), old_values=tensor(1), clip_range=0.0)


@pytest.mark.parametrize(
    ("values", "returns", "expected"),
    [
        ((1, 2, 3), (1, 2, 3), 1.0),
        ((2, 2, 2), (1, 2, 3), 0.0),
        ((3, 2, 1), (1, 2, 3), -3.0),
        ((11, 12, 13), (1, 2, 3), 1.0),
        ((1, 2, 3), (5, 5, 5), 0.0),
        ((1,), (5,), 0.0),
    ],
)
def test_explained_variance_compares_spreads(
    values: tuple[float, ...], returns: tuple[float, ...], expected: float
) -> None:
    result = explained_variance(values=tensor(*values), returns=tensor(*returns))
    assert result.item() == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_types_are_widened_before_they_are_summed(dtype: torch.dtype) -> None:
    rows = torch.full((4,), 300.0, dtype=dtype)
    loss = value_loss(values=rows, returns=torch.zeros_like(rows))
    assert loss.dtype == torch.float32
    assert loss.item() == pytest.approx(90_000.0)
