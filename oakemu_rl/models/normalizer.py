"""Normalising vectors by running mean and variance, which are saved with the model as buffers."""

import torch
from torch import Tensor, nn

CLIP = 10.0
EPSILON = 1e-8
"""Added to the variance, for features that never change."""


class ObservationNormalizer(nn.Module):
    """`clip((x - mean) / sqrt(var + 1e-8), -10, 10)`, with the moments of all vectors taken in.

    A forward pass never changes the statistics; `update` alone does, so a tester that does not call
    it sees them frozen. Before the first update the mean is 0 and the variance 1.

    Shapes: [B, ...] float, flattened, to [B, F] float32.
    """

    count: Tensor
    mean: Tensor
    var: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.float32))
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float32))
        self.register_buffer("var", torch.ones(size, dtype=torch.float32))

    def forward(self, vectors: Tensor) -> Tensor:
        """The normalised vectors."""
        centred = vectors.flatten(start_dim=1).float() - self.mean
        return (centred * torch.rsqrt(self.var + EPSILON)).clamp(-CLIP, CLIP)

    @torch.no_grad()
    def update(self, vectors: Tensor) -> None:
        """Take in a batch: afterwards the statistics are those of all vectors ever taken in.

        With batch moments `b` and running moments `a` (Chan et al., 1979), `d = mean_b - mean_a`:
        `n = n_a + n_b`, `mean = mean_a + d * n_b / n`,
        `var = (n_a * var_a + n_b * var_b + d^2 * n_a * n_b / n) / n`.
        """
        batch = vectors.flatten(start_dim=1).float()
        rows = batch.shape[0]
        total = self.count + rows
        delta = batch.mean(dim=0) - self.mean
        spread = self.count * self.var + rows * batch.var(dim=0, correction=0)
        self.var.copy_((spread + delta.square() * (self.count * rows / total)) / total)
        self.mean.add_(delta * (rows / total))
        self.count.copy_(total)
