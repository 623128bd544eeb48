"""Running mean and variance of vectors, merged batch by batch.

Who keeps them, and what is normalised by them, is not here. Letters: B rows, F features.
"""

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.checks import check_floating, check_shape


@attrs.frozen(kw_only=True, eq=False)
class Moments:
    """Statistics of the rows seen so far.

    Shapes:
        count [] int64, the number of rows; mean, variance [F] float32, the variance with n.
    """

    count: Tensor
    mean: Tensor
    variance: Tensor


@torch.no_grad()
def batch_moments(rows: Tensor) -> Moments:
    """The moments of one batch.

    Shapes:
        rows [B, ...] floating, B at least 1.

    Raises:
        TypeError: `rows` is not floating. ValueError: there is no row.
    """
    check_floating("rows", rows)
    if rows.dim() == 0 or len(rows) == 0:
        raise ValueError(f"rows: expected at least one row, got shape {list(rows.shape)}")
    variance, mean = torch.var_mean(rows.float(), dim=0, correction=0)
    count = torch.tensor(len(rows), dtype=torch.int64, device=rows.device)
    return Moments(count=count, mean=mean, variance=variance)


@torch.no_grad()
def merge_moments(first: Moments, second: Moments) -> Moments:
    """The moments of all rows of both.

        w        = n_2 / (n_1 + n_2),   d = mean_2 - mean_1
        mean     = mean_1 + w * d
        variance = variance_1 + w * (variance_2 - variance_1 + (1 - w) * d^2)

    Variances are kept in place of sums of squares, which would grow without bound in float32. The
    order of merging matters to rounding alone.

    Raises:
        ValueError: the shapes differ.

    Chan, Golub and LeVeque 1979, "Updating Formulae and a Pairwise Algorithm for Computing Sample
    Variances", divided by the counts.
    """
    check_shape("second.mean", second.mean, first.mean.shape, "F" * first.mean.dim())
    total = first.count + second.count
    weight = second.count / total.clamp_min(1)
    difference = second.mean - first.mean
    spread = second.variance - first.variance + (1.0 - weight) * difference.square()
    return Moments(
        count=total,
        mean=first.mean + weight * difference,
        variance=first.variance + weight * spread,
    )
