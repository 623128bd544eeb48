"""The action values of a small plain model for a few rows, computed by numpy.

For such a model nearly all of a forward pass is torch's way to each operation, and numpy's is
shorter. Who asks for values is not known here; there are no gradients.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, cast

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
    torch.relu: partial(np.maximum, np.float32(0.0)),
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


class _QuickForward:
    def __init__(self, model: DQNModel, encoders: Iterable[Encoder]) -> None:
        self._first = next(model.parameters())
        self._head = model.action_head
        self._encoders = list(encoders)
        self._look_up()

    def __call__(self, observations: Batch) -> Array:
        if self._address != self._first.data_ptr():
            self._look_up()
        if isinstance(observations, np.ndarray):
            features = self._chains[0](observations)
        else:
            parts = [
                chain(observations[encoder.name])
                for chain, encoder in zip(self._chains, self._encoders, strict=True)
            ]
            features = np.concatenate(parts, axis=1)
        weight, bias = self._output
        values: Array = features.dot(weight)
        values += bias
        return values

    def _look_up(self) -> None:
        self._address = self._first.data_ptr()
        self._output = _views(self._head)
        self._chains = [_Chain(encoder) for encoder in self._encoders]


class _Chain:
    """The layers of one entry of the observation."""

    def __init__(self, encoder: Encoder) -> None:
        network = cast("MLP", encoder.network)
        self._bytes = encoder.spec.dtype == "uint8"
        self._activation = ACTIVATIONS[network.activation]
        self._layers = [_views(layer) for layer in network.layers]

    def __call__(self, entry: Array) -> Array:
        features = entry if entry.ndim == 2 else entry.reshape(len(entry), -1)
        if self._bytes:
            features = np.divide(features, BYTE_SCALE, dtype=np.float32)
        for weight, bias in self._layers:
            # For small matrices the method takes a third of the time of the operator.
            features = features.dot(weight)
            features += bias
            features = self._activation(features)
        return features


def _views(layer: nn.Module) -> tuple[Array, Array]:
    """The weight [inputs, outputs] and the bias of a fully connected layer, where they lie."""
    assert isinstance(layer, nn.Linear)
    return layer.weight.detach().numpy().T, layer.bias.detach().numpy()
