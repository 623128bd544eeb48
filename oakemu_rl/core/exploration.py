"""Acting by action values, with random actions in between.

Networks that explore by noise of their own are in `models`. Letters: B rows (environments), A
actions.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_bool, check_dimensions, check_floating, check_mask
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
    if mask is not None:
        check_mask("mask", mask, q_values.shape)
        mask = mask.expand(q_values.shape)
    rows, actions = q_values.shape
    draws = torch.rand(rows, 1 + actions, generator=generator, device=generator.device)
    chosen = epsilon_greedy_choices(
        q_values=q_values.tolist,
        draws=draws.tolist(),
        legal=None if mask is None else legal_actions(mask),
        epsilon=epsilon,
    )
    return torch.tensor(chosen, dtype=torch.int64, device=q_values.device)


def epsilon_greedy_choices(
    *,
    q_values: Callable[[], Sequence[Sequence[float]]],
    draws: Sequence[Sequence[float]],
    legal: Sequence[Sequence[int]] | None = None,
    epsilon: float,
) -> list[int]:
    """The choices of `epsilon_greedy_actions`, of plain numbers.

    There are few environments, and at each of their steps plain numbers take a part of the time
    that tensors would.

    Args:
        q_values: gives B rows of A values; it is not called where all actions are random.
        draws: B rows of 1 + A numbers, drawn uniformly from [0, 1): the first decides whether the
            action is a random one, which is then the legal one whose own number is greatest.
        legal: B rows of the numbers of legal actions, in order; None where all are.

    Raises:
        ValueError: there are not as many rows of each, or epsilon lies outside [0, 1].
        NoLegalActionError: a row of `legal` is empty.
    """
    check_fraction("epsilon", epsilon)
    if legal is None:
        legal = [range(len(draw) - 1) for draw in draws]
    random = [draw[0] < epsilon for draw in draws]
    scores = [draw[1:] for draw in draws] if all(random) else q_values()
    chosen: list[int] = []
    for explores, draw, values, allowed in zip(random, draws, scores, legal, strict=True):
        if not allowed:
            raise NoLegalActionError(
                f"environment {len(chosen)}: none of its {len(draw) - 1} actions is legal"
            )
        chosen.append(max(allowed, key=(draw[1:] if explores else values).__getitem__))
    return chosen


def legal_actions(mask: Tensor) -> list[list[int]]:
    """The numbers of the actions that are legal in each row, in order.

    Shapes:
        mask [B, A] bool.

    Raises:
        TypeError: the dtype is wrong.
        ValueError: the shape is wrong.
        NoLegalActionError: a row allows no action.
    """
    check_bool("mask", mask)
    check_dimensions("mask", mask, "BA")
    legal = [[action for action, fits in enumerate(row) if fits] for row in mask.tolist()]
    if not all(legal):
        check_masks(mask)
    return legal
