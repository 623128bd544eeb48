"""The algorithms by name: the record that configures each, and where its presets lie.

`presets/rainbow.toml` holds what makes Rainbow of DQN and goes for every game;
`presets/rainbow/acorns.toml` goes over it for that game. Either may be missing.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.layers import Layer
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.config.strict import load_toml
from oakemu_rl.core.errors import ConfigurationError

ExperimentConfiguration = PPOExperimentConfiguration | DQNExperimentConfiguration

PRESETS = Path(__file__).parent / "presets"
ALGORITHMS: Mapping[str, type[ExperimentConfiguration]] = MappingProxyType(
    {
        "ppo": PPOExperimentConfiguration,
        "dqn": DQNExperimentConfiguration,
        "rainbow": DQNExperimentConfiguration,
    }
)


def preset_layers(algorithm: str, what: str, record_type: type[Any]) -> list[Layer]:
    """The algorithm's presets for a game's name or a Gymnasium id, the one for every game first.

    A game's file has - for the id's /.

    Raises:
        ConfigurationError: there is no such algorithm, or it is configured by another record.
    """
    allowed = [name for name, record in ALGORITHMS.items() if issubclass(record_type, record)]
    if algorithm not in allowed:
        raise ConfigurationError(
            f"preset: got {algorithm!r}, allowed with {record_type.__name__} is "
            f"{' or '.join(allowed)}"
        )
    files = {file.stem: file for file in (PRESETS / algorithm).glob("*.toml")}
    found = [PRESETS / f"{algorithm}.toml", files.get(what.replace("/", "-"))]
    return [
        Layer(name=f"preset {_name_of(file)}", data=load_toml(file))
        for file in found
        if file is not None and file.is_file()
    ]


def _name_of(preset: Path) -> str:
    return preset.relative_to(PRESETS).with_suffix("").as_posix()
