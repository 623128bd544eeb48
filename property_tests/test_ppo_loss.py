"""The terms of the PPO loss agree with slow sums, and so do their gradients."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import clipped_policy_loss, explained_variance, kl_estimate, value_loss
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import grid, policy_rows, tensors, value_rows, values_and_returns


def policy_agrees_with_the_slow_sum(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    loss, _, clipped = references.policy_loss(**arguments)
    divergence = references.divergence(**_log_probs(arguments))
    assert_close(result.loss, loss)
    assert_close(result.clip_fraction, clipped)
    assert_close(result.approx_kl, divergence if divergence < 1e38 else math.inf)
    assert result.loss.dtype == torch.float32


def policy_gradient_is_that_of_the_lesser_term(function: Function, arguments: Arguments) -> None:
    leaves = _leaves(arguments, "log_probs", "old_log_probs", "advantages")
    result = function(**leaves)
    result.loss.backward()
    _, gradients, _ = references.policy_loss(**arguments)
    assert_close(leaves["log_probs"].grad, gradients)
    assert leaves["old_log_probs"].grad is None
    assert leaves["advantages"].grad is None
    assert not result.approx_kl.requires_grad
    assert not result.clip_fraction.requires_grad


def divergence_agrees_with_the_slow_sum(function: Function, arguments: Arguments) -> None:
    leaves = _leaves(arguments, "log_probs", "old_log_probs")
    result = function(**leaves)
    assert_close(result, references.divergence(**arguments))
    assert result >= 0.0
    assert not result.requires_grad


def value_loss_agrees_with_the_slow_sum(function: Function, arguments: Arguments) -> None:
    leaves = _leaves(arguments, "values", "returns", "old_values")
    result = function(**leaves)
    loss, gradients = references.value_loss(**arguments)
    assert_close(result, loss)
    result.backward()
    assert_close(leaves["values"].grad, gradients)
    assert leaves["returns"].grad is None
    assert leaves["old_values"] is None or leaves["old_values"].grad is None


def explained_variance_agrees_with_the_slow_sum(function: Function, arguments: Arguments) -> None:
    result = function(**_leaves(arguments, "values", "returns"))
    assert_close(result, references.explained_variance(**arguments), tolerance=1e-3)
    assert not result.requires_grad


@st.composite
def two_log_probs(draw: st.DrawFn) -> dict[str, Any]:
    """Two policies' log-probabilities of the same actions."""
    shape = (draw(st.integers(1, 6)),)
    return {name: draw(tensors(shape, grid(3))) for name in ("log_probs", "old_log_probs")}


def _log_probs(arguments: Arguments) -> dict[str, Any]:
    return {name: arguments[name] for name in ("log_probs", "old_log_probs")}


def _leaves(arguments: Arguments, *names: str) -> dict[str, Any]:
    return {
        name: value.clone().requires_grad_() if name in names and value is not None else value
        for name, value in arguments.items()
    }


LAWS = [
    Law(
        function=clipped_policy_loss, arguments=policy_rows(), check=policy_agrees_with_the_slow_sum
    ),
    Law(
        function=clipped_policy_loss,
        arguments=policy_rows(),
        check=policy_gradient_is_that_of_the_lesser_term,
    ),
    Law(function=kl_estimate, arguments=two_log_probs(), check=divergence_agrees_with_the_slow_sum),
    Law(function=value_loss, arguments=value_rows(), check=value_loss_agrees_with_the_slow_sum),
    Law(
        function=explained_variance,
        arguments=values_and_returns(),
        check=explained_variance_agrees_with_the_slow_sum,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
