"""Priorities and importance weights agree with slow formulas, and no odd error passes."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import importance_weights, priorities
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import GRID, fractions, tensors

ODD = st.sampled_from([math.nan, math.inf, -math.inf])


def agree_with_the_slow_power(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    alpha, epsilon = arguments["alpha"], arguments["epsilon"]
    expected = [
        (abs(error) + epsilon) ** alpha if math.isfinite(error) else math.nan
        for error in arguments["td_errors"].tolist()
    ]
    assert_close(result, expected, tolerance=1e-6)
    assert result.dtype == arguments["td_errors"].dtype
    assert (result[result.isfinite()] > 0.0).all()


def carry_no_gradient(function: Function, arguments: Arguments) -> None:
    errors = arguments["td_errors"].clone().requires_grad_()
    assert not function(**{**arguments, "td_errors": errors}).requires_grad


def are_divided_by_the_largest_of_the_buffer(function: Function, arguments: Arguments) -> None:
    stored, drawn, beta = arguments["stored"], arguments["drawn"], arguments["beta"]
    shares = [priority / sum(stored) for priority in stored]
    raw = [(len(stored) * share) ** -beta for share in shares]
    result = function(
        probabilities=torch.tensor([shares[item] for item in drawn], dtype=arguments["dtype"]),
        smallest_probability=min(shares),
        size=len(stored),
        beta=beta,
    )
    assert_close(result, [raw[item] / max(raw) for item in drawn])
    assert (result <= 1.0).all()
    assert result.dtype == torch.float32


@st.composite
def errors(draw: st.DrawFn) -> dict[str, Any]:
    """Errors of which some are no numbers."""
    rows = draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return {
        "td_errors": draw(tensors((rows,), st.one_of(GRID, GRID, ODD), dtype)),
        "alpha": draw(fractions),
        "epsilon": draw(st.sampled_from([1e-6, 0.01, 1.0])),
    }


@st.composite
def drawn_items(draw: st.DrawFn) -> dict[str, Any]:
    """Stored priorities, and which items were drawn from them."""
    stored = draw(st.lists(st.integers(1, 100), min_size=1, max_size=6))
    drawn = draw(st.lists(st.integers(0, len(stored) - 1), min_size=1, max_size=6))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    return {"stored": stored, "drawn": drawn, "beta": draw(fractions), "dtype": dtype}


LAWS = [
    Law(function=priorities, arguments=errors(), check=agree_with_the_slow_power),
    Law(function=priorities, arguments=errors(), check=carry_no_gradient),
    Law(
        function=importance_weights,
        arguments=drawn_items(),
        check=are_divided_by_the_largest_of_the_buffer,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
