"""Algorithms and their presets: which files are laid below the settings, and in which order."""

from pathlib import Path

import attrs
import pytest

from oakemu_rl.config import algorithms
from oakemu_rl.config.algorithms import ALGORITHMS, PRESETS, preset_layers
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.loading import (
    load_configuration,
    load_saved_configuration,
    save_configuration,
)
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.schedules import constant

GAME_PRESETS = sorted(PRESETS.glob("*/*.toml"))


def names(algorithm: str, what: str) -> list[str]:
    return [layer.name for layer in preset_layers(algorithm, what, ALGORITHMS[algorithm])]


@pytest.mark.parametrize(
    ("algorithm", "what", "expected"),
    [
        ("ppo", "acorns", ["preset ppo/acorns"]),
        ("dqn", "CartPole-v1", ["preset dqn/CartPole-v1"]),
        ("rainbow", "acorns", ["preset rainbow", "preset rainbow/acorns"]),
        ("rainbow", "ALE/Pong-v5", ["preset rainbow"]),
        ("ppo", "ALE/Pong-v5", []),
        ("ppo", "../ppo/acorns", []),
        ("dqn", "x" * 10_000, []),
    ],
)
def test_the_preset_for_every_game_lies_below_the_games_own(
    algorithm: str, what: str, expected: list[str]
) -> None:
    assert names(algorithm, what) == expected


def test_every_preset_is_of_an_algorithm() -> None:
    folders = {file.parent.name for file in GAME_PRESETS}
    assert folders | {file.stem for file in PRESETS.glob("*.toml")} <= set(ALGORITHMS)


@pytest.mark.parametrize("file", GAME_PRESETS, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_every_preset_loads_and_changes_something(file: Path) -> None:
    record_type = ALGORITHMS[file.parent.name]
    loaded = load_configuration(record_type, file.stem, preset=file.parent.name)
    assert loaded != load_configuration(record_type, file.stem)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_has_no_preset_of_its_own_takes_the_defaults(algorithm: str) -> None:
    record_type = ALGORITHMS[algorithm]
    loaded = load_configuration(record_type, "ALE/Pong-v5", preset=algorithm)
    assert loaded.environment == EnvironmentOptions(id="ALE/Pong-v5")
    assert loaded.run == record_type().run


@pytest.mark.parametrize("what", ["acorns", "CartPole-v1", "ALE/Pong-v5"])
def test_rainbow_is_dqn_with_all_its_parts_whatever_is_played(what: str) -> None:
    rainbow = load_configuration(DQNExperimentConfiguration, what, preset="rainbow")
    model = rainbow.model
    assert (model.dueling, model.noisy, model.atoms) == (True, True, 51)
    assert rainbow.replay.kind == "prioritised"
    assert rainbow.replay.n_step >= 3
    assert rainbow.loss.double
    assert rainbow.exploration.epsilon == constant(0.0)


def test_a_games_preset_goes_over_the_one_for_every_game_and_a_flag_over_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rainbow").mkdir()
    (tmp_path / "rainbow.toml").write_text("[model]\natoms = 51\ndueling = true\nvalue_max = 9\n")
    (tmp_path / "rainbow" / "Pong.toml").write_text("[model]\natoms = 21\nvalue_max = 8\n")
    monkeypatch.setattr(algorithms, "PRESETS", tmp_path)
    loaded = load_configuration(
        DQNExperimentConfiguration, "Pong", preset="rainbow", overrides={"model.value-max": 7}
    )
    assert (loaded.model.atoms, loaded.model.value_max) == (21, 7.0)
    assert loaded.model.dueling


def test_a_fault_in_a_preset_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rainbow.toml").write_text("[model]\natomz = 51\n")
    monkeypatch.setattr(algorithms, "PRESETS", tmp_path)
    with pytest.raises(ConfigurationError, match=r"^preset rainbow: model\.atomz: unknown key; "):
        load_configuration(DQNExperimentConfiguration, "acorns", preset="rainbow")


def test_a_contradiction_with_a_preset_names_it() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(
            DQNExperimentConfiguration,
            "acorns",
            preset="rainbow",
            overrides={"replay.warm_up_steps": 100_001},
        )
    assert str(caught.value).startswith("--replay.warm-up-steps, preset rainbow/acorns: replay.")


@pytest.mark.parametrize(
    ("record_type", "preset", "allowed"),
    [
        (PPOExperimentConfiguration, "dqn", "PPOExperimentConfiguration is ppo"),
        (DQNExperimentConfiguration, "ppo", "DQNExperimentConfiguration is dqn or rainbow"),
        (DQNExperimentConfiguration, "rianbow", "DQNExperimentConfiguration is dqn or rainbow"),
    ],
)
def test_an_algorithm_that_the_record_does_not_configure_is_refused(
    record_type: type[PPOExperimentConfiguration], preset: str, allowed: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(record_type, "acorns", preset=preset)
    assert str(caught.value) == f"preset: got {preset!r}, allowed with {allowed}"


@pytest.mark.parametrize("algorithm", ["dqn", "rainbow"])
def test_what_was_saved_is_loaded_equal_without_presets(algorithm: str, tmp_path: Path) -> None:
    saved = load_configuration(
        DQNExperimentConfiguration,
        "acorns",
        preset=algorithm,
        overrides={
            "shaping.potential": {"score": 1, "two words": -0.5},
            "shaping.novelty_values": ["basket"],
            "shaping.novelty_weight": 0.1,
            "shaping.clip": 1.0,
        },
    )
    save_configuration(saved, tmp_path / "config.toml")
    assert load_saved_configuration(DQNExperimentConfiguration, tmp_path / "config.toml") == saved


def test_the_groups_stand_in_the_order_of_the_file() -> None:
    assert [field.name for field in attrs.fields(DQNExperimentConfiguration)] == [
        "environment", "model", "replay", "optimisation", "loss", "exploration", "shaping",
        "evaluation", "checkpoints", "metrics", "run",
    ]  # fmt: skip
