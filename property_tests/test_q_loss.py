"""Losses of action values agree with slow sums, and so do their gradients."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import huber_loss, squared_loss, td_errors, weighted_mean
from property_tests import references_of_dqn as references
from property_tests.laws import Arguments, Function, Law, assert_close
from property_tests.mutants import law_tests
from property_tests.strategies import FLOAT_DTYPES, INTEGER_DTYPES, booleans, tensors


def are_predictions_minus_targets(function: Function, arguments: Arguments) -> None:
    leaves = {name: arguments[name].clone().requires_grad_() for name in ("q_values", "targets")}
    result = function(**leaves, actions=arguments["actions"])
    assert result.dtype == torch.float32
    actions = arguments["actions"].tolist()
    taken = [float(arguments["q_values"][row, action]) for row, action in enumerate(actions)]
    expected = [q - y for q, y in zip(taken, arguments["targets"].tolist(), strict=True)]
    assert_close(result, expected)
    result.sum().backward()
    chosen = torch.zeros_like(arguments["q_values"])
    chosen[torch.arange(len(actions)), actions] = 1.0
    assert leaves["q_values"].grad is not None
    assert torch.equal(leaves["q_values"].grad, chosen)
    assert leaves["targets"].grad is None


def is_quadratic_and_then_linear(function: Function, arguments: Arguments) -> None:
    errors, delta = arguments["errors"].clone().requires_grad_(), arguments["delta"]
    result = function(errors, delta=delta)
    numbers = arguments["errors"].tolist()
    assert_close(result, [references.huber(error, delta) for error in numbers])
    result.sum().backward()
    assert errors.grad is not None
    assert_close(errors.grad, [min(max(error, -delta), delta) for error in numbers])


def is_half_of_the_square(function: Function, arguments: Arguments) -> None:
    errors = arguments["errors"].clone().requires_grad_()
    result = function(errors)
    assert_close(result, [0.5 * error**2 for error in arguments["errors"].tolist()])
    result.sum().backward()
    assert errors.grad is not None
    assert torch.equal(errors.grad, arguments["errors"])


def divides_by_the_rows(function: Function, arguments: Arguments) -> None:
    losses = arguments["losses"].clone().requires_grad_()
    weights = arguments["weights"]
    leaf = None if weights is None else weights.clone().requires_grad_()
    result = function(losses, weights=leaf)
    factors = [1.0] * len(losses) if weights is None else weights.tolist()
    terms = [w * loss for w, loss in zip(factors, arguments["losses"].tolist(), strict=True)]
    assert_close(result, sum(terms) / len(terms))
    assert result.dtype == torch.float32
    result.backward()
    assert losses.grad is not None
    assert_close(losses.grad, [factor / len(factors) for factor in factors])
    assert leaf is None or leaf.grad is None


@st.composite
def predictions(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `td_errors`."""
    rows, actions = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(INTEGER_DTYPES))
    return {
        "q_values": draw(tensors((rows, actions), dtype=draw(st.sampled_from(FLOAT_DTYPES)))),
        "actions": draw(tensors((rows,), st.integers(0, actions - 1), dtype)),
        "targets": draw(tensors((rows,))),
    }


@st.composite
def errors(draw: st.DrawFn) -> dict[str, Any]:
    """Errors, and where the loss becomes linear."""
    rows = draw(st.integers(1, 5))
    return {"errors": draw(tensors((rows,))), "delta": draw(st.sampled_from([0.5, 1.0, 3.0]))}


@st.composite
def losses(draw: st.DrawFn) -> dict[str, Any]:
    """Losses, and weights of float32 or float64, or none."""
    rows = draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    weights = draw(tensors((rows,), st.sampled_from([0.0, 0.25, 1.0]), dtype))
    return {"losses": draw(tensors((rows,))), "weights": weights if draw(booleans) else None}


LAWS = [
    Law(function=td_errors, arguments=predictions(), check=are_predictions_minus_targets),
    Law(function=huber_loss, arguments=errors(), check=is_quadratic_and_then_linear),
    Law(function=squared_loss, arguments=errors(), check=is_half_of_the_square),
    Law(function=weighted_mean, arguments=losses(), check=divides_by_the_rows),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
