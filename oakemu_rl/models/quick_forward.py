"""The action values of a small plain model for a few rows, computed by numpy.

For such a model nearly all of a forward pass is torch's way to each operation, and numpy's is
shorter. Who asks for values is not known here; there are no gradients.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

import attrs
import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.models.mlp import MLP
from oakemu_rl.models.trunks import BYTE_SCALE, Encoder

Array = npt.NDArray[Any]
Batch = Array | Mapping[str, Array]

MOST_ROWS = 32
MOST_WEIGHTS = 8_192
"""In one layer. Products of up to these sizes are computed in the calling thread."""

ACTIVATIONS: Mapping[Callable[[Tensor], Tensor], Callable[[Array], Array]] = {
    torch.tanh: np.tanh,
    torch.relu: lambda values: np.maximum(values, 0.0),
}


def quick_forward(model: DQNModel, *, rows: int) -> Callable[[Batch], Array] | None:
    """What gives the values that `model` gives, but for rounding; None where torch is to be taken.

    There is one for models of expected values on the CPU that have small layers alone, without
    normaliser, dueling streams or noise, and for up to `MOST_ROWS` rows.

    It reads the memory of the model's own parameters, so it follows what an optimizer or
    `load_state_dict` writes there, and looks them up again when all were moved to other memory, as
    by `FlatParameters`. It does not follow a parameter that is replaced by another, or is moved
    without the others or to another device.

    Shapes: observations [rows, ...] as the model takes them, an array or arrays by name, to
    [rows, A] float32.
    """
    encoders = [cast("Encoder", encoder) for encoder in model.trunk.encoders]
    fits = (
        rows <= MOST_ROWS
        and model.value_head is None
        and not model.is_categorical
        and isinstance(model.action_head, nn.Linear)
        and all(_is_plain(encoder) for encoder in encoders)
        and all(_is_small(parameter) for parameter in model.parameters())
    )
    return _QuickForward(model, encoders) if fits else None


def _is_plain(encoder: Encoder) -> bool:
    network_fits = isinstance(encoder.network, MLP) and encoder.normalizer is None
    return network_fits and encoder.spec.dtype in ("uint8", "float32")


def _is_small(parameter: Tensor) -> bool:
    return parameter.device.type == "cpu" and parameter.numel() <= MOST_WEIGHTS


@attrs.frozen(kw_only=True, eq=False)
class _Layer:
    """A fully connected layer, as views of its parameters: weight [inputs, outputs], bias."""

    weight: Array
    bias: Array

    @classmethod
    def of(cls, layer: nn.Module) -> "_Layer":
        assert isinstance(layer, nn.Linear)
        return cls(weight=layer.weight.detach().numpy().T, bias=layer.bias.detach().numpy())

    def __call__(self, inputs: Array) -> Array:
        # For small matrices the method takes a third of the time of the operator.
        outputs: Array = inputs.dot(self.weight)
        outputs += self.bias
        return outputs


class _QuickForward:
    def __init__(self, model: DQNModel, encoders: Iterable[Encoder]) -> None:
        self._first = next(model.parameters())
        self._head = model.action_head
        self._networks = [(each.name, cast("MLP", each.network)) for each in encoders]
        self._look_up()

    def __call__(self, observations: Batch) -> Array:
        if self._address != self._first.data_ptr():
            self._look_up()
        if isinstance(observations, Mapping):
            features = [
                self._features(observations[name], layers, activation)
                for name, layers, activation in self._entries
            ]
            return self._output(np.concatenate(features, axis=1))
        ((_, layers, activation),) = self._entries
        return self._output(self._features(observations, layers, activation))

    def _look_up(self) -> None:
        self._address = self._first.data_ptr()
        self._output = _Layer.of(self._head)
        self._entries = [
            (name, [_Layer.of(layer) for layer in network.layers], ACTIVATIONS[network.activation])
            for name, network in self._networks
        ]

    @staticmethod
    def _features(
        entry: Array, layers: Iterable[_Layer], activation: Callable[[Array], Array]
    ) -> Array:
        features = entry.reshape(len(entry), -1)
        if features.dtype == np.uint8:
            features = np.divide(features, BYTE_SCALE, dtype=np.float32)
        for layer in layers:
            features = activation(layer(features))
        return features
