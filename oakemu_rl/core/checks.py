"""Checks of arguments. Each message names the argument, what is expected and what came.

A wrong dtype raises `TypeError`, a wrong shape `ValueError`. What the numbers inside a tensor may
be is checked where it matters, since to look at them may mean to wait for an accelerator.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def check_floating(name: str, tensor: Tensor) -> None:
    """`tensor` holds floating-point numbers of any width."""
    if not (isinstance(tensor, Tensor) and tensor.dtype.is_floating_point):
        raise _wrong_kind(name, tensor, "a floating-point tensor")


def check_bool(name: str, tensor: Tensor) -> None:
    """`tensor` holds truth values."""
    if not (isinstance(tensor, Tensor) and tensor.dtype == torch.bool):
        raise _wrong_kind(name, tensor, "a bool tensor")


def check_integer(name: str, tensor: Tensor) -> None:
    """`tensor` holds integers of any width; bool is not one."""
    if not (isinstance(tensor, Tensor) and _is_integer(tensor.dtype)):
        raise _wrong_kind(name, tensor, "an integer tensor")


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


def check_mask(name: str, mask: Tensor, rows_and_actions: Sequence[int]) -> None:
    """`mask` is of truth values, [A] for all rows or [B, A]."""
    check_bool(name, mask)
    if mask.dim() == 1:
        check_shape(name, mask, rows_and_actions[1:], "A")
    else:
        check_shape(name, mask, rows_and_actions, "BA")


def _is_integer(dtype: torch.dtype) -> bool:
    return not (dtype.is_floating_point or dtype.is_complex or dtype == torch.bool)


def _wrong_kind(name: str, given: object, expected: str) -> TypeError:
    found = (
        f"dtype {given.dtype}"
        if isinstance(given, Tensor)
        else f"{given!r} of type {type(given).__name__}"
    )
    return TypeError(f"{name}: expected {expected}, got {found}")


def _listed(dimensions: Sequence[int] | str) -> str:
    return f"[{', '.join(str(dimension) for dimension in dimensions)}]"
