"""The multilayer perceptron for vectors."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from oakemu_rl.models.layers import HIDDEN_GAIN, linear

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU}


class MLP(nn.Module):
    """Fully connected layers with an activation after each; without layers, the vector itself.

    Shapes: [B, ...] float to [B, feature_size], which is the last layer's width.
    """

    def __init__(
        self,
        inputs: int,
        *,
        hidden_sizes: Sequence[int],
        activation: str,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for size in hidden_sizes:
            layers += [
                linear(inputs, size, gain=HIDDEN_GAIN, generator=generator),
                ACTIVATIONS[activation](),
            ]
            inputs = size
        self.layers = nn.Sequential(*layers)
        self.feature_size = inputs

    def forward(self, vectors: Tensor) -> Tensor:
        """The features of a batch of vectors."""
        features: Tensor = self.layers(vectors.flatten(start_dim=1))
        return features
