"""Distributions over the legal actions of a discrete action space.

A mask is true where an action is legal; None means that all are. All is computed in float32,
whatever the dtype of the logits, since half types can neither hold nor sum such numbers well. Who
makes masks is not here. Letters: B rows (environments when acting), A actions.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from oakemu_rl.core.checks import (
    check_bool,
    check_dimensions,
    check_floating,
    check_integer,
    check_mask,
    check_shape,
)
from oakemu_rl.core.errors import EnvironmentFaultError


class NoLegalActionError(EnvironmentFaultError, ValueError):
    """A mask allows no action in a state where one must be taken."""


def masked_log_probs(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """The logarithm of the softmax over legal actions.

        log pi(a) = logit_a - log sum_{legal b} exp(logit_b);   -inf where a is illegal

    The gradient of an illegal action's logit is exactly 0.

    Shapes:
        logits [B, A] floating; mask [B, A] or [A] bool; result [B, A] float32.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or a row of a mask on the CPU allows no action. A mask on an
            accelerator is not looked at, since that would wait for it: such a row gives NaN there.
    """
    return torch.log_softmax(_legal_logits(logits, mask), dim=-1)


def masked_entropy(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """The entropy over legal actions, in nats: -sum_{legal a} pi(a) * log pi(a).

    An action of probability 0 adds 0 and gets no NaN gradient.

    Shapes:
        logits [B, A] floating; mask [B, A] or [A] bool; result [B] float32.

    Raises:
        As `masked_log_probs`.
    """
    log_probs = masked_log_probs(logits=logits, mask=mask)
    # Both the product and its gradient would be 0 * -inf.
    finite = log_probs.masked_fill(log_probs.isneginf(), 0.0)
    return -(log_probs.exp() * finite).sum(dim=-1)


def action_log_probs(*, log_probs: Tensor, actions: Tensor) -> Tensor:
    """The log-probabilities of the actions taken, one a row.

    Shapes:
        log_probs [B, A] floating; actions [B] of any integer dtype; result [B].
    """
    check_floating("log_probs", log_probs)
    check_dimensions("log_probs", log_probs, "BA")
    check_integer("actions", actions)
    check_shape("actions", actions, log_probs.shape[:1], "B")
    return log_probs.gather(1, actions.long().unsqueeze(1)).squeeze(1)


@torch.no_grad()
def greedy_actions(*, logits: Tensor, mask: Tensor | None = None) -> Tensor:
    """The likeliest legal action of each row; of equal ones the first.

    Shapes:
        logits [B, A] floating; mask [B, A] or [A] bool; result [B] int64.

    Raises:
        As `masked_log_probs`.
    """
    return _legal_logits(logits, mask).argmax(dim=-1)


@torch.no_grad()
def sample_actions(
    *, logits: Tensor, mask: Tensor | None = None, generator: torch.Generator
) -> Tensor:
    """A legal action of each row, drawn with its probability.

    The action that maximises logit_a - log E_a, where E_a are independent exponential variates,
    is distributed as the softmax of the logits. An illegal action is never drawn.

    Shapes:
        logits [B, A] floating; mask [B, A] or [A] bool; result [B] int64. `generator` belongs to
        the device of the logits.

    Raises:
        As `masked_log_probs`.
    """
    legal = _legal_logits(logits, mask)
    waiting = torch.empty_like(legal).exponential_(generator=generator)
    return (legal - waiting.clamp_min_(torch.finfo(legal.dtype).tiny).log_()).argmax(dim=-1)


def combine_masks(*masks: Tensor | None) -> Tensor | None:
    """What all masks allow; None stands for a mask that allows everything.

    Shapes:
        each mask [B, A] or [A] bool; result [B, A] if one of them is, else [A], or None.

    Raises:
        TypeError: a mask is not bool.
        ValueError: the shapes do not fit together.
    """
    combined: Tensor | None = None
    for index, mask in enumerate(masks):
        if mask is None:
            continue
        check_bool(f"masks[{index}]", mask)
        if combined is None:
            combined = mask
        elif mask.shape[-1:] != combined.shape[-1:] or (
            mask.dim() == combined.dim() and mask.shape != combined.shape
        ):
            raise ValueError(
                f"masks[{index}]: expected shape {list(combined.shape)} as of the masks before it, "
                f"or one that differs by the dimension of rows, got {list(mask.shape)}"
            )
        else:
            combined = combined & mask
    return combined


def check_masks(mask: Tensor | None, *, names: Sequence[str] | None = None) -> None:
    """Every row allows an action. Waits for an accelerator if the mask lies there.

    Args:
        mask: [B, A] or [A] bool, or None.
        names: what the rows are called in the message; `environment 0` and so on if none.

    Raises:
        NoLegalActionError: a row allows nothing; the message names the first such row.
    """
    if mask is None:
        return
    check_bool("mask", mask)
    allowed = mask.any(dim=-1)
    if bool(allowed.all()):
        return
    row = int(torch.nonzero(~allowed.reshape(-1))[0])
    name = f"environment {row}" if names is None else names[row]
    raise NoLegalActionError(
        f"{name}: its action mask allows none of {mask.shape[-1]} actions; at least one must be "
        "legal in a state that does not end an episode: mend the environment's mask, or allow more "
        "in environment.actions"
    )


def _legal_logits(logits: Tensor, mask: Tensor | None) -> Tensor:
    check_floating("logits", logits)
    check_dimensions("logits", logits, "BA")
    if mask is None:
        return logits.float()
    check_mask("mask", mask, logits.shape)
    if mask.device.type == "cpu":
        check_masks(mask)
    return logits.float().masked_fill(~mask, -torch.inf)
