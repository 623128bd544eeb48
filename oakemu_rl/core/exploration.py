"""Acting by action values, with random actions in between.

Networks that explore by noise of their own are in `models`. Letters: B rows (environments), A
actions.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_dimensions, check_floating, check_mask
from oakemu_rl.core.masks import NoLegalActionError, check_masks
from oakemu_rl.core.number_checks import check_fraction


def epsilon_greedy_actions(
    *,
    q_values: Tensor,
    mask: Tensor | None = None,
    epsilon: float,
    generator: torch.Generator,
) -> Tensor:
    """A random legal action with probability `epsilon`, else the legal one of greatest value.

    Random actions are uniform over the legal ones, the greedy one among them. Of equal values the
    first is taken.

    Each row draws 1 + A numbers whatever comes of it, so that neither what one row does nor a
    change of epsilon or of a mask moves a later draw. Waits for an accelerator, as does whoever
    carries the actions out.

    Shapes:
        q_values [B, A] floating; mask [B, A] or [A] bool, true where an action is legal; result [B]
        int64 on the device of the values. `generator` may belong to another device.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, or epsilon lies outside [0, 1].
        NoLegalActionError: a row of the mask allows no action.
    """
    check_floating("q_values", q_values)
    check_dimensions("q_values", q_values, "BA")
    rows, actions = q_values.shape
    legal = None if mask is None else _legal_actions(mask, q_values)
    draws = torch.rand(rows, 1 + actions, generator=generator, device=generator.device)
    chosen = epsilon_greedy_choices(
        q_values=q_values.tolist(), draws=draws.tolist(), legal=legal, epsilon=epsilon
    )
    return torch.tensor(chosen, dtype=torch.int64, device=q_values.device)


def epsilon_greedy_choices(
    *,
    q_values: Sequence[Sequence[float]],
    draws: Sequence[Sequence[float]],
    legal: Sequence[Sequence[int]] | None = None,
    epsilon: float,
) -> list[int]:
    """The choices of `epsilon_greedy_actions`, of plain numbers.

    There are few environments, and at each of their steps plain numbers take a part of the time
    that tensors would.

    Args:
        q_values: B rows of A values.
        draws: B rows of 1 + A numbers, drawn uniformly from [0, 1): the first decides whether the
            action is a random one, which is then the legal one whose own number is greatest.
        legal: B rows of the numbers of legal actions, in order; None where all are.

    Raises:
        ValueError: there are not as many rows of each, or epsilon lies outside [0, 1].
        NoLegalActionError: a row of `legal` is empty.
    """
    check_fraction("epsilon", epsilon)
    if legal is None:
        legal = [range(len(values)) for values in q_values]
    chosen: list[int] = []
    for values, (chance, *scores), allowed in zip(q_values, draws, legal, strict=True):
        if not allowed:
            raise NoLegalActionError(
                f"environment {len(chosen)}: none of its {len(values)} actions is legal"
            )
        chosen.append(max(allowed, key=(scores if chance < epsilon else values).__getitem__))
    return chosen


def _legal_actions(mask: Tensor, q_values: Tensor) -> Sequence[Sequence[int]]:
    """The numbers of the actions that are legal in each row."""
    check_mask("mask", mask, q_values.shape)
    legal = [
        [action for action, allowed in enumerate(row) if allowed]
        for row in mask.expand(q_values.shape).tolist()
    ]
    if not all(legal):
        check_masks(mask)
    return legal
