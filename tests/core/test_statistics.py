"""Worked values of moments and of the certainty of scores."""

import pytest
import torch

from oakemu_rl.core import (
    Moments,
    batch_moments,
    confidence_interval,
    merge_moments,
    standard_error,
    student_quantile,
)


def test_two_batches_have_the_moments_of_all_their_rows() -> None:
    first = batch_moments(torch.tensor([[1.0], [3.0]]))
    merged = merge_moments(first, batch_moments(torch.tensor([[5.0], [7.0], [9.0]])))
    assert merged.count.item() == 5
    assert merged.mean.tolist() == [5.0]
    assert merged.variance.item() == pytest.approx(8.0)


def test_a_million_small_batches_do_not_wear_the_variance_out() -> None:
    batch = batch_moments(torch.tensor([[999.0], [1001.0]]))
    moments = batch
    for _ in range(40):
        moments = merge_moments(moments, moments)
    merged = merge_moments(moments, batch)
    assert merged.count.item() == 2 * 2**40 + 2
    assert merged.mean.tolist() == [1000.0]
    assert merged.variance.tolist() == [1.0]


def test_no_rows_change_nothing() -> None:
    none = Moments(count=torch.tensor(0), mean=torch.zeros(2), variance=torch.ones(2))
    merged = merge_moments(none, batch_moments(torch.tensor([[1.0, 2.0], [3.0, 4.0]])))
    assert merged.count.item() == 2
    assert merged.mean.tolist() == [2.0, 3.0]
    assert merged.variance.tolist() == [1.0, 1.0]


def test_moments_stay_float32() -> None:
    moments = batch_moments(torch.ones(3, 2, dtype=torch.float64))
    assert moments.mean.dtype == moments.variance.dtype == torch.float32


def test_moments_of_other_features_are_refused() -> None:
    with pytest.raises(ValueError, match=r"second.mean: expected shape \[F\] = \[2\], got \[3\]"):
        merge_moments(batch_moments(torch.ones(1, 2)), batch_moments(torch.ones(1, 3)))


def test_no_rows_have_no_moments() -> None:
    with pytest.raises(ValueError, match=r"rows: expected at least one row, got shape \[0, 2\]"):
        batch_moments(torch.ones(0, 2))


@pytest.mark.parametrize(
    ("level", "degrees", "quantile"),
    [
        (0.95, 1, 12.70620474),
        (0.95, 2, 4.30265273),
        (0.95, 3, 3.18244631),
        (0.95, 9, 2.26215716),
        (0.95, 29, 2.04522964),
        (0.99, 30, 2.74999565),
        (0.90, 1_000, 1.64637882),
    ],
)
def test_the_quantiles_are_those_of_the_tables(level: float, degrees: int, quantile: float) -> None:
    assert student_quantile(level, degrees) == pytest.approx(quantile, rel=1e-8)


def test_the_interval_of_three_scores() -> None:
    assert standard_error([1.0, 2.0, 3.0]) == pytest.approx(0.57735, rel=1e-5)
    assert confidence_interval([1.0, 2.0, 3.0]) == pytest.approx((-0.484138, 4.484138), rel=1e-5)


def test_the_spread_of_one_score_is_unknown() -> None:
    assert standard_error([7.0]) is None
    assert confidence_interval([7.0]) is None


def test_wrong_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="scores: expected at least one score"):
        confidence_interval([])
    with pytest.raises(ValueError, match="level: expected a number between 0 and 1, got 95"):
        confidence_interval([1.0, 2.0], level=95)
    with pytest.raises(ValueError, match="degrees: expected a finite number above 0, got 0"):
        student_quantile(0.95, 0)
