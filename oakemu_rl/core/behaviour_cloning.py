"""Behaviour cloning: the policy is made to give a demonstrator's actions.

Where demonstrated rows come from is not here. Letters: B rows, A actions.
"""

import torch
from torch import Tensor

from oakemu_rl.core.checks import (
    check_floating,
    check_integer,
    check_shape,
)
from oakemu_rl.core.masks import action_log_probs, greedy_actions, masked_log_probs
from oakemu_rl.core.number_checks import check_fraction


def behaviour_cloning_loss(
    *,
    logits: Tensor,
    actions: Tensor,
    mask: Tensor | None = None,
    weights: Tensor | None = None,
    label_smoothing: float = 0.0,
) -> Tensor:
    """Cross-entropy over legal actions, as a weighted mean over rows.

        l_b  = -(1 - s) * log pi(a_b) - s * mean_{legal a} log pi(a)      s = label_smoothing
        loss = sum_b(w_b * l_b) / sum_b(w_b)                              0 if all weights are 0

    Shapes:
        logits [B, A] floating; actions [B] of any integer dtype; mask [B, A] or [A] bool;
        weights [B] floating, or None for equal weights; result [] float32. Gradient reaches
        `logits` alone.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, an action is out of range or illegal, a weight is negative or
            not finite, a row of the mask allows no action, or label_smoothing is outside [0, 1].
    """
    check_fraction("label_smoothing", label_smoothing)
    check_integer("actions", actions)
    log_probs = masked_log_probs(logits=logits, mask=mask)
    check_shape("actions", actions, log_probs.shape[:1], "B")
    _check_labels(actions, log_probs.shape[1], mask)
    losses = -action_log_probs(log_probs=log_probs, actions=actions)
    if label_smoothing > 0.0:
        losses = torch.lerp(losses, -_mean_of_legal(log_probs, mask), label_smoothing)
    if weights is None:
        return losses.mean()
    check_floating("weights", weights)
    check_shape("weights", weights, losses.shape, "B")
    weights = _checked_weights(weights.detach().float())
    return (weights * losses).sum() / weights.sum().clamp_min(torch.finfo(torch.float32).tiny)


@torch.no_grad()
def behaviour_cloning_accuracy(
    *, logits: Tensor, actions: Tensor, mask: Tensor | None = None
) -> Tensor:
    """The share of rows in which the likeliest legal action is the demonstrated one.

    Shapes:
        logits [B, A] floating; actions [B] of any integer dtype; mask [B, A] or [A] bool;
        result [] float32.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_integer("actions", actions)
    greedy = greedy_actions(logits=logits, mask=mask)
    check_shape("actions", actions, greedy.shape, "B")
    return (greedy == actions).float().mean()


def _mean_of_legal(log_probs: Tensor, mask: Tensor | None) -> Tensor:
    if mask is None:
        return log_probs.mean(dim=1)
    mask = mask.expand_as(log_probs)
    return log_probs.masked_fill(~mask, 0.0).sum(dim=1) / mask.sum(dim=1)


def _check_labels(actions: Tensor, count: int, mask: Tensor | None) -> None:
    labels = actions.long()
    legal = (labels >= 0) & (labels < count)
    if mask is not None:
        allowed = mask.expand(len(labels), count)
        legal &= allowed.gather(1, labels.clamp(0, count - 1).unsqueeze(1)).squeeze(1)
    if not bool(legal.all()):
        row = int(torch.nonzero(~legal)[0])
        label = int(labels[row])
        allowed_here = (
            torch.arange(count) if mask is None else mask.expand(len(labels), count)[row].nonzero()
        )
        raise ValueError(
            f"actions[{row}]: got {label}, which is not legal in that row; "
            f"legal there: {allowed_here.flatten().tolist()}"
        )


def _checked_weights(weights: Tensor) -> Tensor:
    fit = weights.isfinite() & (weights >= 0.0)
    if not bool(fit.all()):
        row = int(torch.nonzero(~fit)[0])
        raise ValueError(
            f"weights[{row}]: got {float(weights[row])!r}, allowed is a finite number, at least 0"
        )
    return weights
