"""Convolutional trunks: every pixel is seen, and the classic size costs what it always did."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from oakemu_rl.models.convolution import (
    ImpalaCNN,
    NatureCNN,
    covering_padding,
    output_size,
    scaled_channels,
)

SIZES = [
    (48, 64), (84, 84), (36, 36), (64, 48), (37, 53), (85, 83), (96, 128), (1, 1), (2, 3), (5, 1),
    (7, 7), (9, 20), (13, 8), (192, 256),
]  # fmt: skip
TRUNKS = [NatureCNN, ImpalaCNN]


def build(trunk: type[NatureCNN | ImpalaCNN], shape: tuple[int, int, int]) -> NatureCNN | ImpalaCNN:
    return trunk(
        shape,
        feature_size=16,
        channel_multiplier=0.25,
        generator=torch.Generator().manual_seed(0),
    )


def make_positive(module: nn.Module) -> None:
    """Positive weights on positive pixels leave no ReLU at rest, where gradients would be lost."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.abs_().add_(1e-3)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("trunk", TRUNKS)
def test_every_pixel_reaches_the_output(
    trunk: type[NatureCNN | ImpalaCNN], size: tuple[int, int]
) -> None:
    network = build(trunk, (2, *size)).double()
    make_positive(network)
    generator = torch.Generator().manual_seed(1)
    # Pooling passes the gradient of its largest input alone, so that several images are looked at.
    images = torch.rand(6, 2, *size, generator=generator, dtype=torch.float64, requires_grad=True)
    network(images.contiguous(memory_format=torch.channels_last)).sum().backward()
    assert images.grad is not None
    assert bool((images.grad.abs().sum(dim=0) > 0).all())


def test_an_unpadded_network_does_not_see_the_bottom_rows_of_48_by_64() -> None:
    network = build(NatureCNN, (1, 48, 64))
    make_positive(network)
    for layer in network.convolutions:
        if isinstance(layer, nn.Conv2d):
            layer.padding = (0, 0)
    images = torch.rand(1, 1, 48, 64, requires_grad=True)
    network.convolutions(images).sum().backward()
    assert images.grad is not None
    assert bool((images.grad[0, 0, -4:] == 0).all())


@given(
    size=st.integers(1, 300),
    kernel=st.integers(1, 9),
    stride=st.integers(1, 6),
)
def test_padding_is_the_least_with_which_the_windows_cover_the_line(
    size: int, kernel: int, stride: int
) -> None:
    stride = min(stride, kernel)

    def covered(padding: int) -> bool:
        windows = output_size(size, kernel=kernel, stride=stride, padding=padding)
        return windows >= 1 and stride * (windows - 1) + kernel >= size + padding

    padding = covering_padding(size, kernel=kernel, stride=stride)
    assert covered(padding)
    assert not any(covered(less) for less in range(padding))


def test_a_classic_frame_is_not_padded_and_ends_at_7_by_7() -> None:
    network = build(NatureCNN, (4, 84, 84))
    layers = [layer for layer in network.convolutions if isinstance(layer, nn.Conv2d)]
    assert [layer.padding for layer in layers] == [(0, 0)] * 3
    assert network.convolutions(torch.zeros(1, 4, 84, 84)).shape[2:] == (7, 7)


@pytest.mark.parametrize("trunk", TRUNKS)
def test_features_have_the_asked_width(trunk: type[NatureCNN | ImpalaCNN]) -> None:
    network = build(trunk, (3, 20, 30))
    assert network(torch.zeros(5, 3, 20, 30)).shape == (5, 16)
    assert network.feature_size == 16


@pytest.mark.parametrize("trunk", TRUNKS)
def test_the_memory_layout_of_images_does_not_change_features(
    trunk: type[NatureCNN | ImpalaCNN],
) -> None:
    network = build(trunk, (3, 21, 30))
    images = torch.rand(4, 3, 21, 30, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(
        network(images), network(images.contiguous(memory_format=torch.channels_last))
    )


@pytest.mark.parametrize("trunk", TRUNKS)
def test_convolutional_weights_are_channels_last_and_stay_so_when_loaded(
    trunk: type[NatureCNN | ImpalaCNN],
) -> None:
    network, other = build(trunk, (4, 24, 24)), build(trunk, (4, 24, 24))
    plain = {name: tensor.contiguous() for name, tensor in other.state_dict().items()}
    network.load_state_dict(plain)
    layers = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    assert layers
    for layer in layers:
        assert layer.weight.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize(
    ("channels", "multiplier", "expected"),
    [(32, 1.0, 32), (32, 0.5, 16), (32, 2.0, 64), (16, 0.01, 1)],
)
def test_channels_are_scaled_and_never_none(
    channels: int, multiplier: float, expected: int
) -> None:
    assert scaled_channels(channels, multiplier) == expected
