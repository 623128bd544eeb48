"""Wrong versions of statistics and scores."""

import math
from statistics import NormalDist
from typing import Any

from torch import Tensor

from oakemu_rl import core
from oakemu_rl.core import scores
from property_tests.laws import mutant_of


@mutant_of(core.batch_moments)
def variance_over_n_minus_one(rows: Tensor) -> core.Moments:
    right = core.batch_moments(rows)
    factor = len(rows) / max(len(rows) - 1, 1)
    return core.Moments(count=right.count, mean=right.mean, variance=right.variance * factor)


@mutant_of(core.batch_moments)
def variance_by_difference_of_squares(rows: Tensor) -> core.Moments:
    right, rows = core.batch_moments(rows), rows.float()
    spread = rows.square().mean(dim=0) - rows.mean(dim=0).square()
    return core.Moments(count=right.count, mean=right.mean, variance=spread)


@mutant_of(core.merge_moments)
def mean_of_means(first: core.Moments, second: core.Moments) -> core.Moments:
    right = core.merge_moments(first, second)
    return core.Moments(
        count=right.count, mean=(first.mean + second.mean) / 2, variance=right.variance
    )


@mutant_of(core.merge_moments)
def spread_between_means_forgotten(first: core.Moments, second: core.Moments) -> core.Moments:
    right = core.merge_moments(first, second)
    weight = second.count / right.count.clamp_min(1)
    spread = first.variance + weight * (second.variance - first.variance)
    return core.Moments(count=right.count, mean=right.mean, variance=spread)


@mutant_of(core.merge_moments)
def moments_updated_in_place(first: core.Moments, second: core.Moments) -> core.Moments:
    right = core.merge_moments(first, second)
    first.count.copy_(right.count)
    return right


@mutant_of(core.standard_error)
def spread_of_scores_not_of_their_mean(numbers: Any) -> float | None:
    error = core.standard_error(numbers)
    return None if error is None else error * math.sqrt(len(numbers))


@mutant_of(core.standard_error)
def error_over_n(numbers: Any) -> float | None:
    error = core.standard_error(numbers)
    return None if error is None else error * math.sqrt((len(numbers) - 1) / len(numbers))


@mutant_of(core.confidence_interval)
def interval_of_a_normal(numbers: Any, level: float = 0.95) -> tuple[float, float] | None:
    error = core.standard_error(numbers)
    if error is None:
        return None
    mean, reach = sum(numbers) / len(numbers), NormalDist().inv_cdf((1 + level) / 2) * error
    return mean - reach, mean + reach


@mutant_of(core.confidence_interval)
def interval_on_one_side(numbers: Any, level: float = 0.95) -> tuple[float, float] | None:
    return core.confidence_interval(numbers, level=abs(2 * level - 1) or level)


@mutant_of(scores.student_quantile)
def one_degree_too_many(level: float, degrees: int) -> float:
    return scores.student_quantile(level, degrees + 1)
