"""How surely a mean score is known. Plain numbers, no torch."""

import math
from collections.abc import Sequence

from oakemu_rl.core.number_checks import check_positive


def standard_error(scores: Sequence[float]) -> float | None:
    """The standard error of the mean, s / sqrt(n) with s over n - 1; None for one score.

    Raises:
        ValueError: there is no score.
    """
    mean = _mean(scores)
    if len(scores) == 1:
        return None
    squares = math.fsum((score - mean) ** 2 for score in scores)
    return math.sqrt(squares / (len(scores) - 1) / len(scores))


def confidence_interval(scores: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The interval that holds the true mean with probability `level`; None for one score.

    mean -+ t * s / sqrt(n), where t is the quantile of Student's distribution with n - 1 degrees of
    freedom: exact for normal scores, near enough for others when there are many.

    Raises:
        ValueError: there is no score, or `level` is not between 0 and 1.
    """
    error = standard_error(scores)
    if error is None:
        return None
    mean, reach = _mean(scores), student_quantile(level, len(scores) - 1) * error
    return mean - reach, mean + reach


def student_quantile(level: float, degrees: int) -> float:
    """The t with P(-t <= T <= t) = level, for Student's T with this many degrees of freedom.

    The probability is a finite sum in cos(theta), theta = arctan(t / sqrt(degrees)) (Abramowitz and
    Stegun 1964, 26.7.3 and 26.7.4); it rises with theta, which is found by bisection.

    Raises:
        ValueError: `level` is not between 0 and 1, or `degrees` is below 1.
    """
    check_positive("degrees", degrees)
    if not 0.0 < level < 1.0:
        raise ValueError(f"level: expected a number between 0 and 1, got {level!r}")
    least, greatest = 0.0, math.pi / 2
    while least < (middle := (least + greatest) / 2) < greatest:
        if _central_probability(middle, degrees) < level:
            least = middle
        else:
            greatest = middle
    return math.sqrt(degrees) * math.tan(greatest)


def _central_probability(theta: float, degrees: int) -> float:
    sine, cosine = math.sin(theta), math.cos(theta)
    if degrees == 1:
        return 2.0 * theta / math.pi
    odd = degrees % 2
    term = cosine if odd else 1.0
    total = 0.0
    for power in range(2 + odd, degrees + 1, 2):
        total += term
        term *= cosine * cosine * (power - 1) / power
    return 2.0 / math.pi * (theta + sine * total) if odd else sine * total


def _mean(scores: Sequence[float]) -> float:
    if not scores:
        raise ValueError("scores: expected at least one score, got none")
    return math.fsum(scores) / len(scores)
