"""Configurations on the command line: from flags to the record, and the commands `config ...`."""

import sys
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from oakemu_rl.cli.commands import CheckConfig, Settings, ShowConfig
from oakemu_rl.config.algorithms import ALGORITHMS, ExperimentConfiguration
from oakemu_rl.config.loading import load_configuration
from oakemu_rl.config.paths import setting_paths, setting_type
from oakemu_rl.config.strict import parse_toml_value, unstructure


def resolve(
    what: str, *, algorithm: str, file: Path | None, settings: Settings
) -> ExperimentConfiguration:
    """The configuration that a command line asks for.

    Raises:
        ConfigurationError: as `load_configuration`.
    """
    record_type = ALGORITHMS[algorithm]
    paths = setting_paths(record_type)
    overrides: Mapping[str, object] = {
        path: _value(text, setting_type(path, paths)) for path, text in settings.items()
    }
    return load_configuration(record_type, what, preset=algorithm, file=file, overrides=overrides)


def _value(text: str, wanted: object) -> object:
    """The text's value; a setting that is a string takes a bare `7` or `true` as it stands."""
    value = parse_toml_value(text)
    return text if wanted in (str, str | None) and not isinstance(value, str) else value


def show(command: ShowConfig, settings: Settings) -> int:
    """Print the resolved configuration as TOML."""
    configuration = resolve(
        command.what, algorithm=command.algo, file=command.config, settings=settings
    )
    data = unstructure(configuration)
    sys.stdout.write(tomli_w.dumps(data))
    for path in setting_paths(ALGORITHMS[command.algo]):
        record, _, name = path.partition(".")
        if name not in data[record]:
            sys.stdout.write(f"# {path} is not set\n")
    return 0


def check(command: CheckConfig) -> int:
    """Load a file of settings over the preset of what it names."""
    load_configuration(ALGORITHMS[command.algo], preset=command.algo, file=command.file)
    sys.stdout.write(f"{command.file}: is a valid {command.algo} configuration\n")
    return 0
