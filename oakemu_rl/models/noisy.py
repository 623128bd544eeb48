"""Linear layers with noisy weights, which explore by themselves. Who draws noise when is not here.

Drawing happens on the CPU from the caller's generator, so that a seed gives the same noise on every
device.
"""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from oakemu_rl.models.layers import linear


class NoisyLinear(nn.Module):
    """A fully connected layer whose weights carry factorised Gaussian noise.

        y = (W + S * (e_out e_in^T)) x + b + s * e_out

    with learned S and s, which start at `sigma / sqrt(inputs)` everywhere (Fortunato et al., 2018).
    It is computed as `W x + b + (S (x * e_in) + s) * e_out`, so that no matrix of noise is made.
    The noise lies in buffers that are not saved; it is 0 until it is drawn, and stays until it is
    drawn again, which must not happen between a forward pass and its backward pass.

    Shapes: [..., inputs] float to [..., outputs].
    """

    input_noise: Tensor
    output_noise: Tensor

    def __init__(
        self, inputs: int, outputs: int, *, gain: float, sigma: float, generator: torch.Generator
    ) -> None:
        super().__init__()
        plain = linear(inputs, outputs, gain=gain, generator=generator)
        self.weight, self.bias = plain.weight, plain.bias
        spread = sigma / math.sqrt(inputs)
        self.weight_sigma = nn.Parameter(torch.full_like(plain.weight, spread))
        self.bias_sigma = nn.Parameter(torch.full_like(plain.bias, spread))
        self.register_buffer("input_noise", torch.zeros(inputs), persistent=False)
        self.register_buffer("output_noise", torch.zeros(outputs), persistent=False)

    def forward(self, features: Tensor) -> Tensor:
        """The layer's output with the noise drawn last."""
        plain = F.linear(features, self.weight, self.bias)
        noise = F.linear(features * self.input_noise, self.weight_sigma, self.bias_sigma)
        return torch.addcmul(plain, noise, self.output_noise.to(noise.dtype))


def draw_noise(layers: Sequence[NoisyLinear], *, generator: torch.Generator) -> None:
    """New noise for all layers: `e = sign(x) * sqrt(|x|)` of standard normal x.

    `generator` belongs to the CPU.
    """
    buffers = [noise for layer in layers for noise in (layer.input_noise, layer.output_noise)]
    if not buffers:
        return
    normal = torch.randn(sum(noise.numel() for noise in buffers), generator=generator)
    drawn = (normal.sign() * normal.abs().sqrt_()).to(buffers[0].device)
    for noise, part in zip(buffers, drawn.split([noise.numel() for noise in buffers]), strict=True):
        noise.copy_(part)


def remove_noise(layers: Sequence[NoisyLinear]) -> None:
    """Let all layers be as without noise."""
    for layer in layers:
        layer.input_noise.zero_()
        layer.output_noise.zero_()
