"""Wrong versions of masked distributions and masks."""

import math
from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.masked_log_probs)
def mask_of_log_probs_left_out(*, logits: Tensor, **_mask: Any) -> Tensor:
    return core.masked_log_probs(logits=logits)


@mutant_of(core.masked_log_probs)
def large_finite_penalty(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    penalty = 0.0 if mask is None else (~mask).float() * -1e4
    return torch.log_softmax(logits.float() + penalty, dim=-1)


@mutant_of(core.masked_log_probs)
def masked_without_renormalising(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    log_probs = torch.log_softmax(logits.float(), dim=-1)
    return log_probs if mask is None else log_probs.masked_fill(~mask, -torch.inf)


@mutant_of(core.masked_log_probs)
def softmax_in_the_dtype_of_the_logits(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    if mask is not None:
        logits = logits.masked_fill(~mask, -torch.inf)
    return torch.log_softmax(logits, dim=-1)


@mutant_of(core.masked_log_probs)
def row_without_actions_passes(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    if mask is not None:
        mask = mask | ~mask.any(dim=-1, keepdim=True)
    return core.masked_log_probs(logits=logits, mask=mask)


@mutant_of(core.masked_entropy)
def entropy_with_zero_times_infinity(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    log_probs = core.masked_log_probs(logits=logits, mask=mask)
    return -(log_probs.exp() * log_probs).sum(dim=-1)


@mutant_of(core.masked_entropy)
def entropy_with_a_broken_gradient(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    log_probs = core.masked_log_probs(logits=logits, mask=mask)
    terms = log_probs.exp() * log_probs
    return -torch.where(log_probs.isneginf(), 0.0, terms).sum(dim=-1)


@mutant_of(core.masked_entropy)
def entropy_over_all_actions(*, logits: Tensor, **_mask: Any) -> Tensor:
    return core.masked_entropy(logits=logits)


@mutant_of(core.masked_entropy)
def entropy_in_bits(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    return core.masked_entropy(logits=logits, mask=mask) / math.log(2.0)


@mutant_of(core.action_log_probs)
def log_probs_of_the_likeliest(*, log_probs: Tensor, **_actions: Any) -> Tensor:
    return log_probs.max(dim=1).values


@mutant_of(core.action_log_probs)
def actions_narrowed(*, log_probs: Tensor, actions: Tensor) -> Tensor:
    return core.action_log_probs(log_probs=log_probs, actions=actions.long() % 4)


@mutant_of(core.greedy_actions)
def greedy_without_a_mask(*, logits: Tensor, **_mask: Any) -> Tensor:
    return core.greedy_actions(logits=logits)


@mutant_of(core.greedy_actions)
def greedy_over_masked_products(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    return (logits if mask is None else logits * mask).argmax(dim=-1)


@mutant_of(core.sample_actions)
def sampled_without_a_mask(*, logits: Tensor, generator: torch.Generator, **_mask: Any) -> Tensor:
    return core.sample_actions(logits=logits, generator=generator)


@mutant_of(core.sample_actions)
def sampled_from_the_global_generator(
    *, logits: Tensor, mask: Tensor | None = None, **_generator: Any
) -> Tensor:
    log_probs = core.masked_log_probs(logits=logits, mask=mask)
    return torch.multinomial(log_probs.exp(), 1).squeeze(1)


@mutant_of(core.sample_actions)
def sampled_uniformly(
    *, logits: Tensor, mask: Tensor | None = None, generator: torch.Generator
) -> Tensor:
    return core.sample_actions(logits=torch.zeros_like(logits), mask=mask, generator=generator)


@mutant_of(core.sample_actions)
def sampled_by_normal_noise(
    *, logits: Tensor, mask: Tensor | None = None, generator: torch.Generator
) -> Tensor:
    noise = torch.randn(logits.shape, generator=generator)
    return core.greedy_actions(logits=logits.float() + noise, mask=mask)


@mutant_of(core.combine_masks)
def masks_joined_by_or(*masks: Tensor | None) -> Tensor | None:
    combined: Tensor | None = None
    for mask in masks:
        if mask is not None:
            combined = mask if combined is None else combined | mask
    return combined


@mutant_of(core.combine_masks)
def last_mask_wins(*masks: Tensor | None) -> Tensor | None:
    given = [mask for mask in masks if mask is not None]
    return given[-1] if given else None


@mutant_of(core.combine_masks)
def masks_combined_in_place(*masks: Tensor | None) -> Tensor | None:
    given = sorted((mask for mask in masks if mask is not None), key=lambda mask: -mask.dim())
    for mask in given[1:]:
        given[0].logical_and_(mask)
    return given[0] if given else None


@mutant_of(core.check_masks)
def one_good_row_is_enough(mask: Tensor | None, *, names: Any = None) -> None:
    if mask is not None and not mask.any():
        core.check_masks(mask, names=names)


@mutant_of(core.check_masks)
def last_bad_row_named(mask: Tensor | None, *, names: Any = None) -> None:
    if mask is not None:
        core.check_masks(mask.flip(0), names=names)
