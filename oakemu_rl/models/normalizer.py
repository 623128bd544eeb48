"""Normalising vectors by running mean and variance, which are saved with the model as buffers.

How moments are merged is in the core.
"""

import torch
from torch import Tensor, nn

from oakemu_rl.core.statistics import Moments, batch_moments, merge_moments

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
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float32))
        self.register_buffer("var", torch.ones(size, dtype=torch.float32))

    def forward(self, vectors: Tensor) -> Tensor:
        """The normalised vectors."""
        centred = vectors.flatten(start_dim=1).float() - self.mean
        return (centred * torch.rsqrt(self.var + EPSILON)).clamp(-CLIP, CLIP)

    def update(self, vectors: Tensor) -> None:
        """Take in a batch: afterwards the statistics are those of all vectors ever taken in."""
        seen = Moments(count=self.count, mean=self.mean, variance=self.var)
        batch = batch_moments(vectors.flatten(start_dim=1).float())
        merged = merge_moments(seen, batch)
        self.count.copy_(merged.count)
        self.mean.copy_(merged.mean)
        self.var.copy_(merged.variance)
