"""Plain data and its JSON text."""

import json
import math
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.core.errors import CheckpointError

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
DATA = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def same(one: object, other: object) -> bool:
    """Equal in value and in type, all the way down; NaN is NaN and -0.0 is not 0.0."""
    return repr(one) == repr(other) and type(one) is type(other)


def refuse(name: str) -> None:
    """Strict JSON has no NaN and no infinity."""
    raise AssertionError(name)


@settings(deadline=None, max_examples=50)
@given(data=st.dictionaries(st.text(), DATA, max_size=3))
def test_what_was_written_is_strict_json_and_comes_back_in_value_type_and_order(
    data: dict[str, Any],
) -> None:
    text = to_json(data, place="state")
    json.loads(text, parse_constant=refuse)
    assert same(from_json(text, source="state.json"), data)


@pytest.mark.parametrize(
    "intruder",
    [
        (1, 2),
        {1},
        b"bytes",
        np.float64(1.0),
        np.int64(1),
        np.ones(2),
        torch.ones(1),
        OrderedDict(a=1),
        object(),
        len,
        2j,
    ],
)
def test_nothing_but_plain_data_is_written_and_the_intruder_is_named(intruder: object) -> None:
    with pytest.raises(TypeError, match=rf"state\.a\[1\]\.b is of type {type(intruder).__name__};"):
        to_json({"a": [0, {"b": intruder}]}, place="state")


@pytest.mark.parametrize("key", [1, None, ("a",), "$float"])
def test_keys_are_strings(key: object) -> None:
    with pytest.raises(TypeError, match=r"state\.a has the key"):
        to_json({"a": {key: 1}}, place="state")


def test_infinities_come_back() -> None:
    data = {"least": -math.inf, "most": [math.inf]}
    assert from_json(to_json(data, place="state"), source="s") == data


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[1]", b"1", b'{"a": NaN}', b'{"a": Infinity}', b"\xff\xfe", b"[" * 100_000],
)
def test_what_is_no_json_object_is_a_broken_checkpoint(text: bytes) -> None:
    with pytest.raises(CheckpointError, match=r"^here/state\.json: "):
        from_json(text, source="here/state.json")
