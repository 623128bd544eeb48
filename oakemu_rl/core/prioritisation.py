"""How much a stored transition deserves to be replayed, and what corrects for the preference.

The tree that draws by priority is in `buffers`. Letter: B rows.
"""

import torch
from torch import Tensor

from oakemu_rl.core.checks import check_dimensions, check_floating
from oakemu_rl.core.number_checks import check_fraction, check_not_negative, check_positive
from oakemu_rl.core.precision import at_least_float32


@torch.no_grad()
def priorities(td_errors: Tensor, *, alpha: float, epsilon: float) -> Tensor:
    """The priorities of transitions, with the exponent applied: `(|td| + epsilon)^alpha`.

    Errors that are not finite give NaN, whatever alpha is, so that none passes for a priority.

    Args:
        td_errors: as they are, without the importance weights of the loss.
        alpha: 0 replays uniformly, 1 in proportion to the errors.
        epsilon: where it is 0, an error of 0 rules a transition out for ever.

    Shapes:
        td_errors [B] floating; result [B], float32 unless float64 came in, detached.

    Raises:
        TypeError: the dtype is wrong.
        ValueError: the shape is wrong, alpha lies outside [0, 1], or epsilon is negative.

    Schaul et al. 2016, "Prioritized Experience Replay", section 3.3.
    """
    check_floating("td_errors", td_errors)
    check_dimensions("td_errors", td_errors, "B")
    check_fraction("alpha", alpha)
    check_not_negative("epsilon", epsilon)
    sizes = at_least_float32(td_errors).abs() + epsilon
    # NaN to the power of 0 is 1.
    return torch.where(sizes < torch.inf, sizes.pow(alpha), torch.nan)


@torch.no_grad()
def importance_weights(
    *, probabilities: Tensor, smallest_probability: float, size: int, beta: float
) -> Tensor:
    """The weights that make up for drawing some transitions more often than others.

        w_b = (M * P_b)^-beta / (M * P_min)^-beta            M = size

    P_min is the smallest probability in the whole buffer, so that a row's weight does not depend on
    the other rows of its batch. No weight is above 1.

    Args:
        probabilities: of drawing each row, above 0.
        smallest_probability: that of the item with the smallest priority.
        size: the number of items that can be drawn.
        beta: 0 corrects nothing, 1 wholly.

    Shapes:
        probabilities [B] floating; result [B] float32, detached.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: a shape is wrong, `smallest_probability` or `size` is not above 0, or beta lies
            outside [0, 1].

    Schaul et al. 2016, "Prioritized Experience Replay", section 3.4.
    """
    check_floating("probabilities", probabilities)
    check_dimensions("probabilities", probabilities, "B")
    check_positive("smallest_probability", smallest_probability)
    check_positive("size", size)
    check_fraction("beta", beta)
    # M stands in the row's weight and in the largest one, and goes out.
    ratios = smallest_probability / probabilities
    return ratios.pow(beta).clamp(max=1.0).float()
