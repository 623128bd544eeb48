"""Observations: one tensor, or a mapping of named tensors, treated alike everywhere."""

from collections.abc import Callable, Mapping

import attrs
import torch
from torch import Tensor

Observations = Tensor | Mapping[str, Tensor]


@attrs.frozen(kw_only=True)
class TensorSpec:
    """What one observation tensor looks like, without batch dimensions.

    `shape` is [channels, height, width] for an image and [features] for a vector; `dtype` is the
    name of a torch dtype (`"uint8"`, `"float32"`, ...). Images are recognised by their three
    dimensions.
    """

    shape: tuple[int, ...]
    dtype: str

    @property
    def is_image(self) -> bool:
        """Whether the tensor is an image: three dimensions."""
        return len(self.shape) == 3

    @property
    def torch_dtype(self) -> torch.dtype:
        """The dtype as torch knows it."""
        dtype = getattr(torch, self.dtype)
        assert isinstance(dtype, torch.dtype)
        return dtype


ObservationSpec = TensorSpec | Mapping[str, TensorSpec]


@attrs.frozen(kw_only=True)
class ActionSpec:
    """A discrete action space: action `i` is called `names[i]`."""

    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of actions, A."""
        return len(self.names)


def map_observations(
    function: Callable[[Tensor], Tensor], observations: Observations
) -> Observations:
    """Apply `function` to the tensor, or to each tensor of the mapping."""
    if isinstance(observations, Tensor):
        return function(observations)
    return {name: function(tensor) for name, tensor in observations.items()}


def observation_tensors(observations: Observations) -> dict[str, Tensor]:
    """The tensors by name; a lone tensor is called `"observation"`."""
    if isinstance(observations, Tensor):
        return {"observation": observations}
    return dict(observations)


def observation_specs(spec: ObservationSpec) -> dict[str, TensorSpec]:
    """The specs by name; a lone spec is called `"observation"`."""
    if isinstance(spec, TensorSpec):
        return {"observation": spec}
    return dict(spec)


def batch_size(observations: Observations) -> int:
    """The length B of the first dimension."""
    return next(iter(observation_tensors(observations).values())).shape[0]
