"""Layers of settings, each checked by itself, laid over each other; the later one wins.

A layer that is wrong is refused even where a later one covers the fault. Schedules and lists are
replaced whole; tables of the user's own (`environment.arguments`) are joined key by key.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import attrs

from oakemu_rl.config.fitting import MisfitError, UnknownKeyError, fit
from oakemu_rl.config.paths import (
    fields_of,
    is_record,
    is_table,
    meant,
    misplaced,
    setting_paths,
    setting_type,
)
from oakemu_rl.config.wording import dotted
from oakemu_rl.core.errors import ConfigurationError


@attrs.frozen(kw_only=True)
class Layer:
    """Settings from one source, nested as in the file. `name` is the source in messages."""

    name: str
    data: Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Merged:
    """The settings of all layers, and the source of each by its dotted path."""

    data: dict[str, Any]
    sources: dict[str, str]

    def sources_of(self, *paths: str) -> str:
        """The sources of these settings, in words; one that no layer sets has its default."""
        names = dict.fromkeys(self.sources.get(path, "defaults") for path in paths)
        return ", ".join(names)


def check_layer(layer: Layer, record_type: Any) -> None:
    """Refuse what does not fit the record.

    Raises:
        ConfigurationError: names the layer, the path, the value, and what is allowed.
    """
    try:
        fit(layer.data, record_type)
    except UnknownKeyError as fault:
        path, paths = dotted(fault.place), setting_paths(record_type)
        candidates = misplaced(path, paths) or ([] if fault.near else meant(path, paths))
        if candidates:
            hint = f"did you mean {' or '.join(candidates)}?"
            fault.problem = f"unknown key; {hint} {fault.allowed}"
        raise ConfigurationError(fault.told_of(layer.name)) from None
    except MisfitError as fault:
        raise ConfigurationError(fault.told_of(layer.name)) from None


def flag_layer(path: str, value: object, record_type: Any) -> Layer:
    """The checked layer of one dotted flag, `loss.clip-range` or `loss.clip_range`.

    Raises:
        ConfigurationError: no such setting, or a value that it cannot take.
    """
    flag, path = flag_name(path), path.replace("-", "_")
    paths = setting_paths(record_type)
    if setting_type(path, paths) is None:
        raise ConfigurationError(unknown_flag(flag, paths))
    data: Any = value
    for part in reversed(path.split(".")):
        data = {part: data}
    try:
        fit(data, record_type)
    except MisfitError as fault:
        inner = dotted(fault.place).removeprefix(path)
        raise ConfigurationError(f"{flag}{inner}: {fault.problem}") from None
    return Layer(name=flag, data=data)


def flag_name(path: str) -> str:
    """The flag that sets the setting at this path."""
    return f"--{path.replace('_', '-')}"


def unknown_flag(flag: str, paths: Mapping[str, Any], short: Sequence[str] = ()) -> str:
    """The line about a flag that does not exist; `short` are flags that have no dot."""
    path = flag.lstrip("-").replace("-", "_")
    candidates = meant(path, [*short, *paths])
    first = [candidate for candidate in candidates if candidate in short] or candidates
    if not first:
        return f"{flag}: unknown flag; --help lists the flags, `config show WHAT` the settings"
    return f"{flag}: unknown flag; did you mean {' or '.join(map(flag_name, first))}?"


def merge(layers: Sequence[Layer], record_type: Any) -> Merged:
    """Lay checked layers over each other, first to last."""
    merged = Merged(data={}, sources={})
    for layer in layers:
        _lay(layer.data, merged.data, fields_of(record_type), (), merged.sources, layer.name)
    return merged


def _lay(
    data: Mapping[str, Any],
    below: dict[str, Any],
    types: Mapping[str, Any],
    place: tuple[str, ...],
    sources: dict[str, str],
    name: str,
) -> None:
    for key, value in data.items():
        wanted = types.get(key)
        if is_record(wanted):
            _lay(value, below.setdefault(key, {}), fields_of(wanted), (*place, key), sources, name)
        else:
            below[key] = {**below.get(key, {}), **value} if is_table(wanted) else value
            sources[dotted((*place, key))] = name
