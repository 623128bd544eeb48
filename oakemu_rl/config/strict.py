"""The strict edge between files and records: nothing is coerced, and each fault names its place.

`"7"` is not 7, 1.9 is not 1 and `true` is not 1.0; an integer is taken for a number, a list for a
tuple, a number or a table for a schedule. Keys that no record reads are refused. Which records and
which layers of values there are is not known here.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import attrs

from oakemu_rl.config.fitting import MisfitError, fit
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.schedules import Schedule

Record = TypeVar("Record")


def load_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        ConfigurationError: the file is missing, cannot be read, or is not TOML; the message names
            the line.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file") from None
    except IsADirectoryError:
        raise ConfigurationError(f"{path}: is a folder, allowed is a TOML file") from None
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        lines = text.count("\n") + 1
        told = str(error).replace("at end of document", f"at line {lines}, the end of the file")
        raise ConfigurationError(f"{path}: is not valid TOML: {told}") from None


def structure(data: object, record_type: type[Record], *, source: str) -> Record:
    """Make a record from plain data, or say in one line what is wrong and where.

    Raises:
        ConfigurationError: `source: dotted.path: what came, what is allowed`.
    """
    try:
        return fit(data, record_type)
    except MisfitError as fault:
        raise ConfigurationError(fault.told_of(source)) from None


def unstructure(record: attrs.AttrsInstance) -> dict[str, Any]:
    """The record as plain data that TOML and JSON can hold; a value of None is left out."""
    return {
        field.name: _plain(value)
        for field in attrs.fields(type(record))
        if field.init and (value := getattr(record, field.name)) is not None
    }


def parse_toml_value(text: str) -> object:
    """The text as a TOML value (`0.1`, `true`, `[1, 2]`), or itself where it is none (`greedy`)."""
    try:
        return tomllib.loads(f"value = {text}")["value"] if "\n" not in text else text
    except tomllib.TOMLDecodeError:
        return text


def _plain(value: Any) -> object:
    if isinstance(value, Schedule):
        return value.to_data()
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return unstructure(value) if attrs.has(type(value)) else value
