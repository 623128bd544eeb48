"""Layers of settings: which one wins, which faults each is told of, and what is saved is loaded."""

import tomllib
from pathlib import Path

import attrs
import pytest
import tomli_w
from hypothesis import given, settings
from hypothesis import strategies as st

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.loading import (
    configuration_hash,
    load_configuration,
    load_saved_configuration,
    save_configuration,
)
from oakemu_rl.config.options import EnvironmentOptions, RunOptions
from oakemu_rl.config.paths import OTHER_NAMES, setting_paths
from oakemu_rl.config.ppo import (
    LossOptions,
    OptimisationOptions,
    PPOExperimentConfiguration,
    RolloutOptions,
)
from oakemu_rl.config.strict import structure, unstructure
from oakemu_rl.core.errors import ConfigurationError, StorageError
from oakemu_rl.core.schedules import Schedule, constant, cosine, exponential, linear, sequence

DEFAULTS = PPOExperimentConfiguration()


def load(
    text: str | None = None,
    *,
    folder: Path | None = None,
    what: str | None = None,
    preset: str | None = None,
    **overrides: object,
) -> PPOExperimentConfiguration:
    """Load with a file of this text and flags in which __ stands for the dot."""
    file = None
    if text is not None:
        assert folder is not None
        file = folder / "my.toml"
        file.write_text(text, encoding="utf-8")
    return load_configuration(
        PPOExperimentConfiguration,
        what,
        preset=preset,
        file=file,
        overrides={name.replace("__", "."): value for name, value in overrides.items()},
    )


def refusal(text: str | None = None, **arguments: object) -> str:
    with pytest.raises(ConfigurationError) as caught:
        load(text, **arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_without_layers_everything_has_its_default() -> None:
    assert load() == DEFAULTS


def test_a_file_goes_over_the_preset_and_a_flag_over_the_file(tmp_path: Path) -> None:
    preset = load(what="acorns", preset="ppo")
    assert preset.environment.count == 16 != DEFAULTS.environment.count
    text = "[environment]\ncount = 3\nframe_stack = 5\n[rollout]\nsteps = 100"
    loaded = load(
        text, folder=tmp_path, what="acorns", preset="ppo", environment__frame_stack=6, run__seed=9
    )
    assert loaded.environment == EnvironmentOptions(id="acorns", count=3, frame_stack=6)
    assert loaded.run.seed == 9
    assert loaded.loss == preset.loss


def test_a_schedule_replaces_a_number_whole_and_a_number_a_schedule(tmp_path: Path) -> None:
    text = '[optimisation]\nlearning_rate = {kind = "cosine", start = 2, end = 1, steps = 9}'
    loaded = load(text, folder=tmp_path, what="acorns", preset="ppo")
    assert loaded.optimisation.learning_rate == cosine(2.0, 1.0, 9)
    loaded = load(text, folder=tmp_path, optimisation__learning_rate=0.5)
    assert loaded.optimisation.learning_rate == constant(0.5)


def test_lists_are_replaced_and_the_arguments_of_the_environment_joined(tmp_path: Path) -> None:
    text = "[model]\nhidden_sizes = [1, 2, 3]\n[environment.arguments]\na = 1\nb = 2"
    loaded = load(text, folder=tmp_path, model__hidden_sizes=[4], environment__arguments__b="x")
    assert loaded.model.hidden_sizes == (4,)
    assert loaded.environment.arguments == {"a": 1, "b": "x"}


def test_flags_may_have_dashes_or_underscores() -> None:
    for path in ("optimisation.minibatch-size", "optimisation.minibatch_size"):
        loaded = load_configuration(PPOExperimentConfiguration, overrides={path: 7})
        assert loaded.optimisation.minibatch_size == 7


def test_what_is_played_picks_the_preset_whoever_names_it(tmp_path: Path) -> None:
    named = load(what="CartPole-v1", preset="ppo")
    assert named.environment.id == "CartPole-v1"
    assert load('[environment]\nid = "CartPole-v1"', folder=tmp_path, preset="ppo") == named
    assert load(environment__id="CartPole-v1", preset="ppo") == named
    assert load('[environment]\nid = "CartPole-v1"', folder=tmp_path) != named


def test_two_names_of_what_is_played_are_refused(tmp_path: Path) -> None:
    message = refusal('[environment]\nid = "pong"', folder=tmp_path, what="acorns")
    assert message == (
        f"{tmp_path / 'my.toml'}: environment.id: got 'pong', but asked for is 'acorns'; "
        "leave out one of the two"
    )
    assert refusal(what="acorns", environment__id="pong").startswith("--environment.id: ")


def test_a_fault_is_refused_even_where_a_later_layer_covers_it(tmp_path: Path) -> None:
    message = refusal('[loss]\nclip_range = "x"', folder=tmp_path, loss__clip_range=0.1)
    expected = 'loss.clip_range: got "x" (a string), allowed is a number'
    assert message == f"{tmp_path / 'my.toml'}: {expected}"
    assert refusal("loss = 3", folder=tmp_path, loss__clip_range=0.1).endswith("allowed is a table")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("loss.clip-range", "x", '--loss.clip-range: got "x" (a string), allowed is a number'),
        ("run.seed", -1, "--run.seed: got -1, allowed is an integer, at least 0, at most "),
        ("model.hidden_sizes", [1, 0], "--model.hidden-sizes[1]: got 0, allowed is an integer"),
        ("environment.arguments.a", [1], "--environment.arguments.a: got [1] (a list), allowed is"),
        ("loss.clip-rage", 1, "--loss.clip-rage: unknown flag; did you mean --loss.clip-range?"),
        ("los.clip_range", 1, "--los.clip-range: unknown flag; did you mean --loss.clip-range?"),
        (
            "optimization.minibatch_size",
            1,
            "--optimization.minibatch-size: unknown flag; "
            "did you mean --optimisation.minibatch-size?",
        ),
        (
            "rollout.minibatch_size",
            1,
            "--rollout.minibatch-size: unknown flag; "
            "did you mean --optimisation.minibatch-size or --cloning.minibatch-size?",
        ),
        (
            "optimisation.learning_rate.start",
            1,
            "--optimisation.learning-rate.start: unknown flag; "
            "did you mean --optimisation.learning-rate?",
        ),
        ("rollout", 1, "--rollout: unknown flag; did you mean --rollout.steps or --rollout.gamma "),
        ("qqq.zzz", 1, "--qqq.zzz: unknown flag; --help lists the flags, "),
    ],
)
def test_a_wrong_flag_is_told_with_the_nearest_right_one(
    path: str, value: object, message: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(PPOExperimentConfiguration, overrides={path: value})
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[optimisation]\nlearning_rte = 1",
            "optimisation.learning_rte: unknown key; did you mean "
            "learning_rate? (allowed: learning_rate, ppo_epochs, ",
        ),
        (
            "learning_rate = 1",
            "learning_rate: unknown key; did you mean optimisation.learning_rate?",
        ),
        (
            "[evaluation]\ntotal_steps = 1",
            "evaluation.total_steps: unknown key; did you mean "
            "run.total_steps? (allowed: every_steps, ",
        ),
        ("[optimization]\nppo_epochs = 1", "optimization: unknown key; did you mean optimisation?"),
    ],
)
def test_a_wrong_key_is_told_with_the_nearest_right_one(
    text: str, message: str, tmp_path: Path
) -> None:
    assert refusal(text, folder=tmp_path).startswith(f"{tmp_path / 'my.toml'}: {message}")


RECORDS = (PPOExperimentConfiguration, DQNExperimentConfiguration)


@pytest.mark.parametrize(
    ("name", "path", "record_type"),
    [
        (name, path, record_type)
        for name, paths in OTHER_NAMES.items()
        for path in paths
        for record_type in RECORDS
        if path in setting_paths(record_type)
    ],
)
def test_a_name_of_elsewhere_or_before_points_to_the_setting(
    name: str, path: str, record_type: type[PPOExperimentConfiguration], tmp_path: Path
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(f"[run]\n{name} = 1", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"{name}: unknown key; did you mean {path}\? "):
        load_configuration(record_type, file=file)
    with pytest.raises(ConfigurationError, match=rf"did you mean --{path.replace('_', '-')}\?"):
        load_configuration(record_type, overrides={name: 1})


def test_every_other_name_is_of_a_setting_that_is_there() -> None:
    known = {path for record_type in RECORDS for path in setting_paths(record_type)}
    assert {path for paths in OTHER_NAMES.values() for path in paths} <= known


def test_a_minibatch_larger_than_the_rollout_names_both_and_their_sources(tmp_path: Path) -> None:
    text = "[optimisation]\nminibatch_size = 1025"
    message = refusal(text, folder=tmp_path, rollout__steps=128)
    assert message == (
        f"{tmp_path / 'my.toml'}, --rollout.steps, defaults: optimisation.minibatch_size: "
        "1025 rows are more than the 1024 of a rollout (rollout.steps 128 x environment.count 8); "
        "lower optimisation.minibatch_size to 1024 or less, "
        "or raise rollout.steps or environment.count"
    )
    assert load(optimisation__minibatch_size=1024).optimisation.minibatch_size == 1024


def test_what_was_saved_is_loaded_equal_and_presets_do_not_change_it(tmp_path: Path) -> None:
    saved = load(what="acorns", preset="ppo", environment__count=4, run__folder="a b")
    save_configuration(saved, tmp_path / "config.toml")
    assert load_saved_configuration(PPOExperimentConfiguration, tmp_path / "config.toml") == saved
    plain = attrs.evolve(DEFAULTS, environment=EnvironmentOptions(id="CartPole-v1"))
    save_configuration(plain, tmp_path / "plain.toml")
    assert load_saved_configuration(PPOExperimentConfiguration, tmp_path / "plain.toml") == plain


def test_a_disk_that_refuses_is_told_with_the_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"cannot write .*config\.toml: No such file"):
        save_configuration(DEFAULTS, tmp_path / "none" / "config.toml")


numbers = st.floats(min_value=0.0, max_value=1e6)
moving = st.one_of(
    st.builds(linear, numbers, numbers, st.integers(1, 10**9)),
    st.builds(exponential, numbers.map(lambda x: x + 1), st.just(1.0), st.integers(1, 9)),
)
schedules: st.SearchStrategy[Schedule] = st.one_of(
    st.builds(constant, numbers), moving, st.builds(sequence, moving, moving)
)
arguments = st.dictionaries(
    st.text(), st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())
)
configurations = st.builds(
    PPOExperimentConfiguration,
    environment=st.builds(
        EnvironmentOptions,
        id=st.text(),
        count=st.integers(1, 64),
        actions=st.lists(st.text()).map(tuple),
        max_episode_steps=st.none() | st.integers(1, 9),
        arguments=arguments,
    ),
    rollout=st.builds(RolloutOptions, gamma=st.floats(0.0, 1.0), steps=st.integers(1, 10**6)),
    optimisation=st.builds(
        OptimisationOptions,
        learning_rate=schedules,
        target_kl=st.none() | numbers.map(lambda x: x + 1),
    ),
    loss=st.builds(LossOptions, entropy_weight=schedules, value_weight=schedules),
    run=st.builds(RunOptions, folder=st.none() | st.text(), seed=st.integers(0, 2**31 - 1)),
)


@given(configuration=configurations)
@settings(deadline=None, max_examples=60)
def test_every_configuration_survives_toml(configuration: PPOExperimentConfiguration) -> None:
    text = tomli_w.dumps(unstructure(configuration))
    loaded = structure(tomllib.loads(text), PPOExperimentConfiguration, source="saved")
    assert loaded == configuration
    assert configuration_hash(loaded) == configuration_hash(configuration)


def test_the_hash_of_a_configuration_is_the_same_in_every_version() -> None:
    # Checkpoints hold it: with another one a run made before would no longer be resumed.
    assert configuration_hash(DEFAULTS).startswith("360448012e2a87ff2721805120b38c7a")


def test_the_hash_is_that_of_json_with_sorted_keys() -> None:
    digest = configuration_hash(DEFAULTS)
    assert len(digest) == 64
    assert digest == configuration_hash(structure(unstructure(DEFAULTS), type(DEFAULTS), source=""))
    assert digest != configuration_hash(attrs.evolve(DEFAULTS, run=RunOptions(seed=1)))
