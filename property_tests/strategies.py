"""Arguments for core functions: small tensors, with the hard values that faults hide behind.

Numbers lie on a grid of eighths, so that a float64 reference and float32 work on equal inputs and
neither equal nor different numbers are a matter of rounding.
"""

from collections.abc import Sequence
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from oakemu_rl.core import schedules

INTEGER_DTYPES = (torch.uint8, torch.int16, torch.int32, torch.int64)
FLOAT_DTYPES = (torch.float32, torch.bfloat16, torch.float16)

booleans = st.booleans()
fractions = st.sampled_from([0.0, 0.25, 0.5, 0.9, 0.95, 0.99, 1.0])


def grid(largest: int = 20) -> st.SearchStrategy[float]:
    """A multiple of 1/8 in [-largest, largest]."""
    return st.integers(-8 * largest, 8 * largest).map(lambda eighths: eighths / 8)


GRID = grid()


@st.composite
def tensors(
    draw: st.DrawFn,
    shape: Sequence[int],
    elements: st.SearchStrategy[Any] = GRID,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """A tensor of this shape."""
    count = int(torch.Size(shape).numel())
    values = draw(st.lists(elements, min_size=count, max_size=count))
    return torch.tensor(values, dtype=dtype).reshape(tuple(shape))


def flags(shape: Sequence[int]) -> st.SearchStrategy[Tensor]:
    """Bools of this shape, a quarter of them true."""
    return tensors(shape, st.integers(0, 3).map(lambda number: number == 3), torch.bool)


@st.composite
def rollouts(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `generalized_advantages`; what must not be looked at is NaN."""
    shape = (draw(st.integers(1, 9)), draw(st.integers(1, 3)))
    arguments: dict[str, Any] = {
        name: draw(tensors(shape)) for name in ("rewards", "values", "next_values")
    }
    arguments |= {name: draw(flags(shape)) for name in ("terminated", "truncated")}
    arguments |= {"gamma": draw(fractions), "gae_lambda": draw(fractions), "valid": None}
    if draw(booleans):
        arguments["next_values"][arguments["terminated"]] = torch.nan
    if draw(booleans):
        valid = ~draw(flags(shape))
        for name in ("rewards", "next_values"):
            arguments[name][~valid] = torch.nan
        arguments["valid"] = valid
    return arguments


@st.composite
def masks(draw: st.DrawFn, rows: int, actions: int) -> Tensor:
    """[B, A] or [A], with a legal action in each row."""
    shape = (rows, actions) if draw(booleans) else (1, actions)
    mask = draw(tensors(shape, booleans, torch.bool))
    legal = draw(tensors(shape[:1], st.integers(0, actions - 1), torch.int64))
    mask.scatter_(1, legal.unsqueeze(1), True)
    return mask if shape[0] == rows else mask[0]


@st.composite
def logits_and_mask(draw: st.DrawFn) -> dict[str, Any]:
    """Logits of any floating dtype, some far apart, and a mask or None."""
    rows, actions = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    elements = grid(4) if draw(booleans) else st.sampled_from([-200.0, 0.0, 5.0, 200.0])
    logits = draw(tensors((rows, actions), elements, draw(st.sampled_from(FLOAT_DTYPES))))
    mask = draw(masks(rows, actions)) if draw(booleans) else None
    return {"logits": logits, "mask": mask}


@st.composite
def labelled_logits(draw: st.DrawFn) -> dict[str, Any]:
    """`logits_and_mask` with a legal action a row, of any integer dtype."""
    arguments = draw(logits_and_mask())
    rows, actions = arguments["logits"].shape
    mask = arguments["mask"]
    allowed = torch.ones(rows, actions, dtype=torch.bool) if mask is None else mask
    allowed = allowed.expand(rows, actions)
    labels = [draw(st.sampled_from(row.nonzero().flatten().tolist())) for row in allowed]
    arguments["actions"] = torch.tensor(labels, dtype=draw(st.sampled_from(INTEGER_DTYPES)))
    return arguments


@st.composite
def policy_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `clipped_policy_loss`, ratios from e^-4 to e^4 and some that overflow."""
    rows = draw(st.integers(1, 6))
    old = draw(tensors((rows,), grid(2)))
    ratios = grid(2) if draw(booleans) else st.sampled_from([-200.0, -0.125, 0.0, 0.125])
    advantages = draw(tensors((rows,)))
    change = draw(tensors((rows,), ratios))
    if draw(booleans):
        change[advantages >= 0.0] = 200.0
    return {
        "log_probs": old + change,
        "old_log_probs": old,
        "advantages": advantages,
        "clip_range": draw(st.sampled_from([0.0, 0.1, 0.2, 0.5, 1.0, 2.0])),
    }


@st.composite
def value_rows(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `value_loss`, with clipping or without."""
    shape = (draw(st.integers(1, 6)),)
    arguments = {name: draw(tensors(shape, grid(4))) for name in ("values", "returns")}
    old_values = draw(tensors(shape, grid(4))) if draw(booleans) else None
    clip_range = draw(st.sampled_from([None, 0.2, 1.3])) if old_values is not None else None
    return {**arguments, "old_values": old_values, "clip_range": clip_range}


@st.composite
def values_and_returns(draw: st.DrawFn) -> dict[str, Any]:
    """Two vectors of one length; returns are all equal at times."""
    shape = (draw(st.integers(1, 6)),)
    returns = draw(tensors(shape))
    if draw(booleans):
        returns = torch.full_like(returns, 0.1)
    return {"values": draw(tensors(shape)), "returns": returns}


@st.composite
def moving_sections(draw: st.DrawFn) -> schedules.Schedule:
    """A schedule of one section that moves and ends."""
    make = draw(st.sampled_from([schedules.linear, schedules.cosine, schedules.exponential]))
    value = st.floats(1e-6, 1e6) if make is schedules.exponential else st.floats(-1e6, 1e6)
    return make(draw(value), draw(value), draw(st.integers(1, 1_000)))


@st.composite
def any_schedules(draw: st.DrawFn) -> schedules.Schedule:
    """Constants, single sections and sequences."""
    parts = draw(st.lists(moving_sections(), max_size=3))
    if draw(booleans) or not parts:
        parts.append(schedules.constant(draw(st.floats(-1e6, 1e6))))
    return schedules.sequence(*parts)
