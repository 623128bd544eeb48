"""A step's successor is the next row, unless the episode ended there."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core.successors import successor_values
from property_tests.laws import (
    Arguments,
    Function,
    Law,
    Mutant,
    assert_close,
    assert_killed,
    assert_raises,
    each_law,
    each_mutant,
)
from property_tests.mutants import MUTANTS
from property_tests.strategies import flags, tensors


def follows_each_environment(function: Function, arguments: Arguments) -> None:
    values, final_values = arguments["values"], arguments["final_values"]
    result = function(**arguments)
    steps, environments = values.shape
    expected = [
        [
            float(final_values[t, n])
            if arguments["ended"][t, n]
            else float(values[t + 1, n] if t + 1 < steps else arguments["last_values"][n])
            for n in range(environments)
        ]
        for t in range(steps)
    ]
    assert_close(result, expected)


def refuses_other_shapes_and_dtypes(function: Function, arguments: Arguments) -> None:
    for name in ("values", "final_values", "ended", "last_values"):
        wrong = {**arguments, name: arguments[name][None]}
        assert_raises(ValueError, f"{name}: expected", lambda wrong=wrong: function(**wrong))
    numbers = {**arguments, "ended": arguments["ended"].float()}
    assert_raises(TypeError, "ended: expected", lambda: function(**numbers))


@st.composite
def collected_values(draw: st.DrawFn) -> dict[str, Any]:
    """Values of a rollout; final values that must not be looked at are NaN."""
    shape = (draw(st.integers(1, 6)), draw(st.integers(1, 3)))
    ended = draw(flags(shape))
    final_values = draw(tensors(shape))
    final_values[~ended] = torch.nan
    return {
        "values": draw(tensors(shape)),
        "final_values": final_values,
        "ended": ended,
        "last_values": draw(tensors(shape[1:])),
    }


LAWS = [
    Law(function=successor_values, arguments=collected_values(), check=check)
    for check in (follows_each_environment, refuses_other_shapes_and_dtypes)
]


@each_law(LAWS)
def test_the_law_holds(law: Law) -> None:
    law.examine(law.function)


@each_mutant(MUTANTS, LAWS)
def test_a_law_notices_the_mutant(mutant: Mutant) -> None:
    assert_killed(mutant, LAWS)
