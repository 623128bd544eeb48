"""Schedules agree with a slow walk over their sections, stay in bounds and survive a file."""

import json
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from oakemu_rl.core import Schedule, constant, cosine, exponential, linear, sequence
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import any_schedules, moving_sections

STEPS = st.one_of(st.integers(0, 1_200), st.just(10**9))


def agrees_with_the_slow_walk(function: Function, arguments: Arguments) -> None:
    schedule, step = arguments["self"], arguments["step"]
    value, expected = function(schedule, step), references.schedule_value(schedule, step)
    largest = max(abs(bound) for bound in schedule.bounds())
    assert abs(value - expected) <= 1e-9 * max(largest, 1e-6)
    least, greatest = schedule.bounds()
    assert least <= value <= greatest
    assert isinstance(value, float)


def refuses_a_negative_step(function: Function, arguments: Arguments) -> None:
    assert_raises(ValueError, "step: got -1", lambda: function(arguments["self"], -1))


def are_met_and_never_passed(function: Function, arguments: Arguments) -> None:
    schedule, (least, greatest) = arguments["self"], function(arguments["self"])
    ends = [value for section in schedule.sections for value in (section.start, section.end)]
    assert (least, greatest) == (min(ends), max(ends))
    assert least <= schedule.value(arguments["step"]) <= greatest


def comes_back_from_a_file(function: Function, arguments: Arguments) -> None:
    schedule = arguments["self"]
    data = function(schedule)
    assert isinstance(data, float | dict)
    text = json.dumps(data, default=lambda value: f"not plain data: {value!r}")
    assert "not plain data" not in text
    assert Schedule.from_data(json.loads(text)) == schedule


def reads_what_was_written(function: Function, arguments: Arguments) -> None:
    assert function(arguments["data"]) == Schedule.from_data(arguments["data"])


def names_the_fault(function: Function, _arguments: Arguments) -> None:
    data = {"kind": "linear", "start": 1.0, "end": 0.0, "steps": 10}
    wrong: tuple[tuple[Any, str], ...] = (
        ({**data, "ned": 1.0}, "unknown key 'ned'"),
        ({**data, "kind": "linaer"}, "kind: got 'linaer'"),
        ({**data, "start": "1.0"}, "start: got '1.0'"),
        ({**data, "steps": 0}, "steps: got 0"),
        ({**data, "steps": 1.5}, "steps: got 1.5"),
        ({**data, "kind": "exponential"}, "end: got 0.0"),
        ({"kind": "linear", "start": 1.0}, "end: missing"),
        ({"kind": "sequence", "sections": [data, {**data, "end": None}]}, "sections[1].end"),
        ({"kind": "sequence", "sections": [0.5, data]}, "sections[0]: got the constant 0.5"),
        ("1.0", "got '1.0'"),
        (True, "got True"),
        (float("nan"), "value: got nan"),
    )
    for item, mention in wrong:
        assert_raises(ValueError, mention, lambda item=item: function(item))


def holds_one_value(function: Function, arguments: Arguments) -> None:
    schedule = function(arguments["value"])
    assert {schedule.value(step) for step in (0, 1, 10**9)} == {float(arguments["value"])}


def goes_from_start_to_end(function: Function, arguments: Arguments) -> None:
    schedule, steps = function(**arguments), arguments["steps"]
    assert_near(schedule.value(0), arguments["start"])
    assert_near(schedule.value(steps), arguments["end"])
    assert_near(schedule.value(10**9), arguments["end"])
    values = [schedule.value(step) for step in range(steps + 1)]
    falls = arguments["start"] >= arguments["end"]
    assert values == sorted(values, reverse=falls) or _wobble(values, falls) < 1e-9


def starts_as_its_curve_does(function: Function, arguments: Arguments) -> None:
    """At a quarter of the way the three curves lie apart."""
    schedule = function(1.0, 16.0, 4 * arguments["steps"])
    expected = {"linear": 4.75, "cosine": 3.196699, "exponential": 2.0}
    curve = schedule.sections[0].curve
    assert curve == arguments["curve"]
    assert abs(schedule.value(arguments["steps"]) - expected[curve]) < 1e-6
    assert schedule.value(4 * arguments["steps"] - 1) < 16.0


def plays_its_parts_in_turn(function: Function, arguments: Arguments) -> None:
    parts = arguments["parts"]
    whole, first = function(*parts), 0
    for part in parts:
        length = part.sections[0].steps
        for step in (0, length // 2, length - 1):
            assert whole.value(first + step) == part.value(step)
        first += length
    assert whole.value(first) == parts[-1].value(10**9)


def assert_near(value: float, expected: float) -> None:
    assert abs(value - expected) <= 1e-9 * abs(expected)


def _wobble(values: list[float], falls: bool) -> float:
    sign, largest = 1 if falls else -1, max(abs(value) for value in values)
    return max(sign * (after - before) for before, after in pairwise(values)) / largest


def curves(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """What a curve is to be called, and a length."""
    return st.fixed_dictionaries({"curve": st.just(name), "steps": st.integers(1, 50)})


def ends(least: float) -> st.SearchStrategy[dict[str, Any]]:
    """Start, end and steps of a section."""
    value = st.floats(least, 1e3)
    return st.fixed_dictionaries({"start": value, "end": value, "steps": st.integers(1, 40)})


def whole(**others: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A schedule as `self`, with other arguments."""
    return st.fixed_dictionaries({"self": any_schedules(), **others})


def _law(function: Function, arguments: Any, check: Any) -> Law:
    return Law(function=function, arguments=arguments, check=check)


LAWS = [
    _law(Schedule.value, whole(step=STEPS), agrees_with_the_slow_walk),
    _law(
        Schedule.value,
        st.fixed_dictionaries({"self": moving_sections(), "step": STEPS}),
        agrees_with_the_slow_walk,
    ),
    _law(Schedule.value, whole(), refuses_a_negative_step),
    _law(Schedule.bounds, whole(step=STEPS), are_met_and_never_passed),
    _law(Schedule.to_data, whole(), comes_back_from_a_file),
    _law(
        Schedule.from_data,
        st.fixed_dictionaries({"data": any_schedules().map(Schedule.to_data)}),
        reads_what_was_written,
    ),
    _law(Schedule.from_data, st.just({}), names_the_fault),
    _law(constant, st.fixed_dictionaries({"value": st.floats(-1e6, 1e6)}), holds_one_value),
    _law(linear, ends(-1e3), goes_from_start_to_end),
    _law(cosine, ends(-1e3), goes_from_start_to_end),
    _law(exponential, ends(1e-3), goes_from_start_to_end),
    _law(linear, curves("linear"), starts_as_its_curve_does),
    _law(cosine, curves("cosine"), starts_as_its_curve_does),
    _law(exponential, curves("exponential"), starts_as_its_curve_does),
    _law(
        sequence,
        st.fixed_dictionaries({"parts": st.lists(moving_sections(), min_size=1, max_size=4)}),
        plays_its_parts_in_turn,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
