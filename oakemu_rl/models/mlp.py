"""The multilayer perceptron for vectors."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from oakemu_rl.models.layers import HIDDEN_GAIN, linear, parameters_of

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"tanh": torch.tanh, "relu": torch.relu}


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
        self.layers = nn.ModuleList()
        for size in hidden_sizes:
            self.layers.append(linear(inputs, size, gain=HIDDEN_GAIN, generator=generator))
            inputs = size
        self._weights = [parameters_of(layer) for layer in self.layers]
        self.activation = ACTIVATIONS[activation]
        self.feature_size = inputs

    def forward(self, vectors: Tensor) -> Tensor:
        """The features of a batch of vectors."""
        features = vectors if vectors.dim() == 2 else vectors.flatten(start_dim=1)
        for weights in self._weights:
            # Not by calling the layer, whose way to the same takes as long as a small product.
            features = F.linear(features, weights["weight"], weights["bias"])
            features = self.activation(features)
        return features
