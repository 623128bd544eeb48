"""Shaped rewards agree with slow sums, and a potential changes no window but at its two ends."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import (
    RewardMoments,
    clipped,
    merge_rewards,
    normalized_rewards,
    novelty_bonuses,
    potential_shaping,
    scaled,
    signs,
    window_returns,
)
from property_tests import references_of_dqn as references
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import INTEGER_DTYPES, booleans, flags, fractions, tensors


def multiplies(function: Function, arguments: Arguments) -> None:
    rows, factor = arguments["rewards"], arguments["factor"]
    assert_close(function(rows, factor=factor), [[factor * r for r in row] for row in rows])


def stays_within_the_bound(function: Function, arguments: Arguments) -> None:
    rows, bound = arguments["rewards"].tolist(), arguments["factor"]
    result = function(arguments["rewards"], bound=bound)
    assert_close(result, [[min(max(r, -bound), bound) for r in row] for row in rows])


def keeps_the_sign_alone(function: Function, arguments: Arguments) -> None:
    rows = arguments["rewards"].tolist()
    result = function(arguments["rewards"])
    assert result.tolist() == [[(r > 0.0) - (r < 0.0) for r in row] for row in rows]


def agrees_with_the_slow_gain(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    for row, length in enumerate(arguments["lengths"].tolist()):
        expected = references.shaped(
            rewards=arguments["rewards"][row, :length].tolist(),
            potentials=arguments["potentials"][row, : length + 1].tolist(),
            terminated=bool(arguments["terminated"][row]),
            gamma=arguments["gamma"],
        )
        assert_close(result[row, :length], expected)
        assert torch.equal(result[row, length:], arguments["rewards"][row, length:])


def changes_a_return_by_its_two_ends(function: Function, arguments: Arguments) -> None:
    window = {name: arguments[name] for name in ("lengths", "terminated", "gamma")}
    plain = window_returns(rewards=arguments["rewards"], **window)
    shaped = window_returns(rewards=function(**arguments), **window)
    potentials = arguments["potentials"]
    for row, length in enumerate(arguments["lengths"].tolist()):
        end = 0.0 if arguments["terminated"][row] else float(potentials[row, length])
        gain = arguments["gamma"] ** length * end - float(potentials[row, 0])
        assert_close(shaped.returns[row], float(plain.returns[row]) + gain)


def is_detached(function: Function, arguments: Arguments) -> None:
    potentials = arguments["potentials"].clone().requires_grad_()
    assert not function(**{**arguments, "potentials": potentials}).requires_grad


def falls_with_the_root_of_the_count(function: Function, arguments: Arguments) -> None:
    counts, weight = arguments["counts"], arguments["weight"]
    result = function(counts=counts, weight=weight)
    assert result.dtype == torch.float32
    assert_close(result, [weight / math.sqrt(max(count, 1)) for count in counts.tolist()])


def are_those_of_all_rewards(function: Function, arguments: Arguments) -> None:
    moments = RewardMoments()
    for batch in arguments["batches"]:
        moments = function(moments, batch)
    exact = torch.cat(arguments["batches"]).double()
    assert moments.count == len(exact)
    assert_close(moments.mean, exact.mean(), tolerance=1e-5)
    assert_close(moments.variance, exact.var(correction=0), tolerance=1e-3)
    assert type(moments.mean) is type(moments.variance) is float


def have_a_deviation_of_1_and_keep_their_signs(function: Function, arguments: Arguments) -> None:
    rewards = torch.cat(arguments["batches"])
    moments = merge_rewards(RewardMoments(), rewards)
    result = function(rewards.unsqueeze(0), moments=moments)[0]
    if rewards.min() == rewards.max():
        assert torch.equal(result, rewards)
    else:
        assert_close(result.std(correction=0), 1.0, tolerance=1e-3)
        assert torch.equal(result.sign(), rewards.sign())


@st.composite
def rewards_and_a_factor(draw: st.DrawFn) -> dict[str, Any]:
    """Rewards, and a number above 0."""
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    return {"rewards": draw(tensors(shape)), "factor": draw(st.sampled_from([0.25, 1.0, 10.0]))}


@st.composite
def windows_with_potentials(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `potential_shaping`; what must not be looked at is NaN at times."""
    rows, width = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    lengths = draw(tensors((rows,), st.integers(1, width), torch.int64))
    terminated, potentials = draw(flags((rows,))), draw(tensors((rows, width + 1)))
    if draw(booleans):
        places = torch.arange(width + 1)
        potentials[places > lengths.unsqueeze(1)] = torch.nan
        potentials[(places == lengths.unsqueeze(1)) & terminated.unsqueeze(1)] = torch.nan
    return {
        "rewards": draw(tensors((rows, width))),
        "potentials": potentials,
        "lengths": lengths.to(draw(st.sampled_from(INTEGER_DTYPES))),
        "terminated": terminated,
        "gamma": draw(fractions),
    }


@st.composite
def visits(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `novelty_bonuses`."""
    dtype = draw(st.sampled_from(INTEGER_DTYPES))
    counts = draw(tensors((draw(st.integers(1, 5)),), st.integers(0, 120), dtype))
    return {"counts": counts, "weight": draw(st.sampled_from([0.0, 0.5, 2.0]))}


@st.composite
def batches_of_rewards(draw: st.DrawFn) -> dict[str, Any]:
    """Batches of rewards, all of them equal at times; 0.1 has no exact mean."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    if draw(booleans):
        return {"batches": [torch.full((length,), 0.1) for length in lengths]}
    return {"batches": [draw(tensors((length,))) for length in lengths]}


LAWS = [
    Law(function=function, arguments=arguments, check=check)
    for function, arguments, check in (
        (scaled, rewards_and_a_factor(), multiplies),
        (clipped, rewards_and_a_factor(), stays_within_the_bound),
        (signs, rewards_and_a_factor(), keeps_the_sign_alone),
        (potential_shaping, windows_with_potentials(), agrees_with_the_slow_gain),
        (potential_shaping, windows_with_potentials(), changes_a_return_by_its_two_ends),
        (potential_shaping, windows_with_potentials(), is_detached),
        (novelty_bonuses, visits(), falls_with_the_root_of_the_count),
        (merge_rewards, batches_of_rewards(), are_those_of_all_rewards),
        (normalized_rewards, batches_of_rewards(), have_a_deviation_of_1_and_keep_their_signs),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
