"""Checks of arguments. Each message names the argument, what is expected and what came.

A wrong dtype raises `TypeError`, a wrong shape `ValueError`. What the numbers inside a tensor may
be is checked where it matters, since to look at them may mean to wait for an accelerator.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def check_floating(name: str, tensor: Tensor) -> None:
    """`tensor` holds floating-point numbers of any width."""
    _check_kind(name, tensor, torch.is_floating_point, "a floating-point tensor")


def check_bool(name: str, tensor: Tensor) -> None:
    """`tensor` holds truth values."""
    _check_kind(name, tensor, lambda candidate: candidate.dtype == torch.bool, "a bool tensor")


def check_integer(name: str, tensor: Tensor) -> None:
    """`tensor` holds integers of any width; bool is not one."""
    _check_kind(name, tensor, _is_integer, "an integer tensor")


def check_dimensions(name: str, tensor: Tensor, letters: str) -> None:
    """`tensor` has one dimension for each letter: `"TN"` for [T, N]."""
    if tensor.dim() != len(letters):
        raise ValueError(f"{name}: expected shape {_listed(letters)}, got {_listed(tensor.shape)}")


def check_shape(name: str, tensor: Tensor, shape: Sequence[int], letters: str) -> None:
    """`tensor` has exactly this shape, whose dimensions are called by `letters`."""
    if tensor.shape != tuple(shape):
        raise ValueError(
            f"{name}: expected shape {_listed(letters)} = {_listed(shape)}, "
            f"got {_listed(tensor.shape)}"
        )


def _check_kind(name: str, tensor: Tensor, fits: Callable[[Tensor], bool], expected: str) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(
            f"{name}: expected {expected}, got {tensor!r} of type {type(tensor).__name__}"
        )
    if not fits(tensor):
        raise TypeError(f"{name}: expected {expected}, got dtype {tensor.dtype}")


def _is_integer(tensor: Tensor) -> bool:
    floating = tensor.is_floating_point() or tensor.is_complex()
    return not floating and tensor.dtype != torch.bool


def _listed(dimensions: Sequence[int] | str) -> str:
    return f"[{', '.join(str(dimension) for dimension in dimensions)}]"
