"""Targets agree with slow sums over legal actions, and look at nothing behind a true end."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import NoLegalActionError, next_actions, target_q_values
from property_tests import references_of_dqn as references
from property_tests.laws import Arguments, Function, Law, assert_close, assert_raises
from property_tests.mutants import law_tests
from property_tests.references import legal_rows
from property_tests.strategies import FLOAT_DTYPES, booleans, flags, masks, tensors


def agree_with_the_slow_choice(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    legal = legal_rows(arguments["next_q_target"], arguments["next_mask"])
    slow = {name: value for name, value in arguments.items() if name != "next_mask"}
    assert_close(result, references.targets(**slow, legal=legal))
    assert result.dtype == torch.float32
    dead = arguments["discounts"] == 0.0
    assert torch.equal(result[dead], arguments["rewards"][dead].float())


def carry_no_gradient(function: Function, arguments: Arguments) -> None:
    leaves = {
        name: value.clone().requires_grad_()
        if isinstance(value, torch.Tensor) and value.is_floating_point()
        else value
        for name, value in arguments.items()
    }
    assert not function(**leaves).requires_grad


def refuse_a_living_row_without_actions(function: Function, arguments: Arguments) -> None:
    values = arguments["next_q_target"]
    mask = torch.tensor(legal_rows(values, arguments["next_mask"]))
    mask[-1] = False
    discounts = arguments["discounts"].clone()
    discounts[-1] = 0.5
    changes = {"discounts": discounts, "next_mask": mask}
    named = f"next_mask[{len(mask) - 1}]"
    assert_raises(NoLegalActionError, named, lambda: function(**{**arguments, **changes}))


def are_the_best_legal_ones(function: Function, arguments: Arguments) -> None:
    given = _choice(arguments)
    chosen = function(**given).tolist()
    legal = legal_rows(given["next_q"], given["next_mask"])
    for row, discount in enumerate(given["discounts"].tolist()):
        if discount != 0.0:
            values = given["next_q"][row].tolist()
            assert chosen[row] == references.best_legal(values, legal[row])


def refuse_a_living_row_too(function: Function, arguments: Arguments) -> None:
    given = _choice(arguments)
    mask = torch.zeros_like(given["next_q"], dtype=torch.bool)
    arguments = {**given, "next_mask": mask, "discounts": torch.full((len(mask),), 0.5)}
    assert_raises(NoLegalActionError, "next_mask[0]", lambda: function(**arguments))


def _choice(arguments: Arguments) -> dict[str, Any]:
    return {
        "next_q": arguments["next_q_target"],
        "discounts": arguments["discounts"],
        "next_mask": arguments["next_mask"],
    }


@st.composite
def successors(draw: st.DrawFn) -> dict[str, Any]:
    """Rows of which some ended: there masks may be empty, and values NaN or infinite."""
    rows, actions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    dtype = draw(st.sampled_from(FLOAT_DTYPES))
    dead = draw(flags((rows,)))
    discounts = draw(tensors((rows,), st.sampled_from([0.5, 0.75, 1.0])))
    discounts[dead] = 0.0
    values = [draw(tensors((rows, actions), dtype=dtype)) for _ in range(2)]
    mask = draw(masks(rows, actions)) if draw(booleans) else None
    if draw(booleans):
        for each in values:
            each[dead] = draw(st.sampled_from([torch.nan, torch.inf, -torch.inf]))
        if mask is not None:
            mask = mask.expand(rows, actions).clone()
            mask[dead] = False
    return {
        "rewards": draw(tensors((rows,))),
        "discounts": discounts,
        "next_q_target": values[0],
        "next_q_online": values[1] if draw(booleans) else None,
        "next_mask": mask,
    }


LAWS = [
    Law(function=function, arguments=successors(), check=check)
    for function, check in (
        (target_q_values, agree_with_the_slow_choice),
        (target_q_values, carry_no_gradient),
        (target_q_values, refuse_a_living_row_without_actions),
        (next_actions, are_the_best_legal_ones),
        (next_actions, refuse_a_living_row_too),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
