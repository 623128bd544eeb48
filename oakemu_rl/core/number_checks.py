"""Checks of plain numbers. Each message names the argument, what is expected and what came.

Tensors are checked in `checks`; this module needs no torch.
"""

import math
import sys
from typing import SupportsFloat

_GREATEST = sys.float_info.max


def is_finite(value: SupportsFloat) -> bool:
    """Whether `value` is finite; an integer beyond the range of a float is not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def check_fraction(name: str, value: float) -> None:
    """`value` lies in [0, 1]."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name}: expected a number from 0 to 1, got {value!r}")


def check_not_negative(name: str, value: float) -> None:
    """`value` is finite and at least 0."""
    if not 0.0 <= value <= _GREATEST:
        raise ValueError(f"{name}: expected a finite number, at least 0, got {value!r}")


def check_positive(name: str, value: float) -> None:
    """`value` is finite and above 0."""
    if not 0.0 < value <= _GREATEST:
        raise ValueError(f"{name}: expected a finite number above 0, got {value!r}")
