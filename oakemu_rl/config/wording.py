"""How values, types, places and near names read in a message. No message is decided here."""

import datetime
import json
import re
import types
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from oakemu_rl.core.schedules import Schedule

Place = tuple[str | int, ...]
"""Where a value lies: keys of tables and indices of lists, from the root."""

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONGEST = 60
_SCALARS: Mapping[object, tuple[str, str]] = {
    bool: ("true or false", "booleans"),
    int: ("an integer", "integers"),
    float: ("a number", "numbers"),
    str: ("a string", "strings"),
    Schedule: ("a number or a schedule table", "numbers or schedule tables"),
    Any: ("any value", "any values"),
    object: ("any value", "any values"),
}
_KINDS: Sequence[tuple[type | tuple[type, ...], str]] = (
    (bool, "a boolean"),
    (int, "an integer"),
    (float, "a number"),
    (str, "a string"),
    (Mapping, "a table"),
    ((list, tuple), "a list"),
    ((datetime.date, datetime.time), "a date or time"),
)


def dotted(place: Place) -> str:
    """The place as a dotted path: `program.blocks[2].address`. Odd keys are quoted as in TOML."""
    path = ""
    for part in place:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            key = part if _BARE_KEY.fullmatch(part) else json.dumps(part, ensure_ascii=False)
            path += f".{key}" if path else key
    return path


def shown(value: object) -> str:
    """The value as TOML writes it, shortened, with its kind: `"x" (a string)`."""
    kind = next(
        (name for types_, name in _KINDS if isinstance(value, types_)), type(value).__name__
    )
    quoted = isinstance(value, (str, bool))
    text = json.dumps(value, ensure_ascii=False) if quoted else str(value)
    text = " ".join(text.split())
    return f"{text if len(text) <= _LONGEST else text[: _LONGEST - 3] + '...'} ({kind})"


def allowed(wanted: Any) -> str:
    """What a value of the type `wanted` may be: `a list of integers`."""
    return _words(wanted)[0]


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name of `names` that is spelt most like `name`, if one is close."""
    candidates = {candidate.lower(): candidate for candidate in names}
    close = get_close_matches(name.lower(), candidates, n=1, cutoff=0.6)
    return candidates[close[0]] if close else None


def is_union(wanted: Any) -> bool:
    """Whether the type is `A | B`, in either spelling."""
    return get_origin(wanted) in (Union, types.UnionType)


def _words(wanted: Any) -> tuple[str, str]:
    """The type in words, for one value and for many."""
    if wanted in _SCALARS:
        return _SCALARS[wanted]
    origin, arguments = get_origin(wanted), get_args(wanted)
    if is_union(wanted):
        members = [member for member in arguments if member is not type(None)]
        if float in members:
            members = [member for member in members if member is not int]
        words = [_words(member) for member in members]
        return _either(one for one, _ in words), _either(many for _, many in words)
    if origin is Literal:
        return _choices(arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"a table of {_words(arguments[1])[1]}", "tables"
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if origin is tuple and Ellipsis not in arguments:
            items = ", ".join(_words(item)[0] for item in arguments)
            return f"a list of {len(arguments)}: {items}", "lists"
        return f"a list of {_words(arguments[0])[1]}", "lists"
    if attrs.has(wanted):
        return "a table", "tables"
    raise TypeError(f"configuration records cannot hold the type {wanted!r}")


def _either(words: Iterable[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _choices(values: Iterable[object]) -> tuple[str, str]:
    names = ", ".join(str(value) for value in values)
    return f"one of {names}", f"names ({names})"
