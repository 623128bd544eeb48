"""Windows agree with a slow walk, and sampled ones with those formed over stored steps."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import n_step_returns, window_returns
from property_tests import references_of_dqn as references
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import INTEGER_DTYPES, booleans, flags, fractions, tensors


def agree_with_the_slow_walk(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    slow = references.windows(**arguments)
    for index, tensor in enumerate((result.returns, result.discounts, result.lengths)):
        assert_close(tensor, [[window[index] for window in row] for row in slow])
    assert result.returns.dtype == result.discounts.dtype == torch.float32
    assert result.lengths.dtype == torch.int64


def gives_what_the_steps_behind_cannot_change(function: Function, arguments: Arguments) -> None:
    """A window does not see what lies behind its end."""
    before = function(**arguments)
    ended = arguments["terminated"] | arguments["truncated"]
    for t in range(len(ended) - 1):
        changed = arguments["rewards"].clone()
        changed[t + 1 :, ended[t]] = torch.nan
        after = function(**{**arguments, "rewards": changed})
        assert torch.equal(after.returns[t, ended[t]], before.returns[t, ended[t]])


def sampled_windows_give_the_numbers_of_stored_steps(
    function: Function, arguments: Arguments
) -> None:
    """Each window that `n_step_returns` forms, cut out and handed over."""
    stored = n_step_returns(**arguments)
    steps, environments = arguments["rewards"].shape
    width = arguments["n"]
    cells = [(t, e) for t in range(steps) for e in range(environments)]
    lengths = torch.tensor([int(stored.lengths[cell]) for cell in cells])
    rewards = torch.zeros(len(cells), width)
    terminated = torch.zeros(len(cells), dtype=torch.bool)
    for row, (t, e) in enumerate(cells):
        end = t + int(lengths[row])
        rewards[row, : end - t] = arguments["rewards"][t:end, e]
        terminated[row] = arguments["terminated"][end - 1, e]
    result = function(
        rewards=rewards, lengths=lengths, terminated=terminated, gamma=arguments["gamma"]
    )
    assert_close(result.returns, stored.returns.flatten().tolist())
    assert torch.equal(result.discounts, stored.discounts.flatten())
    assert torch.equal(result.lengths, lengths)


def look_at_nothing_behind_their_length(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    for row, length in enumerate(arguments["lengths"].tolist()):
        taken = arguments["rewards"][row, :length].tolist()
        expected = references.window(taken, arguments["terminated"][row], arguments["gamma"])
        assert_close(result.returns[row], expected[0])
        assert_close(result.discounts[row], expected[1])
    assert result.lengths.tolist() == arguments["lengths"].tolist()
    assert result.lengths.dtype == torch.int64


def are_detached(function: Function, arguments: Arguments) -> None:
    rewards = arguments["rewards"].clone().requires_grad_()
    result = function(**{**arguments, "rewards": rewards})
    assert not result.returns.requires_grad
    assert not result.discounts.requires_grad


@st.composite
def stored_steps(draw: st.DrawFn) -> dict[str, Any]:
    """Steps of some environments, and windows shorter and longer than they are."""
    shape = (draw(st.integers(1, 7)), draw(st.integers(1, 3)))
    return {
        "rewards": draw(tensors(shape)),
        "terminated": draw(flags(shape)),
        "truncated": draw(flags(shape)),
        "gamma": draw(fractions),
        "n": draw(st.integers(1, 9)),
    }


@st.composite
def sampled_windows(draw: st.DrawFn) -> dict[str, Any]:
    """Windows, behind whose length there is NaN at times."""
    rows, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    lengths = draw(tensors((rows,), st.integers(1, width), torch.int64))
    rewards = draw(tensors((rows, width)))
    if draw(booleans):
        rewards[torch.arange(width) >= lengths.unsqueeze(1)] = torch.nan
    return {
        "rewards": rewards,
        "lengths": lengths.to(draw(st.sampled_from(INTEGER_DTYPES))),
        "terminated": draw(flags((rows,))),
        "gamma": draw(fractions),
    }


LAWS = [
    Law(function=function, arguments=arguments, check=check)
    for function, arguments, check in (
        (n_step_returns, stored_steps(), agree_with_the_slow_walk),
        (n_step_returns, stored_steps(), gives_what_the_steps_behind_cannot_change),
        (n_step_returns, stored_steps(), are_detached),
        (window_returns, stored_steps(), sampled_windows_give_the_numbers_of_stored_steps),
        (window_returns, sampled_windows(), look_at_nothing_behind_their_length),
        (window_returns, sampled_windows(), are_detached),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
