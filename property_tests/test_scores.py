"""Errors and intervals agree with the standard library and with numerical integration."""

import math
import statistics
from typing import Any

from hypothesis import strategies as st

from oakemu_rl.core import confidence_interval, standard_error, student_quantile
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_close, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import grid


def agrees_with_the_standard_library(function: Function, arguments: Arguments) -> None:
    numbers = arguments["numbers"]
    if len(numbers) == 1:
        assert function(numbers) is None
        return
    assert_close(function(numbers), statistics.stdev(numbers) / math.sqrt(len(numbers)))


def refuses_no_scores(function: Function, _arguments: Arguments) -> None:
    assert_raises(ValueError, "scores: expected at least one", lambda: function([]))


def lies_around_the_mean(function: Function, arguments: Arguments) -> None:
    numbers, level = arguments["numbers"], arguments["level"]
    interval = function(numbers, level)
    if len(numbers) == 1:
        assert interval is None
        return
    reach = student_quantile(level, len(numbers) - 1) * standard_error(numbers)
    assert_close(interval[0], statistics.fmean(numbers) - reach)
    assert_close(interval[1], statistics.fmean(numbers) + reach)


def leaves_the_level_between(function: Function, arguments: Arguments) -> None:
    level, degrees = arguments["level"], arguments["degrees"]
    quantile = function(level, degrees)
    assert_close(references.central_probability(quantile, degrees), level, tolerance=1e-5)


@st.composite
def some_scores(draw: st.DrawFn) -> dict[str, Any]:
    """Scores and a level of confidence."""
    numbers = draw(st.lists(grid(), min_size=1, max_size=8))
    return {"numbers": numbers, "level": draw(st.sampled_from([0.5, 0.9, 0.95]))}


LAWS = [
    Law(
        function=standard_error,
        arguments=some_scores(),
        check=agrees_with_the_standard_library,
    ),
    Law(function=standard_error, arguments=some_scores(), check=refuses_no_scores),
    Law(function=confidence_interval, arguments=some_scores(), check=lies_around_the_mean),
    Law(
        function=student_quantile,
        arguments=st.fixed_dictionaries(
            {"level": st.floats(0.05, 0.95), "degrees": st.integers(1, 60)}
        ),
        check=leaves_the_level_between,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
