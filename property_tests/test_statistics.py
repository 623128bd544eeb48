"""Moments merged batch by batch are those of all rows at once."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import Moments, batch_moments, merge_moments
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import tensors


def agree_with_float64(function: Function, arguments: Arguments) -> None:
    rows = arguments["rows"]
    result = function(rows)
    assert result.mean.dtype == result.variance.dtype == torch.float32
    assert_moments(result, rows)


def are_those_of_all_rows(function: Function, arguments: Arguments) -> None:
    first, *others = arguments["batches"]
    merged = batch_moments(first)
    for batch in others:
        content = merged.count.clone(), merged.mean.clone(), merged.variance.clone()
        following = function(merged, batch_moments(batch))
        assert torch.equal(content[0], merged.count), "the function wrote to its arguments"
        assert torch.equal(content[1], merged.mean)
        assert torch.equal(content[2], merged.variance)
        merged = following
    assert_moments(merged, torch.cat(arguments["batches"]))


def are_left_alone_by_no_rows(function: Function, arguments: Arguments) -> None:
    moments = batch_moments(arguments["rows"])
    zeros = torch.zeros_like(moments.mean)
    none = Moments(count=torch.tensor(0), mean=zeros, variance=zeros)
    for merged in (function(none, moments), function(moments, none)):
        assert_moments(merged, arguments["rows"])


def assert_moments(moments: Moments, rows: torch.Tensor) -> None:
    exact = rows.double()
    assert moments.count == len(rows)
    assert moments.count.dtype == torch.int64
    assert_close(moments.mean, exact.mean(dim=0), tolerance=1e-5)
    assert_close(moments.variance, exact.var(dim=0, correction=0), tolerance=1e-2)


@st.composite
def batches(draw: st.DrawFn) -> dict[str, Any]:
    """Batches of one width, all of them far from 0 at times."""
    width, offset = draw(st.integers(1, 3)), draw(st.sampled_from([0.0, 10_000.0]))
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    return {"batches": [draw(tensors((length, width))) + offset for length in lengths]}


def one_batch() -> st.SearchStrategy[dict[str, Any]]:
    """The first of some batches."""
    return batches().map(lambda drawn: {"rows": drawn["batches"][0]})


LAWS = [
    Law(function=batch_moments, arguments=one_batch(), check=agree_with_float64),
    Law(function=merge_moments, arguments=batches(), check=are_those_of_all_rows),
    Law(function=merge_moments, arguments=one_batch(), check=are_left_alone_by_no_rows),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
