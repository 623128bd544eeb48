"""What action values are moved towards: the reward and the discounted value of what comes next.

Distributions over returns are in `categorical`, windows of several steps in `n_step`, the loss in
`q_loss`. Letters: B rows, A actions.
"""

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_dimensions, check_floating, check_mask, check_shape
from oakemu_rl.core.masks import NoLegalActionError
from oakemu_rl.core.precision import constant


def target_q_values(
    *,
    rewards: Tensor,
    discounts: Tensor,
    next_q_target: Tensor,
    next_q_online: Tensor | None = None,
    next_mask: Tensor | None = None,
) -> Tensor:
    """One-step or n-step targets, plain or double.

        y_b = r_b + discount_b * Q_target(s'_b, a*_b)       y_b = r_b where discount_b = 0
        a*  = argmax over legal a of Q_online(s', a) if given, else of Q_target(s', a)

    Where the discount is 0 the reward is selected, not added to a product: what the networks say
    there may be NaN, and the mask may allow nothing.

    Args:
        rewards: of one step, or the returns of windows.
        discounts: 0 at a true end, else gamma to the power of the steps taken.
        next_q_target: the target network's values of the true successor.
        next_q_online: the learned network's, for double Q-learning.
        next_mask: true where an action is legal in the successor; None where all are.

    Shapes:
        rewards, discounts [B] floating; next_q_target, next_q_online [B, A] floating; next_mask
        [B, A] or [A] bool; result [B] float32, detached.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong.
        NoLegalActionError: a row of a mask on the CPU allows no action although its discount is not
            0. A mask on an accelerator is not looked at, since that would wait for it: such a row
            gives -inf there.

    van Hasselt, Guez and Silver 2016, "Deep Reinforcement Learning with Double Q-learning".
    """
    check_floating("next_q_target", next_q_target)
    check_dimensions("next_q_target", next_q_target, "BA")
    check_floating("rewards", rewards)
    check_shape("rewards", rewards, next_q_target.shape[:1], "B")
    live = _live_rows(discounts, next_q_target, next_mask)
    legal = _legal(next_q_target, next_mask)
    if next_q_online is None:
        values = legal.amax(dim=1)
    else:
        check_floating("next_q_online", next_q_online)
        check_shape("next_q_online", next_q_online, next_q_target.shape, "BA")
        actions = _legal(next_q_online, next_mask).argmax(dim=1, keepdim=True)
        values = legal.gather(1, actions).squeeze(1)
    rewards = constant(rewards)
    return torch.where(live, torch.addcmul(rewards, constant(discounts), values), rewards)


def next_actions(*, next_q: Tensor, discounts: Tensor, next_mask: Tensor | None = None) -> Tensor:
    """The legal action of greatest value in each successor; of equal ones the first.

    Where the discount is 0 there is no successor, and any action may come out.

    Shapes:
        next_q [B, A] floating; discounts [B] floating; next_mask [B, A] or [A] bool; result [B]
        int64.

    Raises:
        As `target_q_values`; a row of a mask on an accelerator that allows no action gives 0.
    """
    check_floating("next_q", next_q)
    check_dimensions("next_q", next_q, "BA")
    _live_rows(discounts, next_q, next_mask)
    return _legal(next_q, next_mask).argmax(dim=1)


def _legal(q_values: Tensor, mask: Tensor | None) -> Tensor:
    values = constant(q_values)
    return values if mask is None else torch.where(mask, values, -torch.inf)


def _live_rows(discounts: Tensor, q_values: Tensor, mask: Tensor | None) -> Tensor:
    """Where there is a successor, once it is sure that an action is legal in it. [B] bool."""
    check_floating("discounts", discounts)
    check_shape("discounts", discounts, q_values.shape[:1], "B")
    live = discounts != 0.0
    if mask is None:
        return live
    check_mask("next_mask", mask, q_values.shape)
    if mask.device.type == "cpu":
        fine = mask.any(dim=-1) | ~live
        if not bool(fine.all()):
            row = int(torch.nonzero(~fine)[0])
            raise NoLegalActionError(
                f"next_mask[{row}]: allows none of {mask.shape[-1]} actions, although "
                f"discounts[{row}] is {float(discounts[row]):g}; at least one must be legal in a "
                "state that does not end an episode: mend the environment's mask, or allow more in "
                "environment.actions"
            )
    return live
