"""Learner and actor wait for each other, and never both at once."""

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from oakemu_rl.core import may_act, may_learn, updates_due
from property_tests.laws import Arguments, Function, Law
from property_tests.mutants import law_tests

RATIO = ("env_steps", "warm_up_steps", "steps_per_update")
LEARNING = (*RATIO, "updates", "available", "batch_size")


def fit_whole_into_the_steps_after_the_warm_up(function: Function, arguments: Arguments) -> None:
    given = _some(arguments, RATIO)
    due = function(**given)
    after = given["env_steps"] - given["warm_up_steps"]
    steps = Fraction(given["steps_per_update"])
    assert type(due) is int
    assert due >= 0
    if due:
        assert due * steps <= after
    assert (due + 1) * steps > after


def allows_an_update_that_is_due_and_can_be_drawn(function: Function, arguments: Arguments) -> None:
    due = updates_due(**_some(arguments, RATIO))
    can = arguments["updates"] < due and arguments["available"] >= arguments["batch_size"]
    assert function(**_some(arguments, LEARNING)) is can


def allows_a_lag_and_no_more(function: Function, arguments: Arguments) -> None:
    lag = updates_due(**_some(arguments, RATIO)) - arguments["updates"]
    waits = lag > arguments["max_lag"] and arguments["available"] >= arguments["batch_size"]
    assert function(**arguments) is not waits


def lets_the_actor_go_on_where_the_learner_waits(function: Function, arguments: Arguments) -> None:
    assert function(**_some(arguments, LEARNING)) or may_act(**arguments)


def goes_on_where_the_learner_waits(function: Function, arguments: Arguments) -> None:
    assert function(**arguments) or may_learn(**_some(arguments, LEARNING))


def _some(arguments: Arguments, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: arguments[name] for name in names}


@st.composite
def counts(draw: st.DrawFn) -> dict[str, Any]:
    """Counts of a run, with as many updates as are due, a few more or a few less."""
    # Binary fractions, so that no quotient is a matter of rounding.
    ratio = {
        "env_steps": draw(st.integers(0, 40)),
        "warm_up_steps": draw(st.integers(0, 20)),
        "steps_per_update": draw(st.sampled_from([0.25, 0.5, 1.0, 2.5, 4.0])),
    }
    due = updates_due(**ratio)
    return {
        **ratio,
        "updates": max(0, due + draw(st.integers(-5, 3))),
        "available": draw(st.integers(0, 6)),
        "batch_size": draw(st.integers(1, 6)),
        "max_lag": draw(st.integers(0, 4)),
    }


LAWS = [
    Law(function=function, arguments=counts(), check=check)
    for function, check in (
        (updates_due, fit_whole_into_the_steps_after_the_warm_up),
        (may_learn, allows_an_update_that_is_due_and_can_be_drawn),
        (may_learn, lets_the_actor_go_on_where_the_learner_waits),
        (may_act, allows_a_lag_and_no_more),
        (may_act, goes_on_where_the_learner_waits),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
