"""The values of true successors, put together from what an actor sees while it collects."""

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_bool, check_dimensions, check_shape


def successor_values(
    *, values: Tensor, final_values: Tensor, ended: Tensor, last_values: Tensor
) -> Tensor:
    """`V(s'_t)`, the value of the true next observation of each step.

    `V(s'_t) = final_values_t` where the episode ended at t, else `values_{t+1}`, and `last_values`
    after the last step. An actor computes `values_{t+1}` one step later anyway; only at the end of
    an episode must it ask the model about an observation on which it never acts.

    Shapes:
        values, final_values [T, N] float; ended [T, N] bool; last_values [N]. Result [T, N].

    Raises:
        ValueError: a shape differs. TypeError: `ended` is not bool.
    """
    check_dimensions("values", values, "TN")
    check_shape("final_values", final_values, values.shape, "TN")
    check_shape("ended", ended, values.shape, "TN")
    check_bool("ended", ended)
    check_shape("last_values", last_values, values.shape[1:], "N")
    following = torch.cat([values[1:], last_values[None]])
    return torch.where(ended, final_values, following)
