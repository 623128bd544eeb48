"""The precision in which losses and targets are computed."""

import torch
from torch import Tensor


def at_least_float32(tensor: Tensor) -> Tensor:
    """A half type as float32; float32 and float64 as they are."""
    return tensor if tensor.dtype == torch.float64 else tensor.float()
