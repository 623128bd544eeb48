"""Layers with orthogonal weights from the caller's generator.

Torch's global generator is never touched. Here lives how a layer is made and initialised. What is
built from layers is in the trunk's modules.
"""

import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

HIDDEN_GAIN = math.sqrt(2.0)
UNFILLED = "meta"
"""Device on which torch's own initialisation, which draws global random numbers, does nothing."""


def linear(inputs: int, outputs: int, *, gain: float, generator: torch.Generator) -> nn.Linear:
    """A fully connected layer: orthogonal weights times `gain`, zero bias (Saxe et al., 2014)."""
    layer = nn.Linear(inputs, outputs, device=UNFILLED).to_empty(device="cpu")
    _initialise(layer.weight, layer.bias, gain=gain, generator=generator)
    return layer


def convolution(
    inputs: int,
    outputs: int,
    *,
    kernel: int,
    stride: int = 1,
    padding: tuple[int, int] = (0, 0),
    generator: torch.Generator,
) -> nn.Conv2d:
    """A convolution in channels-last layout: orthogonal weights times sqrt(2), zero bias."""
    layer = nn.Conv2d(
        inputs, outputs, kernel_size=kernel, stride=stride, padding=padding, device=UNFILLED
    ).to_empty(device="cpu")
    _initialise(layer.weight, layer.bias, gain=HIDDEN_GAIN, generator=generator)
    # The layout that CPU and GPU kernels run fastest in; loading a state keeps it.
    layer.weight = nn.Parameter(layer.weight.detach().contiguous(memory_format=torch.channels_last))
    return layer


def parameters_of(layer: nn.Module) -> Mapping[str, Any]:
    """The layer's own parameters by name, in a mapping that always holds the present ones.

    Small networks notice how long a module takes to look up an attribute that is a parameter.
    """
    return layer._parameters


def _initialise(
    weight: torch.Tensor, bias: torch.Tensor | None, *, gain: float, generator: torch.Generator
) -> None:
    assert bias is not None
    nn.init.orthogonal_(weight, gain=gain, generator=generator)
    nn.init.zeros_(bias)
