"""What falls due depends on multiples passed, not on how often it is asked."""

from typing import Any

from hypothesis import strategies as st

from oakemu_rl.core import checkpoint_due, is_stale, rollouts_needed
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests


def is_due_where_a_multiple_is_passed(function: Function, arguments: Arguments) -> None:
    every, last = arguments["every_steps"], 0
    for advance in arguments["advances"]:
        now = last + advance
        passed = any(step % every == 0 for step in range(last + 1, now + 1))
        assert function(env_steps=now, last_env_steps=last, every_steps=every) is passed
        last = now


def refuses_steps_that_went_back(function: Function, arguments: Arguments) -> None:
    last = 1 + sum(arguments["advances"])
    assert_raises(
        ValueError,
        f"last_env_steps={last}",
        lambda: function(env_steps=last - 1, last_env_steps=last, every_steps=5),
    )


def is_stale_beyond_the_limit(function: Function, arguments: Arguments) -> None:
    version, limit = arguments["version"], arguments["limit"]
    verdicts = [
        function(rollout_version=version, learner_version=version + lag, max_staleness=limit)
        for lag in range(limit + 3)
    ]
    assert verdicts == [False] * (limit + 1) + [True] * 2


def is_the_least_number_that_suffices(function: Function, arguments: Arguments) -> None:
    total, size = arguments["total"], arguments["size"]
    count = function(total, size)
    assert count * size >= total
    assert count == 0 or (count - 1) * size < total


def walks() -> st.SearchStrategy[dict[str, Any]]:
    """An interval, and by how many steps the count grows between questions."""
    return st.fixed_dictionaries(
        {"every_steps": st.integers(1, 10), "advances": st.lists(st.integers(0, 25), max_size=8)}
    )


LAWS = [
    Law(function=checkpoint_due, arguments=walks(), check=is_due_where_a_multiple_is_passed),
    Law(function=checkpoint_due, arguments=walks(), check=refuses_steps_that_went_back),
    Law(
        function=is_stale,
        arguments=st.fixed_dictionaries(
            {"version": st.integers(0, 100), "limit": st.integers(0, 5)}
        ),
        check=is_stale_beyond_the_limit,
    ),
    Law(
        function=rollouts_needed,
        arguments=st.fixed_dictionaries(
            {"total": st.integers(0, 1_000), "size": st.integers(1, 100)}
        ),
        check=is_the_least_number_that_suffices,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
