"""Convolutional trunks for images: the Nature network and the residual network of IMPALA.

Each is sized to the image by itself, and padded so that every row and column of the input lies
under a kernel. Images arrive here as floats in channels-last layout; scaling them is the trunk's
part.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from oakemu_rl.models.layers import HIDDEN_GAIN, convolution, linear

NATURE_LAYERS = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
"""Channels, kernel and stride of each layer."""
IMPALA_CHANNELS = (16, 32, 32)


def covering_padding(size: int, *, kernel: int, stride: int) -> int:
    """The least padding on both sides with which the last window reaches the last of `size` pixels.

    A window starts every `stride` pixels, so `(size - kernel) % stride` pixels at the end lie under
    none. One more window, `ceil((size - kernel) / stride) + 1` in all, needs `missing = stride *
    (windows - 1) + kernel - size` more pixels. With `ceil(missing / 2)` of them on each side the
    windows end at or behind the last pixel; with none missing the size stays the classic one.
    """
    steps = -(-max(size - kernel, 0) // stride)
    missing = stride * steps + kernel - size
    return -(-missing // 2)


def output_size(size: int, *, kernel: int, stride: int, padding: int) -> int:
    """The number of windows on `size` pixels with `padding` on both sides."""
    return (size + 2 * padding - kernel) // stride + 1


def scaled_channels(channels: int, multiplier: float) -> int:
    """`channels * multiplier`, rounded, at least one."""
    return max(1, round(channels * multiplier))


def _flatten(images: Tensor) -> Tensor:
    """[B, C, H, W] to [B, H * W * C], the order of channels-last memory, so that nothing moves."""
    return images.permute(0, 2, 3, 1).flatten(start_dim=1)


class NatureCNN(nn.Module):
    """Three strided convolutions and a fully connected layer, ReLU after each (Mnih et al., 2015).

    Shapes: [B, C, H, W] float to [B, feature_size].
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        feature_size: int,
        channel_multiplier: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        channels, height, width = shape
        layers: list[nn.Module] = []
        for plain_channels, kernel, stride in NATURE_LAYERS:
            padding = (
                covering_padding(height, kernel=kernel, stride=stride),
                covering_padding(width, kernel=kernel, stride=stride),
            )
            outputs = scaled_channels(plain_channels, channel_multiplier)
            layers += [
                convolution(
                    channels,
                    outputs,
                    kernel=kernel,
                    stride=stride,
                    padding=padding,
                    generator=generator,
                ),
                nn.ReLU(inplace=True),
            ]
            channels = outputs
            height = output_size(height, kernel=kernel, stride=stride, padding=padding[0])
            width = output_size(width, kernel=kernel, stride=stride, padding=padding[1])
        self.convolutions = nn.Sequential(*layers)
        self.projection = linear(
            channels * height * width, feature_size, gain=HIDDEN_GAIN, generator=generator
        )
        self.feature_size = feature_size

    def forward(self, images: Tensor) -> Tensor:
        """The features of a batch of images."""
        return F.relu(self.projection(_flatten(self.convolutions(images))))


class _ResidualBlock(nn.Module):
    """`x + conv(relu(conv(relu(x))))` with kernels of 3, which keeps the size."""

    def __init__(self, channels: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.first, self.second = (
            convolution(channels, channels, kernel=3, padding=(1, 1), generator=generator)
            for _ in range(2)
        )

    def forward(self, images: Tensor) -> Tensor:
        hidden: Tensor = self.second(F.relu(self.first(F.relu(images))))
        return images + hidden


class ImpalaCNN(nn.Module):
    """Three stages of convolution, pooling by two and two residual blocks (Espeholt et al., 2018).

    Kernels of 3 with a padding of 1 reach every pixel of any size, the pooling's included.

    Shapes: [B, C, H, W] float to [B, feature_size].
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        feature_size: int,
        channel_multiplier: float,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        channels, height, width = shape
        stages: list[nn.Module] = []
        for plain_channels in IMPALA_CHANNELS:
            outputs = scaled_channels(plain_channels, channel_multiplier)
            stages += [
                convolution(channels, outputs, kernel=3, padding=(1, 1), generator=generator),
                nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
                _ResidualBlock(outputs, generator=generator),
                _ResidualBlock(outputs, generator=generator),
            ]
            channels = outputs
            height = output_size(height, kernel=3, stride=2, padding=1)
            width = output_size(width, kernel=3, stride=2, padding=1)
        self.stages = nn.Sequential(*stages)
        self.projection = linear(
            channels * height * width, feature_size, gain=HIDDEN_GAIN, generator=generator
        )
        self.feature_size = feature_size

    def forward(self, images: Tensor) -> Tensor:
        """The features of a batch of images."""
        return F.relu(self.projection(_flatten(F.relu(self.stages(images)))))
