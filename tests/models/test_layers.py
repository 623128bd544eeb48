"""Layers: orthogonal weights, from the caller's generator alone."""

import pytest
import torch

from oakemu_rl.models.layers import HIDDEN_GAIN, convolution, linear


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("gain", [0.01, 1.0, HIDDEN_GAIN])
def test_rows_of_a_layer_are_orthogonal_with_the_gain_as_their_length(gain: float) -> None:
    layer = linear(40, 24, gain=gain, generator=generator())
    products = layer.weight @ layer.weight.T
    torch.testing.assert_close(products, gain**2 * torch.eye(24), atol=1e-5, rtol=1e-5)
    assert bool((layer.bias == 0).all())


def test_kernels_of_a_convolution_are_orthogonal() -> None:
    layer = convolution(3, 8, kernel=4, stride=2, generator=generator())
    kernels = layer.weight.flatten(start_dim=1)
    torch.testing.assert_close(kernels @ kernels.T, 2.0 * torch.eye(8), atol=1e-5, rtol=1e-5)
    assert layer.bias is not None
    assert bool((layer.bias == 0).all())


def test_global_randomness_is_neither_used_nor_moved() -> None:
    torch.manual_seed(7)
    before = torch.get_rng_state()
    first = linear(5, 5, gain=1.0, generator=generator())
    convolution(3, 8, kernel=3, generator=generator())
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(8)
    assert torch.equal(first.weight, linear(5, 5, gain=1.0, generator=generator()).weight)
