"""Masked distributions agree with slow sums over the legal actions, in every floating dtype."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import (
    NoLegalActionError,
    action_log_probs,
    check_masks,
    combine_masks,
    greedy_actions,
    masked_entropy,
    masked_log_probs,
    sample_actions,
)
from property_tests import references
from property_tests.laws import Arguments, Function, Law, assert_close, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import (
    INTEGER_DTYPES,
    booleans,
    flags,
    grid,
    logits_and_mask,
    masks,
    tensors,
)


def agrees_with_the_slow_log_softmax(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    assert result.dtype == torch.float32
    assert_close(result, references.log_probs(**arguments))


def agrees_with_the_slow_entropy(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    assert result.dtype == torch.float32
    assert_close(result, references.entropy(**arguments))


def has_finite_gradient_and_none_for_illegal_actions(
    function: Function, arguments: Arguments
) -> None:
    logits = arguments["logits"].requires_grad_()
    result = function(**arguments)
    if result.dim() == 2:
        factors = torch.arange(1.0, result.numel() + 1.0).reshape(result.shape)
        result = (factors * result)[result > -torch.inf]
    result.sum().backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    illegal = ~torch.tensor(references.legal_rows(logits, arguments["mask"]))
    assert (logits.grad[illegal] == 0.0).all()


def refuses_a_row_without_actions(function: Function, arguments: Arguments) -> None:
    logits = arguments["logits"]
    mask = torch.tensor(references.legal_rows(logits, arguments["mask"]))
    mask[-1] = False
    name = f"environment {len(logits) - 1}"
    assert_raises(NoLegalActionError, name, lambda: function(logits=logits, mask=mask))


def picks_the_number_of_each_action(function: Function, arguments: Arguments) -> None:
    rows = zip(arguments["log_probs"].tolist(), arguments["actions"].tolist(), strict=True)
    assert function(**arguments).tolist() == [row[action] for row, action in rows]


def takes_the_first_of_the_likeliest(function: Function, arguments: Arguments) -> None:
    rows = references.log_probs(logits=arguments["logits"].float(), mask=arguments["mask"])
    assert function(**arguments).tolist() == [row.index(max(row)) for row in rows]


def draws_legal_actions_again_from_an_equal_generator(
    function: Function, arguments: Arguments
) -> None:
    logits, mask = arguments["logits"], arguments["mask"]
    torch.manual_seed(0)
    draws = [
        function(logits=logits, mask=mask, generator=torch.Generator().manual_seed(seed)).tolist()
        for seed in (1, 1, *range(2, 12))
    ]
    assert draws[0] == draws[1], "an equal generator gave other actions"
    legal = references.legal_rows(logits, mask)
    assert all(row[action] for actions in draws for row, action in zip(legal, actions, strict=True))


def draws_in_proportion(function: Function, arguments: Arguments) -> None:
    count, generator = 4_000, torch.Generator().manual_seed(3)
    logits = arguments["logits"][:1]
    mask = (
        None if arguments["mask"] is None else arguments["mask"].expand(arguments["logits"].shape)
    )
    mask = None if mask is None else mask[:1].expand(count, -1)
    drawn = function(logits=logits.expand(count, -1), mask=mask, generator=generator)
    shares = torch.bincount(drawn, minlength=logits.shape[1]) / count
    (expected,) = references.log_probs(logits=logits, mask=None if mask is None else mask[:1])
    for share, log_prob in zip(shares.tolist(), expected, strict=True):
        probability = math.exp(log_prob)
        spread = math.sqrt(probability * (1.0 - probability) / count)
        assert abs(share - probability) <= 5.0 * spread + 2.0 / count


def allows_what_every_mask_allows(function: Function, arguments: Arguments) -> None:
    given = [mask for mask in arguments["masks"] if mask is not None]
    result = function(*arguments["masks"])
    if not given:
        assert result is None
        return
    shape = max((mask.shape for mask in given), key=len)
    expected = torch.ones(shape, dtype=torch.bool)
    for mask in given:
        expected &= mask
    assert torch.equal(result, expected)


def names_the_first_row_without_actions(function: Function, arguments: Arguments) -> None:
    mask = arguments["mask"]
    bad = [row for row, legal in enumerate(mask.tolist()) if not any(legal)]
    if not bad:
        function(mask)
        return
    assert_raises(NoLegalActionError, f"environment {bad[0]}:", lambda: function(mask))
    names = [f"seat {row}" for row in range(len(mask))]
    assert_raises(NoLegalActionError, f"seat {bad[0]}:", lambda: function(mask, names=names))


@st.composite
def picks(draw: st.DrawFn) -> dict[str, Any]:
    """Log-probabilities and actions of any integer dtype, of more actions than a nibble counts."""
    rows, actions = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    dtype = draw(st.sampled_from(INTEGER_DTYPES))
    return {
        "log_probs": draw(tensors((rows, actions))),
        "actions": draw(tensors((rows,), st.integers(0, actions - 1), dtype)),
    }


@st.composite
def gentle_logits(draw: st.DrawFn) -> dict[str, Any]:
    """Logits that leave every legal action a chance."""
    rows, actions = draw(st.integers(1, 2)), draw(st.integers(2, 4))
    mask = draw(masks(rows, actions)) if draw(booleans) else None
    return {"logits": draw(tensors((rows, actions), grid(2))), "mask": mask}


@st.composite
def several_masks(draw: st.DrawFn) -> dict[str, Any]:
    """Up to four masks of fitting shapes, None among them."""
    rows, actions = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    one = st.one_of(
        st.none(),
        tensors((actions,), booleans, torch.bool),
        tensors((rows, actions), booleans, torch.bool),
    )
    return {"masks": draw(st.lists(one, max_size=4))}


@st.composite
def doubtful_masks(draw: st.DrawFn) -> dict[str, Any]:
    """[B, A], often with rows that allow nothing."""
    return {"mask": draw(flags((draw(st.integers(1, 5)), draw(st.integers(1, 4)))))}


LAWS = [
    Law(function=function, arguments=arguments, check=check)
    for function, arguments, check in (
        (masked_log_probs, logits_and_mask(), agrees_with_the_slow_log_softmax),
        (masked_log_probs, logits_and_mask(), has_finite_gradient_and_none_for_illegal_actions),
        (masked_log_probs, logits_and_mask(), refuses_a_row_without_actions),
        (masked_entropy, logits_and_mask(), agrees_with_the_slow_entropy),
        (masked_entropy, logits_and_mask(), has_finite_gradient_and_none_for_illegal_actions),
        (masked_entropy, logits_and_mask(), refuses_a_row_without_actions),
        (action_log_probs, picks(), picks_the_number_of_each_action),
        (greedy_actions, logits_and_mask(), takes_the_first_of_the_likeliest),
        (greedy_actions, logits_and_mask(), refuses_a_row_without_actions),
        (sample_actions, logits_and_mask(), draws_legal_actions_again_from_an_equal_generator),
        (sample_actions, gentle_logits(), draws_in_proportion),
        (combine_masks, several_masks(), allows_what_every_mask_allows),
        (check_masks, doubtful_masks(), names_the_first_row_without_actions),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
