"""Advantages agree with the slow recursion, whatever lies beyond an episode's end."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import generalized_advantages, normalize_advantages
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import rollouts, tensors


def agrees_with_the_slow_recursion(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    assert_close(result.advantages, references.advantages(**arguments))
    assert_close(result.returns, result.advantages + arguments["values"])


def is_float32_and_detached(function: Function, arguments: Arguments) -> None:
    leaves = {
        name: value.requires_grad_() if name in ("rewards", "values", "next_values") else value
        for name, value in arguments.items()
    }
    result = function(**leaves)
    for tensor in (result.advantages, result.returns):
        assert tensor.dtype == torch.float32
        assert not tensor.requires_grad


def is_unmoved_by_other_environments(function: Function, arguments: Arguments) -> None:
    alone = {
        name: value[:, :1] if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }
    assert_close(function(**alone).advantages, function(**arguments).advantages[:, :1])


def agrees_with_the_slow_formula(function: Function, arguments: Arguments) -> None:
    numbers = arguments["advantages"].tolist()
    assert_close(function(**arguments), references.normalized(numbers))


def gives_no_nan(function: Function, arguments: Arguments) -> None:
    result = function(arguments["advantages"].requires_grad_())
    assert result.isfinite().all()
    assert result.dtype == torch.float32
    assert not result.requires_grad


@st.composite
def vectors(draw: st.DrawFn) -> dict[str, Any]:
    """Advantages, all equal at times; 0.1 has no exact mean."""
    length = draw(st.integers(1, 8))
    equal = st.just(torch.full((length,), 0.1))
    return {"advantages": draw(st.one_of(tensors((length,)), equal))}


LAWS = [
    Law(function=generalized_advantages, arguments=rollouts(), check=check)
    for check in (
        agrees_with_the_slow_recursion,
        is_float32_and_detached,
        is_unmoved_by_other_environments,
    )
] + [
    Law(function=normalize_advantages, arguments=vectors(), check=check)
    for check in (agrees_with_the_slow_formula, gives_no_nan)
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
