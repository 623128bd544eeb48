"""The total loss is a weighted sum, and what has no weight can do no harm to it."""

import math

import attrs
import torch
from hypothesis import strategies as st

from oakemu_rl.core.minibatches import PPOMinibatchMetrics, SkipCause
from oakemu_rl.core.total_loss import mean_metrics, total_loss
from oakemu_rl.core.weighting import LossWeights
from property_tests.laws import (
    Arguments,
    Function,
    Law,
    Mutant,
    assert_close,
    assert_killed,
    each_law,
    each_mutant,
)
from property_tests.mutants import MUTANTS
from property_tests.strategies import grid

TERMS = ("policy_loss", "value_loss", "entropy", "behaviour_cloning_loss")
MEASURED = [
    field.name
    for field in attrs.fields(PPOMinibatchMetrics)
    if field.name not in ("skipped", "skip_cause")
]


def is_the_weighted_sum_in_value_and_gradient(function: Function, arguments: Arguments) -> None:
    weights, numbers = arguments["weights"], arguments["numbers"]
    factors = (weights.policy, weights.value, -weights.entropy, weights.behaviour_cloning)
    terms = {
        name: torch.tensor(number, requires_grad=True)
        for name, number in zip(TERMS, numbers, strict=True)
    }
    loss = function(weights=weights, **terms)
    pairs = [pair for pair in zip(factors, numbers, strict=True) if pair[0] != 0.0]
    assert_close(loss, math.fsum(factor * number for factor, number in pairs))
    assert loss.requires_grad == bool(pairs)
    if pairs:
        loss.backward()
    for factor, term in zip(factors, terms.values(), strict=True):
        if factor == 0.0:
            assert term.grad is None
        else:
            assert term.grad is not None
            assert_close(term.grad, factor)


def is_the_mean_of_those_taken(function: Function, arguments: Arguments) -> None:
    metrics = arguments["metrics"]
    taken = [each for each in metrics if not each.skipped]
    mean = function(metrics)
    assert (mean.skipped, mean.skip_cause) == (False, SkipCause.NONE)
    for name in MEASURED:
        numbers = [getattr(each, name) for each in taken]
        expected = math.fsum(numbers) / len(numbers) if numbers else 0.0
        assert_close(getattr(mean, name), expected)


@st.composite
def weighted_terms(draw: st.DrawFn) -> dict[str, object]:
    """Weights, some 0, and terms that are NaN where the weight is 0 at times."""
    weights = [draw(st.sampled_from([0.0, 0.01, 0.5, 1.0])) for _ in TERMS]
    numbers = [
        math.nan if weight == 0.0 and draw(st.booleans()) else draw(grid(4)) for weight in weights
    ]
    policy, value, entropy, cloning = weights
    return {
        "weights": LossWeights(
            policy=policy, value=value, entropy=entropy, behaviour_cloning=cloning
        ),
        "numbers": numbers,
    }


@st.composite
def measurements(draw: st.DrawFn) -> dict[str, object]:
    """Metrics of some updates; those that were skipped measured NaN."""
    metrics = []
    for _ in range(draw(st.integers(0, 4))):
        skipped = draw(st.booleans())
        numbers = {name: math.nan if skipped else draw(grid(4)) for name in MEASURED}
        cause = SkipCause.NON_FINITE_LOSS if skipped else SkipCause.NONE
        metrics.append(PPOMinibatchMetrics(**numbers, skipped=skipped, skip_cause=cause))
    return {"metrics": metrics}


LAWS = [
    Law(
        function=total_loss,
        arguments=weighted_terms(),
        check=is_the_weighted_sum_in_value_and_gradient,
    ),
    Law(function=mean_metrics, arguments=measurements(), check=is_the_mean_of_those_taken),
]


@each_law(LAWS)
def test_the_law_holds(law: Law) -> None:
    law.examine(law.function)


@each_mutant(MUTANTS, LAWS)
def test_a_law_notices_the_mutant(mutant: Mutant) -> None:
    assert_killed(mutant, LAWS)
