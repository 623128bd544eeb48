"""The precision in which losses and targets are computed.

What needs no change comes back as it is, without an operation: small networks notice those.
"""

import torch
from torch import Tensor


def at_least_float32(tensor: Tensor) -> Tensor:
    """A half type as float32; float32 and float64 as they are."""
    return tensor if tensor.dtype in (torch.float32, torch.float64) else tensor.float()


def in_float32(tensor: Tensor) -> Tensor:
    """The numbers in float32."""
    return tensor if tensor.dtype == torch.float32 else tensor.float()


def constant(tensor: Tensor) -> Tensor:
    """The numbers in float32, which no gradient passes."""
    return in_float32(tensor.detach() if tensor.requires_grad else tensor)
