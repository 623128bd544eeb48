"""Configurations from their layers: defaults, the preset of what is played, a file, dotted flags.

Here they are also saved, read back, and told apart by a hash.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import tomli_w

from oakemu_rl.config.algorithms import ExperimentConfiguration, preset_layers
from oakemu_rl.config.combinations import contradictions
from oakemu_rl.config.layers import Layer, Merged, check_layer, flag_layer, merge
from oakemu_rl.config.strict import load_toml, structure, unstructure
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.storage_faults import disk_faults_of

Configuration = TypeVar("Configuration", bound=ExperimentConfiguration)

_NO_OVERRIDES: Mapping[str, object] = MappingProxyType({})


def load_configuration(
    record_type: type[Configuration],
    what: str | None = None,
    *,
    preset: str | None = None,
    file: Path | None = None,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
) -> Configuration:
    """Resolve a configuration; of two layers that set the same thing the later one wins.

    Args:
        record_type: the configuration's record.
        what: what is played, a value of `environment.id`; None leaves it to the layers.
        preset: the algorithm (`"ppo"`, `"dqn"`, `"rainbow"`) whose presets, for every game and for
            `what`, are the first layers; None takes none.
        file: a TOML file, the next layer.
        overrides: values by dotted path, dashes or underscores, the last layer.

    Raises:
        ConfigurationError: one line with the file, preset or flag, the dotted path, what came and
            what is allowed; also where `what` and a layer disagree, or settings contradict.
    """
    layers = [flag_layer(path, value, record_type) for path, value in overrides.items()]
    if file is not None:
        layers.insert(0, Layer(name=str(file), data=load_toml(file)))
        check_layer(layers[0], record_type)
    played = _played(what, layers, record_type)
    if preset is not None:
        presets = preset_layers(preset, played, record_type)
        for layer in presets:
            check_layer(layer, record_type)
        layers[:0] = presets
    layers.append(Layer(name="environment.id", data={"environment": {"id": played}}))
    merged = merge(layers, record_type)
    configuration = structure(merged.data, record_type, source="configuration")
    _refuse_contradictions(configuration, merged)
    return configuration


def save_configuration(configuration: ExperimentConfiguration, path: Path) -> None:
    """Write the resolved configuration as TOML, from which an equal one is loaded.

    Raises:
        StorageError: the disk refused.
    """
    text = tomli_w.dumps(unstructure(configuration))
    with disk_faults_of(str(path)):
        path.write_text(text, encoding="utf-8", newline="\n")


def load_saved_configuration(record_type: type[Configuration], path: Path) -> Configuration:
    """Read what `save_configuration` wrote; presets of today do not change it.

    Raises:
        ConfigurationError: the file is missing or does not fit.
    """
    return load_configuration(record_type, file=path)


def configuration_hash(configuration: ExperimentConfiguration) -> str:
    """The SHA-256, in hexadecimal, of the configuration as JSON with sorted keys and no spaces."""
    text = json.dumps(unstructure(configuration), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _played(what: str | None, layers: list[Layer], record_type: type[Configuration]) -> str:
    """What is played: `what`, which no layer may contradict, else the last layer's word."""
    named = merge(layers, record_type)
    data = named.data.get("environment", {})
    if "id" not in data:
        return what if what is not None else record_type().environment.id
    if what is not None and data["id"] != what:
        raise ConfigurationError(
            f"{named.sources_of('environment.id')}: environment.id: got {data['id']!r}, but asked "
            f"for is {what!r}; leave out one of the two"
        )
    return str(data["id"])


def _refuse_contradictions(configuration: ExperimentConfiguration, merged: Merged) -> None:
    for found in contradictions(configuration):
        sources = merged.sources_of(*found.paths)
        raise ConfigurationError(f"{sources}: {found.paths[0]}: {found.problem}")
