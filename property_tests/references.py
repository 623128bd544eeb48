"""Slow versions of core functions: plain Python over float64, one number at a time."""

import math
from typing import Any

from torch import Tensor

from oakemu_rl.core.schedules import Curve, Schedule


def advantages(
    *,
    rewards: Tensor,
    values: Tensor,
    next_values: Tensor,
    terminated: Tensor,
    truncated: Tensor,
    gamma: float,
    gae_lambda: float,
    valid: Tensor | None,
) -> list[list[float]]:
    """The recursion of generalised advantage estimation, backward in time, column by column."""
    steps, environments = rewards.shape
    result = [[0.0] * environments for _ in range(steps)]
    for n in range(environments):
        later = 0.0
        for t in reversed(range(steps)):
            if valid is not None and not valid[t, n]:
                later = 0.0
                continue
            successor = 0.0 if terminated[t, n] else float(next_values[t, n])
            if terminated[t, n] or truncated[t, n]:
                later = 0.0
            delta = float(rewards[t, n]) + gamma * successor - float(values[t, n])
            later = delta + gamma * gae_lambda * later
            result[t][n] = later
    return result


def normalized(numbers: list[float]) -> list[float]:
    """Mean 0, standard deviation 1 with n - 1; zeros if all equal, unchanged if only one."""
    if len(numbers) == 1:
        return numbers
    mean = math.fsum(numbers) / len(numbers)
    squares = math.fsum((number - mean) ** 2 for number in numbers)
    deviation = math.sqrt(squares / (len(numbers) - 1))
    if min(numbers) == max(numbers):
        return [0.0] * len(numbers)
    return [(number - mean) / (deviation + 1e-8) for number in numbers]


def legal_rows(logits: Tensor, mask: Tensor | None) -> list[list[bool]]:
    """The mask as rows of bools."""
    if mask is None:
        return [[True] * logits.shape[1] for _ in range(logits.shape[0])]
    return mask.expand(logits.shape).tolist()


def log_probs(*, logits: Tensor, mask: Tensor | None) -> list[list[float]]:
    """The log-softmax over the legal actions of each row."""
    rows = []
    for numbers, legal in zip(logits.tolist(), legal_rows(logits, mask), strict=True):
        kept = [number for number, is_legal in zip(numbers, legal, strict=True) if is_legal]
        largest = max(kept)
        total = largest + math.log(math.fsum(math.exp(number - largest) for number in kept))
        rows.append(
            [
                number - total if is_legal else -math.inf
                for number, is_legal in zip(numbers, legal, strict=True)
            ]
        )
    return rows


def entropy(*, logits: Tensor, mask: Tensor | None) -> list[float]:
    """The entropy of each row over its legal actions."""
    return [
        -math.fsum(math.exp(number) * number for number in row if number > -math.inf)
        for row in log_probs(logits=logits, mask=mask)
    ]


def policy_loss(
    *, log_probs: Tensor, old_log_probs: Tensor, advantages: Tensor, clip_range: float
) -> tuple[float, list[float], float]:
    """The clipped surrogate, its gradient by `log_probs`, and the share of clipped ratios."""
    rows = len(log_probs)
    terms, gradients, clipped = [], [], 0
    for new, old, advantage in zip(
        log_probs.tolist(), old_log_probs.tolist(), advantages.tolist(), strict=True
    ):
        ratio = math.exp(new - old)
        bounded = min(max(ratio, 1.0 - clip_range), 1.0 + clip_range)
        terms.append(min(ratio * advantage, bounded * advantage))
        moves = ratio * advantage <= bounded * advantage
        gradients.append(-ratio * advantage / rows if moves else 0.0)
        clipped += abs(ratio - 1.0) > clip_range
    return -math.fsum(terms) / rows, gradients, clipped / rows


def divergence(*, log_probs: Tensor, old_log_probs: Tensor) -> float:
    """mean(ratio - 1 - log ratio)."""
    changes = (log_probs.double() - old_log_probs.double()).tolist()
    return math.fsum(math.exp(change) - 1.0 - change for change in changes) / len(changes)


def value_loss(
    *, values: Tensor, returns: Tensor, old_values: Tensor | None, clip_range: float | None
) -> tuple[float, list[float]]:
    """The clipped or plain squared error and its gradient by `values`, away from ties."""
    rows = len(values)
    terms, gradients = [], []
    for index in range(rows):
        value, target = float(values[index]), float(returns[index])
        term, gradient = (value - target) ** 2, 2.0 * (value - target)
        if clip_range is not None and old_values is not None:
            old = float(old_values[index])
            clipped = old + min(max(value - old, -clip_range), clip_range)
            if (clipped - target) ** 2 > term and clipped != value:
                term, gradient = (clipped - target) ** 2, 0.0
        terms.append(term)
        gradients.append(gradient / rows)
    return math.fsum(terms) / rows, gradients


def explained_variance(*, values: Tensor, returns: Tensor) -> float:
    """1 - Var(R - V) / Var(R), and 0 where all returns are equal."""
    targets = returns.tolist()
    if min(targets) == max(targets):
        return 0.0
    errors = [target - value for target, value in zip(targets, values.tolist(), strict=True)]
    return 1.0 - _variance(errors) / _variance(targets)


def cloning_loss(
    *,
    logits: Tensor,
    actions: Tensor,
    mask: Tensor | None,
    weights: Tensor | None,
    label_smoothing: float,
) -> float:
    """The weighted mean of smoothed cross-entropies over legal actions."""
    factors = [1.0] * len(actions) if weights is None else weights.tolist()
    total = 0.0
    for row, action, factor in zip(
        log_probs(logits=logits, mask=mask), actions.tolist(), factors, strict=True
    ):
        legal = [number for number in row if number > -math.inf]
        smooth = math.fsum(legal) / len(legal)
        total -= factor * ((1.0 - label_smoothing) * row[action] + label_smoothing * smooth)
    return total / math.fsum(factors) if math.fsum(factors) > 0.0 else 0.0


def schedule_value(schedule: Schedule, step: int) -> float:
    """Walk over the sections, then evaluate the one that holds `step`."""
    first = 0
    for section in schedule.sections:
        if step < first + section.steps:
            fraction = (step - first) / section.steps
            if section.curve is Curve.EXPONENTIAL:
                return section.start * (section.end / section.start) ** fraction
            if section.curve is Curve.COSINE:
                fraction = (1.0 - math.cos(math.pi * fraction)) / 2.0
            return section.start + (section.end - section.start) * fraction
        first += section.steps
    return schedule.sections[-1].end


def central_probability(t: float, degrees: int, pieces: int = 2_000) -> float:
    """P(-t <= T <= t) of Student's T: Simpson's rule over the density."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(
        degrees * math.pi
    )
    width = t / pieces
    total = 0.0
    for index in range(pieces + 1):
        factor = 1 if index in (0, pieces) else 4 if index % 2 else 2
        total += factor * (1.0 + (index * width) ** 2 / degrees) ** (-(degrees + 1) / 2)
    return 2.0 * scale * total * width / 3.0


def _variance(numbers: list[Any]) -> float:
    mean = math.fsum(numbers) / len(numbers)
    return math.fsum((number - mean) ** 2 for number in numbers) / len(numbers)
