"""What surrounds one update: true successors, the total of the terms, and the guards."""

import math
from statistics import fmean
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import LossWeights, PPOMinibatchMetrics, SkipCause
from oakemu_rl.core.guards import bad_updates_in_a_row, skip_cause
from oakemu_rl.core.successors import successor_values
from oakemu_rl.core.total_loss import mean_metrics, total_loss
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import booleans, flags, grid, tensors

BAD = (SkipCause.NON_FINITE_LOSS, SkipCause.NON_FINITE_GRADIENT)
TERMS = ("policy_loss", "value_loss", "entropy", "behaviour_cloning_loss")


def are_the_values_met_next(function: Function, arguments: Arguments) -> None:
    values, ended = arguments["values"], arguments["ended"]
    steps, environments = values.shape
    result = function(**arguments)
    for t in range(steps):
        for n in range(environments):
            following = values[t + 1, n] if t + 1 < steps else arguments["last_values"][n]
            expected = arguments["final_values"][t, n] if ended[t, n] else following
            assert result[t, n] == expected


def sums_what_has_weight(function: Function, arguments: Arguments) -> None:
    weights = arguments["weights"]
    factors = (weights.policy, weights.value, -weights.entropy, weights.behaviour_cloning)
    pairs = list(zip(factors, TERMS, strict=True))
    # A term without weight may be NaN and must leave no trace, in the sum or in gradients.
    leaves = {
        name: torch.tensor(arguments[name] if factor else math.nan, requires_grad=True)
        for factor, name in pairs
    }
    result = function(weights=weights, **leaves)
    assert_close(result, math.fsum(factor * arguments[name] for factor, name in pairs))
    if any(factors):
        result.backward()
    for factor, name in pairs:
        gradient = leaves[name].grad
        assert (gradient is None) if factor == 0.0 else (gradient == factor)


def average_the_updates_taken(function: Function, arguments: Arguments) -> None:
    metrics = arguments["metrics"]
    taken = [each.total_loss for each in metrics if not each.skipped]
    assert_close(function(metrics).total_loss, fmean(taken) if taken else 0.0)
    assert function(metrics).skipped is False


def is_that_of_the_table(function: Function, arguments: Arguments) -> None:
    scaled_up = (arguments["loss_scale"] or 1.0) > 1.0
    overflow = SkipCause.SCALER_BACKOFF if scaled_up else SkipCause.NON_FINITE_GRADIENT
    table = {(True, True): SkipCause.NONE, (True, False): overflow}
    seen = (arguments["loss_finite"], arguments["gradient_finite"])
    assert function(**arguments) is table.get(seen, SkipCause.NON_FINITE_LOSS)


def counts_bad_updates_since_the_last_good_one(function: Function, arguments: Arguments) -> None:
    causes, count = arguments["causes"], 0
    for cause in causes:
        count = function(count, cause)
    good = [index for index, cause in enumerate(causes) if cause is SkipCause.NONE]
    since = causes[good[-1] :] if good else causes
    assert count == sum(cause in BAD for cause in since)


@st.composite
def collected_values(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `successor_values`; final values are NaN where no episode ended."""
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, 3)))
    ended = draw(flags(shape))
    final_values = draw(tensors(shape))
    final_values[~ended] = torch.nan
    return {
        "values": draw(tensors(shape)),
        "final_values": final_values,
        "ended": ended,
        "last_values": draw(tensors(shape[1:])),
    }


@st.composite
def weighted_terms(draw: st.DrawFn) -> dict[str, Any]:
    """Numbers for the four terms, and weights of which some are 0."""
    weight = st.sampled_from([0.0, 0.5, 2.0])
    names = ("policy", "value", "entropy", "behaviour_cloning")
    weights = LossWeights(**{name: draw(weight) for name in names})
    return {"weights": weights, **{name: draw(grid()) for name in TERMS}}


@st.composite
def measured_updates(draw: st.DrawFn) -> dict[str, Any]:
    """Metrics of some updates; those of the skipped ones are NaN."""
    metrics = []
    for loss in draw(st.lists(grid(), max_size=5)):
        skipped = draw(booleans)
        metrics.append(
            PPOMinibatchMetrics(total_loss=math.nan if skipped else loss, skipped=skipped)
        )
    return {"metrics": metrics}


LAWS = [
    Law(function=successor_values, arguments=collected_values(), check=are_the_values_met_next),
    Law(function=total_loss, arguments=weighted_terms(), check=sums_what_has_weight),
    Law(function=mean_metrics, arguments=measured_updates(), check=average_the_updates_taken),
    Law(
        function=skip_cause,
        arguments=st.fixed_dictionaries(
            {
                "loss_finite": booleans,
                "gradient_finite": booleans,
                "loss_scale": st.sampled_from([None, 0.5, 1.0, 2.0, 65_536.0]),
            }
        ),
        check=is_that_of_the_table,
    ),
    Law(
        function=bad_updates_in_a_row,
        arguments=st.fixed_dictionaries({"causes": st.lists(st.sampled_from(SkipCause))}),
        check=counts_bad_updates_since_the_last_good_one,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
