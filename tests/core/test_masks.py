"""Worked values of masked distributions."""

import math

import pytest
import torch
from torch import Tensor

from oakemu_rl.core import (
    EnvironmentFaultError,
    NoLegalActionError,
    action_log_probs,
    check_masks,
    combine_masks,
    greedy_actions,
    masked_entropy,
    masked_log_probs,
    sample_actions,
)

HALF_AND_FULL = (torch.float32, torch.bfloat16, torch.float16)


@pytest.mark.parametrize("dtype", HALF_AND_FULL)
def test_two_of_three_equal_actions_have_half_each_and_the_illegal_one_no_gradient(
    dtype: torch.dtype,
) -> None:
    logits = torch.tensor([[0.0, 0.0, 5.0]], dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    log_probs = masked_log_probs(logits=logits, mask=mask)
    entropy = masked_entropy(logits=logits, mask=mask)
    assert log_probs.exp().tolist() == [[0.5, 0.5, 0.0]]
    assert entropy.item() == pytest.approx(0.693147, abs=1e-6)
    (3.0 * log_probs[0, 0] + entropy.sum()).backward()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert logits.grad.tolist() == [[1.5, -1.5, 0.0]]


@pytest.mark.parametrize("dtype", HALF_AND_FULL)
def test_logits_at_the_end_of_their_type_give_finite_gradient(dtype: torch.dtype) -> None:
    largest = torch.finfo(dtype).max
    logits = torch.tensor([[largest, -largest, 0.0]], dtype=dtype, requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    entropy = masked_entropy(logits=logits, mask=mask)
    assert entropy.tolist() == [0.0]
    entropy.sum().backward()
    assert logits.grad is not None
    assert logits.grad.tolist() == [[0.0, 0.0, 0.0]]


def test_the_result_is_float32_whatever_comes_in() -> None:
    for dtype in (*HALF_AND_FULL, torch.float64):
        logits = torch.zeros(1, 3, dtype=dtype)
        assert masked_log_probs(logits=logits).dtype == torch.float32
        assert masked_entropy(logits=logits).dtype == torch.float32


def test_a_mask_for_all_rows_holds_in_each() -> None:
    log_probs = masked_log_probs(logits=torch.zeros(2, 3), mask=torch.tensor([True, True, False]))
    assert log_probs[:, :2].flatten().tolist() == pytest.approx([-0.693147] * 4)
    assert log_probs[:, 2].tolist() == [-math.inf, -math.inf]


@pytest.mark.parametrize("function", [masked_log_probs, masked_entropy, greedy_actions])
def test_a_row_without_legal_actions_is_refused_by_number(function: object) -> None:
    mask = torch.tensor([[True, False], [False, False], [True, True]])
    assert callable(function)
    with pytest.raises(NoLegalActionError, match=r"environment 1: .* none of 2 actions"):
        function(logits=torch.zeros(3, 2), mask=mask)


def test_sampling_refuses_a_row_without_legal_actions() -> None:
    with pytest.raises(NoLegalActionError, match="environment 0"):
        sample_actions(
            logits=torch.zeros(1, 2),
            mask=torch.zeros(1, 2, dtype=torch.bool),
            generator=torch.Generator(),
        )


def test_a_row_without_legal_actions_is_the_environments_fault_and_a_wrong_argument() -> None:
    for error in (EnvironmentFaultError, ValueError):
        with pytest.raises(error, match="seat B: its action mask allows none"):
            check_masks(torch.tensor([[True], [False]]), names=("seat A", "seat B"))


def test_no_mask_and_good_masks_pass() -> None:
    check_masks(None)
    check_masks(torch.tensor([True, False]))
    check_masks(torch.tensor([[True, False], [False, True]]))


def test_greedy_takes_the_likeliest_legal_action() -> None:
    logits = torch.tensor([[1.0, 9.0, 3.0], [4.0, 4.0, 4.0]])
    assert greedy_actions(logits=logits).tolist() == [1, 0]
    mask = torch.tensor([[True, False, True], [False, True, True]])
    assert greedy_actions(logits=logits, mask=mask).tolist() == [2, 1]


def test_ten_thousand_sampled_actions_are_legal_and_in_proportion() -> None:
    logits = torch.tensor([[0.0, math.log(3.0), 50.0]]).expand(10_000, 3)
    mask = torch.tensor([True, True, False])
    actions = sample_actions(logits=logits, mask=mask, generator=torch.Generator().manual_seed(1))
    counts = torch.bincount(actions, minlength=3).tolist()
    assert counts[2] == 0
    assert counts[1] == pytest.approx(7_500, abs=200)


def test_sampling_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    sample_actions(logits=torch.zeros(4, 3), generator=torch.Generator().manual_seed(1))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int16, torch.int32, torch.int64])
def test_actions_of_any_integer_dtype_pick_the_same_numbers(dtype: torch.dtype) -> None:
    log_probs = torch.tensor([[-1.0, -2.0], [-3.0, -4.0]])
    actions = torch.tensor([1, 0], dtype=dtype)
    assert action_log_probs(log_probs=log_probs, actions=actions).tolist() == [-2.0, -3.0]


def test_masks_combine_by_and_over_rows_and_without() -> None:
    for_all = torch.tensor([True, True, False])
    by_row = torch.tensor([[True, False, True], [True, True, True]])
    assert combine_masks() is None
    assert combine_masks(None, None) is None
    combined = combine_masks(None, for_all, by_row)
    assert combined is not None
    assert combined.tolist() == [[True, False, False], [True, True, False]]


@pytest.mark.parametrize(
    ("masks", "error"),
    [
        ((torch.ones(3, dtype=torch.bool), torch.ones(4, dtype=torch.bool)), ValueError),
        ((torch.ones(2, 3, dtype=torch.bool), torch.ones(1, 3, dtype=torch.bool)), ValueError),
        ((torch.ones(3, dtype=torch.bool), torch.ones(3)), TypeError),
    ],
)
def test_masks_that_do_not_fit_together_are_named(
    masks: tuple[Tensor, Tensor], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"masks\[1\]: expected"):
        combine_masks(*masks)


@pytest.mark.parametrize(
    ("logits", "mask", "error", "message"),
    [
        (torch.zeros(3), None, ValueError, r"logits: expected shape \[B, A\], got \[3\]"),
        (torch.zeros(1, 3, dtype=torch.int64), None, TypeError, "logits: .* torch.int64"),
        (torch.zeros(2, 3), torch.ones(2, 3), TypeError, "mask: expected a bool tensor"),
        (torch.zeros(2, 3), torch.ones(1, 3, dtype=torch.bool), ValueError, r"mask: .* \[1, 3\]"),
        (torch.zeros(2, 3), torch.ones(2, dtype=torch.bool), ValueError, r"mask: .* got \[2\]"),
    ],
)
def test_wrong_arguments_are_named(
    logits: Tensor, mask: Tensor | None, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        masked_log_probs(logits=logits, mask=mask)
