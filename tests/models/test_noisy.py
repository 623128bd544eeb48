"""Noisy layers: the formula, where noise comes from, and what is learned."""

import math

import pytest
import torch
from torch import Tensor, nn

from oakemu_rl.models.noisy import NoisyLinear, draw_noise, remove_noise


def build(inputs: int = 5, outputs: int = 3, *, sigma: float = 0.5, seed: int = 0) -> NoisyLinear:
    generator = torch.Generator().manual_seed(seed)
    return NoisyLinear(inputs, outputs, gain=1.0, sigma=sigma, generator=generator)


def rows(count: int = 4, inputs: int = 5) -> Tensor:
    return torch.randn(count, inputs, generator=torch.Generator().manual_seed(7))


def test_the_output_is_that_of_the_noisy_weights_written_out() -> None:
    layer, inputs = build(), rows()
    draw_noise([layer], generator=torch.Generator().manual_seed(1))
    noise_in, noise_out = layer.input_noise.tolist(), layer.output_noise.tolist()
    outputs = layer(inputs)
    for row, output in zip(inputs.tolist(), outputs.tolist(), strict=True):
        for i in range(3):
            expected = layer.bias[i].item() + layer.bias_sigma[i].item() * noise_out[i]
            for j in range(5):
                spread = layer.weight_sigma[i, j].item() * noise_out[i] * noise_in[j]
                expected += (layer.weight[i, j].item() + spread) * row[j]
            assert output[i] == pytest.approx(expected, abs=1e-6)


def test_without_noise_it_is_the_plain_layer_to_the_bit() -> None:
    layer, inputs = build(), rows()
    plain = nn.functional.linear(inputs, layer.weight, layer.bias)
    assert torch.equal(layer(inputs), plain)
    draw_noise([layer], generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(layer(inputs), plain)
    remove_noise([layer])
    assert torch.equal(layer(inputs), plain)


def test_weights_begin_orthogonal_and_sigmas_at_their_share_of_the_inputs() -> None:
    layer = build(inputs=16, outputs=3, sigma=0.4)
    torch.testing.assert_close(layer.weight @ layer.weight.T, torch.eye(3))
    assert not layer.bias.any()
    assert torch.equal(layer.weight_sigma, torch.full((3, 16), 0.1))
    assert torch.equal(layer.bias_sigma, torch.full((3,), 0.1))


def test_noise_has_the_moments_of_signed_roots_of_normal_variates() -> None:
    layer = build(inputs=20_000, outputs=1)
    draw_noise([layer], generator=torch.Generator().manual_seed(2))
    noise = layer.input_noise
    assert noise.mean().item() == pytest.approx(0.0, abs=0.03)
    # E x^2 = E |z| and E x^4 = E z^2 for x = sign(z) sqrt |z|.
    assert noise.square().mean().item() == pytest.approx(math.sqrt(2 / math.pi), abs=0.03)
    assert noise.pow(4).mean().item() == pytest.approx(1.0, abs=0.06)


def test_equal_generators_draw_equal_noise_and_every_layer_its_own() -> None:
    first, second = build(), build()
    generator = torch.Generator().manual_seed(3)
    draw_noise([first, second], generator=generator)
    drawn = [layer.input_noise.clone() for layer in (first, second)]
    assert not torch.equal(drawn[0], drawn[1])
    draw_noise([first, second], generator=torch.Generator().manual_seed(3))
    assert torch.equal(first.input_noise, drawn[0])
    draw_noise([first, second], generator=generator)
    assert not torch.equal(first.input_noise, drawn[0])


def test_drawing_leaves_the_global_generator_alone() -> None:
    before = torch.get_rng_state()
    draw_noise([build()], generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.get_rng_state(), before)


def test_without_layers_nothing_is_drawn() -> None:
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    draw_noise([], generator=generator)
    assert torch.equal(generator.get_state(), before)


def test_noise_is_not_saved_and_loading_keeps_it() -> None:
    layer = build()
    assert set(layer.state_dict()) == {"weight", "bias", "weight_sigma", "bias_sigma"}
    draw_noise([layer], generator=torch.Generator().manual_seed(1))
    before = layer.input_noise.clone()
    layer.load_state_dict(build(seed=5).state_dict())
    assert torch.equal(layer.input_noise, before)


def test_sigmas_learn_under_noise_alone() -> None:
    layer = build()
    for noisy in (False, True):
        layer.zero_grad()
        if noisy:
            draw_noise([layer], generator=torch.Generator().manual_seed(1))
        layer(rows()).sum().backward()
        assert layer.weight.grad is not None
        assert layer.weight_sigma.grad is not None
        assert bool(layer.weight.grad.any())
        assert bool(layer.weight_sigma.grad.any()) == noisy


def test_drawing_between_a_forward_and_its_backward_pass_is_refused_by_torch() -> None:
    layer = build()
    loss = layer(rows()).sum()
    draw_noise([layer], generator=torch.Generator().manual_seed(1))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
