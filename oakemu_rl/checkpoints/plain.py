"""Plain data and its JSON text, without loss: what a checkpoint may hold beside tensors.

Plain data is None, bool, int, float, str, list and dict with str keys, nothing else: no tuple, no
NumPy number, no object. Strict JSON knows neither NaN nor infinity, so these are `{"$float":
"nan"}` and the like in the text, and floats again when read.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

from oakemu_rl.core.errors import CheckpointError

_TAG = "$float"
_TAGGED = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_SCALARS = (type(None), bool, int, str)


def to_json(data: Mapping[str, object], *, place: str) -> bytes:
    """`data` as strict JSON text, from which `from_json` makes the same data.

    Raises:
        TypeError: the data is not plain; `place` begins the name of what is wrong.
    """
    tagged = _tagged(dict(data), place=place)
    text = json.dumps(tagged, allow_nan=False, indent=1)
    return f"{text}\n".encode()


def from_json(data: bytes, *, source: str) -> dict[str, Any]:
    """The data that `to_json` wrote.

    Raises:
        CheckpointError: it is not strict JSON, or not an object; the message names `source`.
    """
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant, object_hook=_untagged)
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{source}: is not strict JSON ({error})") from None
    if not isinstance(value, dict):
        raise CheckpointError(f"{source}: holds {type(value).__name__}, expected is an object")
    return value


def _tagged(value: object, *, place: str) -> object:
    """A copy in which tagged text stands for NaN and infinities."""
    if type(value) in _SCALARS:
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {_TAG: repr(value)}
    if type(value) is list:
        return [_tagged(item, place=f"{place}[{index}]") for index, item in enumerate(value)]
    if type(value) is dict:
        for key in value:
            if type(key) is not str or key == _TAG:
                raise TypeError(f"{place} has the key {key!r}; allowed are strings but {_TAG!r}")
        return {key: _tagged(item, place=f"{place}.{key}") for key, item in value.items()}
    raise TypeError(
        f"{place} is of type {type(value).__name__}; beside tensors a checkpoint holds "
        "plain data only (None, bool, int, float, str, list, dict)"
    )


def _untagged(value: dict[str, Any]) -> Any:
    if set(value) == {_TAG} and value[_TAG] in _TAGGED:
        return _TAGGED[value[_TAG]]
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not strict JSON")
