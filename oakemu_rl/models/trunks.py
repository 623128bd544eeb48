"""The trunk: one encoder for each entry of the observation, their features side by side.

Here an observation becomes floats: bytes are divided by 255 exactly once, images take the
channels-last layout, vectors are normalised where that is switched on. The networks themselves are
elsewhere.
"""

import math
from collections.abc import Iterable
from typing import Protocol, cast

import torch
from torch import Tensor, nn

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.observations import (
    Observations,
    ObservationSpec,
    TensorSpec,
    observation_specs,
)
from oakemu_rl.core.precision import in_float32
from oakemu_rl.models.convolution import ImpalaCNN, NatureCNN
from oakemu_rl.models.mlp import MLP
from oakemu_rl.models.normalizer import ObservationNormalizer

BYTE_SCALE = 255.0
FEW_CHANNELS = 8
CONVOLUTIONAL: dict[str, type[NatureCNN | ImpalaCNN]] = {
    "auto": NatureCNN,
    "nature": NatureCNN,
    "impala": ImpalaCNN,
}


class FeatureNetwork(Protocol):
    """A network from [B, ...] floats to [B, feature_size]."""

    feature_size: int

    def __call__(self, inputs: Tensor, /) -> Tensor:
        """The features of a batch."""


class Encoder(nn.Module):
    """The network of one entry of the observation, and the way from the entry's dtype to floats.

    Shapes: [B, *spec.shape] in `spec.dtype` to [B, feature_size] float.
    """

    def __init__(
        self, name: str, spec: TensorSpec, *, options: ModelOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.name = name
        self.spec = spec
        self._dtype = spec.torch_dtype
        self.normalizer = (
            ObservationNormalizer(math.prod(spec.shape))
            if options.normalize_observations and not spec.is_image
            else None
        )
        self.network = _network(spec, options=options, generator=generator)
        self._features = self.network.forward

    @property
    def feature_size(self) -> int:
        """The width of the features."""
        return cast("FeatureNetwork", self.network).feature_size

    def forward(self, entry: Tensor) -> Tensor:
        """The features of a batch of this entry."""
        inputs = self._to_float(entry)
        if self.normalizer is not None:
            inputs = self.normalizer(inputs)
        features: Tensor = self._features(inputs)
        return features

    def update_statistics(self, entry: Tensor) -> None:
        """Let the normaliser, where there is one, take in a batch."""
        if self.normalizer is not None:
            self.normalizer.update(self._to_float(entry))

    def _to_float(self, entry: Tensor) -> Tensor:
        if entry.shape[1:] != self.spec.shape or entry.dtype != self._dtype:
            raise ValueError(
                f"{self.name}: expected torch.{self.spec.dtype} of shape [B, *{self.spec.shape}], "
                f"got {entry.dtype} of shape {tuple(entry.shape)}"
            )
        if self.spec.is_image:
            # While the pixels are bytes, the change of layout moves a quarter of the memory.
            entry = _channels_last(entry)
        if entry.dtype == torch.uint8:
            return entry.to(torch.float32).div_(BYTE_SCALE)
        return in_float32(entry)


def _channels_last(images: Tensor) -> Tensor:
    """The same images [B, C, H, W], in memory ordered as [B, H, W, C].

    On the CPU a few channels are moved faster one by one than by torch's way for all at once.
    """
    rows, channels = images.shape[:2]
    few = rows > 1 and 1 < channels <= FEW_CHANNELS and images.device.type == "cpu"
    if not few or images.is_contiguous(memory_format=torch.channels_last):
        return images.contiguous(memory_format=torch.channels_last)
    moved = torch.empty_like(images, memory_format=torch.channels_last)
    for channel in range(channels):
        moved[:, channel].copy_(images[:, channel])
    return moved


def _network(spec: TensorSpec, *, options: ModelOptions, generator: torch.Generator) -> nn.Module:
    if spec.is_image and options.trunk in CONVOLUTIONAL:
        return CONVOLUTIONAL[options.trunk](
            spec.shape,
            feature_size=options.feature_size,
            channel_multiplier=options.channel_multiplier,
            generator=generator,
        )
    return MLP(
        math.prod(spec.shape),
        hidden_sizes=options.hidden_sizes,
        activation=options.activation,
        generator=generator,
    )


class Trunk(nn.Module):
    """The encoders of all entries; their features are concatenated in the order of the spec.

    Shapes: observations [B, ...] to [B, feature_size].

    Raises:
        ValueError: an entry is missing, or its shape or dtype is not the spec's.
    """

    def __init__(
        self, spec: ObservationSpec, *, options: ModelOptions, generator: torch.Generator
    ) -> None:
        super().__init__()
        # A list, since an entry may have a name that a module's attribute cannot have.
        self.encoders = nn.ModuleList(
            Encoder(name, entry, options=options, generator=generator)
            for name, entry in observation_specs(spec).items()
        )
        self.feature_size = sum(encoder.feature_size for encoder in self._encoders())
        self._keeps_statistics = any(each.normalizer is not None for each in self._encoders())
        # Called without the module's own way to a call: small networks notice it.
        self._forwards = [(encoder.name, encoder.forward) for encoder in self._encoders()]

    def forward(self, observations: Observations) -> Tensor:
        """The features of a batch of observations."""
        features = [forward(_entry(observations, name)) for name, forward in self._forwards]
        return features[0] if len(features) == 1 else torch.cat(features, dim=1)

    @property
    def keeps_statistics(self) -> bool:
        """Whether there is a normaliser to tell of observations."""
        return self._keeps_statistics

    def update_statistics(self, observations: Observations) -> None:
        """Let the normalisers take in a batch of observations."""
        for encoder in self._encoders():
            encoder.update_statistics(_entry(observations, encoder.name))

    def _encoders(self) -> Iterable[Encoder]:
        return cast("Iterable[Encoder]", self.encoders)


def _entry(observations: Observations, name: str) -> Tensor:
    if isinstance(observations, Tensor):
        return observations
    if name not in observations:
        raise ValueError(f"observations: no entry {name!r}, got {', '.join(observations)}")
    return observations[name]
