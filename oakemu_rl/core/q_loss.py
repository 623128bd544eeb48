"""The loss of action values: errors of the actions taken, and what is made of each row.

Targets are computed in `q_targets`; the loss of distributions is in `categorical`. Letters: B rows,
A actions.
"""

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_dimensions, check_floating, check_integer, check_shape
from oakemu_rl.core.number_checks import check_positive
from oakemu_rl.core.precision import constant, in_float32


def td_errors(*, q_values: Tensor, actions: Tensor, targets: Tensor) -> Tensor:
    """Prediction minus target, `Q(s_b, a_b) - y_b`.

    Shapes:
        q_values [B, A] floating; actions [B] of any integer dtype; targets [B] floating; result [B]
        float32. Gradient reaches `q_values` alone, and there the actions taken.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_floating("q_values", q_values)
    check_dimensions("q_values", q_values, "BA")
    rows = q_values.shape[:1]
    check_integer("actions", actions)
    check_shape("actions", actions, rows, "B")
    check_floating("targets", targets)
    check_shape("targets", targets, rows, "B")
    taken = in_float32(q_values).gather(1, actions.long().unsqueeze(1)).squeeze(1)
    return taken - constant(targets)


def huber_loss(td_errors: Tensor, *, delta: float) -> Tensor:
    """Quadratic near 0, linear beyond `delta`, one loss a row.

        0.5 * e^2                    where |e| <= delta
        delta * (|e| - 0.5 * delta)  elsewhere

    Shapes:
        td_errors [B] floating; result [B].

    Raises:
        TypeError: the dtype is wrong.
        ValueError: the shape is wrong, or `delta` is not above 0.
    """
    check_floating("td_errors", td_errors)
    check_dimensions("td_errors", td_errors, "B")
    check_positive("delta", delta)
    zeros = torch.zeros_like(td_errors)
    return torch.nn.functional.huber_loss(td_errors, zeros, reduction="none", delta=delta)


def squared_loss(td_errors: Tensor) -> Tensor:
    """`0.5 * e^2`, one loss a row: near 0 the same as `huber_loss`.

    Shapes:
        td_errors [B] floating; result [B].

    Raises:
        TypeError: the dtype is wrong. ValueError: the shape is wrong.
    """
    check_floating("td_errors", td_errors)
    check_dimensions("td_errors", td_errors, "B")
    return 0.5 * td_errors.square()


def weighted_mean(losses: Tensor, *, weights: Tensor | None = None) -> Tensor:
    """`sum_b(w_b * l_b) / B`, weights of 1 where none are given.

    The sum is divided by the number of rows and not by that of the weights: importance weights
    below 1 are there to make the step smaller.

    Shapes:
        losses [B] floating; weights [B] floating; result []. Gradient reaches `losses` alone.

    Raises:
        TypeError: a dtype is wrong. ValueError: a shape is wrong.
    """
    check_floating("losses", losses)
    check_dimensions("losses", losses, "B")
    if weights is None:
        return losses.mean()
    check_floating("weights", weights)
    check_shape("weights", weights, losses.shape, "B")
    return (losses * weights.detach().to(losses.dtype)).mean()
