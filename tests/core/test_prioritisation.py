"""Worked values of priorities and importance weights."""

import math

import pytest
import torch

from oakemu_rl.core import importance_weights, linear, priorities


def test_the_exponent_is_applied_once_to_the_size_of_the_error() -> None:
    result = priorities(torch.tensor([16.0, -3.0, 9.0]), alpha=0.5, epsilon=0.0)
    assert result.tolist() == pytest.approx([4.0, math.sqrt(3.0), 3.0])
    assert priorities(torch.tensor([-3.0]), alpha=1.0, epsilon=0.0).tolist() == [3.0]


def test_an_error_of_0_can_still_be_drawn() -> None:
    result = priorities(torch.zeros(1), alpha=0.5, epsilon=1e-6)
    assert result.tolist() == pytest.approx([1e-3])


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_an_error_that_is_no_number_gives_no_priority(wrong: float, alpha: float) -> None:
    errors = torch.tensor([wrong, 1.0])
    result = priorities(errors, alpha=alpha, epsilon=1e-6)
    assert result.isnan().tolist() == [True, False]


def test_the_dtype_is_at_least_float32() -> None:
    for given, expected in (
        (torch.float16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ):
        assert priorities(torch.ones(1, dtype=given), alpha=0.5, epsilon=1e-6).dtype == expected


@pytest.mark.parametrize(
    ("beta", "expected"), [(1.0, [1.0, 1 / 3]), (0.5, [1.0, 0.57735]), (0.0, [1.0, 1.0])]
)
def test_weights_are_divided_by_the_largest_of_the_buffer(
    beta: float, expected: list[float]
) -> None:
    # Stored priorities 1 and 3.
    probabilities = torch.tensor([0.25, 0.75], dtype=torch.float64)
    arguments = {"smallest_probability": 0.25, "size": 2, "beta": beta}
    weights = importance_weights(probabilities=probabilities, **arguments)
    assert weights.tolist() == pytest.approx(expected, abs=1e-6)
    assert weights.dtype == torch.float32
    alone = importance_weights(probabilities=probabilities[1:], **arguments)
    assert alone.tolist() == pytest.approx(expected[1:], abs=1e-6)


def test_no_weight_is_above_1() -> None:
    weights = importance_weights(
        probabilities=torch.tensor([0.1, 0.2]), smallest_probability=0.1001, size=5, beta=1.0
    )
    assert weights.tolist() == pytest.approx([1.0, 0.5005])


def test_beta_follows_its_schedule() -> None:
    beta = linear(0.4, 1.0, 100)
    assert [beta.value(step) for step in (0, 50, 100, 1_000)] == pytest.approx([0.4, 0.7, 1.0, 1.0])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"alpha": 1.5}, "alpha: expected a number from 0 to 1, got 1.5"),
        ({"epsilon": -1e-6}, "epsilon: expected a finite number, at least 0, got -1e-06"),
        ({"td_errors": torch.ones(1, 1)}, r"td_errors: expected shape \[B\], got \[1, 1\]"),
    ],
)
def test_wrong_errors_and_exponents_are_named(changes: dict[str, object], message: str) -> None:
    arguments = {"td_errors": torch.ones(1), "alpha": 0.6, "epsilon": 1e-6}
    with pytest.raises(ValueError, match=message):
        priorities(**{**arguments, **changes})


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"probabilities": torch.ones(1).long()}, TypeError, "probabilities: expected a floating"),
        ({"probabilities": torch.ones(1, 1)}, ValueError, r"probabilities: expected shape \[B\]"),
        ({"smallest_probability": 0.0}, ValueError, "smallest_probability: .* above 0, got 0.0"),
        ({"size": 0}, ValueError, "size: .* above 0, got 0"),
        ({"beta": 1.1}, ValueError, "beta: .* from 0 to 1, got 1.1"),
    ],
)
def test_wrong_arguments_are_named(
    changes: dict[str, object], error: type[Exception], message: str
) -> None:
    arguments = {
        "probabilities": torch.ones(1),
        "smallest_probability": 0.5,
        "size": 2,
        "beta": 0.5,
    }
    with pytest.raises(error, match=message):
        importance_weights(**{**arguments, **changes})


def test_a_tensor_of_integers_holds_no_errors() -> None:
    with pytest.raises(TypeError, match="td_errors: expected a floating-point tensor"):
        priorities(torch.ones(1).long(), alpha=0.5, epsilon=1e-6)
