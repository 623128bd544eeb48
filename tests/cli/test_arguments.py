"""From words to a command: every flag is read, every wrong word told in one line."""

from pathlib import Path

import pytest

from oakemu_rl.cli.arguments import parse, split_settings
from oakemu_rl.cli.commands import (
    COMMANDS,
    CheckConfig,
    Command,
    Evaluate,
    ListGames,
    ShowConfig,
    Train,
)
from oakemu_rl.cli.configuration import resolve
from oakemu_rl.cli.training import with_short_flags
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.errors import UserError
from oakemu_rl.core.schedules import linear


def read(line: str) -> Command:
    parsed = parse(line.split())
    assert not isinstance(parsed, str)
    return parsed[0]


def configuration(*words: str) -> PPOExperimentConfiguration:
    """The configuration that `oakemu-rl train acorns` trains with these words after it."""
    parsed = parse(["train", "acorns", *words])
    assert not isinstance(parsed, str)
    command, settings = parsed
    assert isinstance(command, Train)
    return resolve(
        command.what,
        algorithm=command.algo,
        file=command.config,
        settings=with_short_flags(command, settings),
    )


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("train acorns", Train(what="acorns")),
        (
            "train --seed 3 a/b.toml --algo ppo --config c.toml --total-steps=9 --run_dir d "
            "--lockstep",
            Train(
                what="a/b.toml",
                config=Path("c.toml"),
                seed="3",
                total_steps="9",
                run_dir="d",
                lockstep=True,
            ),
        ),
        ("eval r", Evaluate(run_folder=Path("r"))),
        (
            "eval r --checkpoint 5000 --episodes 3 --seed 2 --sampled --json",
            Evaluate(
                run_folder=Path("r"), checkpoint="5000", episodes=3, seed=2, sampled=True, json=True
            ),
        ),
        ("config show acorns", ShowConfig(what="acorns")),
        ("config check a.toml --algo ppo", CheckConfig(file=Path("a.toml"))),
        ("games list", ListGames()),
    ],
)
def test_commands_are_read_with_their_flags(line: str, command: Command) -> None:
    assert read(line) == command


def test_dotted_flags_are_taken_out_wherever_they_stand() -> None:
    words = ["--loss.clip-range", "-0.1", "acorns", "--a.b=--c=d", "--seed", "3", "--config=x.toml"]
    rest, settings = split_settings(words)
    assert rest == ["acorns", "--seed", "3", "--config=x.toml"]
    assert settings == {"loss.clip_range": "-0.1", "a.b": "--c=d"}


def test_dotted_flags_hold_toml_values_and_bare_words() -> None:
    made = configuration(
        "--loss.clip-range", "0.1",
        "--rollout.gamma=0.5",
        "--model.hidden-sizes", "[32, 16]",
        "--metrics.tensorboard", "true",
        "--evaluation.mode", "sampled",
        "--optimisation.learning_rate", '{kind = "linear", start = 1, end = 0, steps = 5}',
        "--environment.arguments.frames", "2",
    )  # fmt: skip
    assert made.loss.clip_range == 0.1
    assert made.rollout.gamma == 0.5
    assert made.model.hidden_sizes == (32, 16)
    assert made.metrics.tensorboard is True
    assert made.evaluation.mode == "sampled"
    assert made.optimisation.learning_rate == linear(1.0, 0.0, 5)
    assert made.environment.arguments == {"frames": 2}


def test_short_flags_stand_for_dotted_ones() -> None:
    short = configuration("--seed", "3", "--total-steps", "999", "--run-dir", "7", "--lockstep")
    dotted = configuration(
        "--run.seed", "3", "--run.total-steps", "999", "--run.folder", "7", "--run.mode", "lockstep"
    )
    assert short == dotted
    assert (short.run.seed, short.run.total_steps) == (3, 999)
    assert (short.run.folder, short.run.mode) == ("7", "lockstep")


def test_a_file_lies_between_the_preset_and_the_flags(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[environment]\ncount = 2\nframe_stack = 2\n", encoding="utf-8")
    made = configuration("--config", str(file), "--environment.count", "8")
    assert (made.environment.count, made.environment.frame_stack) == (8, 2)
    assert made.loss == configuration().loss


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("trian acorns", "trian: unknown command; did you mean train? (allowed: train, eval, "),
        ("config shw a", "config shw: unknown command; did you mean config show? (allowed: config"),
        ("zzzzzz", "zzzzzz: unknown command (allowed: train, "),
        ("train a --sed 1", "--sed: unknown flag; did you mean --seed?"),
        ("train a --no-lockstep", "--no-lockstep: unknown flag; did you mean --lockstep?"),
        (
            "train a --learning-rate 1",
            "--learning-rate: unknown flag; did you mean --optimisation.learning-rate?",
        ),
        ("eval r --episode 1", "--episode: unknown flag; did you mean --episodes?"),
        ("eval r --loss.clip-range 1", "--loss.clip-range: unknown flag; eval takes no settings"),
        ("train a --seed 1 --seed=2", "--seed: is given twice"),
        ("train a --loss.clip-range 1 --loss.clip_range 2", "--loss.clip_range: is given twice"),
        ("train a --loss.clip-range", "--loss.clip-range: needs a value after it"),
        ("train a --loss.clip-range --lockstep", "--loss.clip-range: needs a value after it"),
        ("train a --seed", "train: Missing value for argument '--seed'"),
        ("train a --algo sarsa", "train: invalid choice 'sarsa' for argument '--algo'"),
        ("train", "train: Missing from oakemu-rl train: WHAT"),
        ("train a b", "train: Unrecognized options: b"),
        ("eval r --episodes x", "eval: Error parsing --episodes: "),
        ("games list --json", "--json: unknown flag"),
    ],
)
def test_a_wrong_word_is_told_in_one_line(line: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(line.split())
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seed", "x"), '--run.seed: got "x" (a string), allowed is an integer'),
        (
            ("--total-steps", "1e6"),
            "--run.total-steps: got 1000000.0 (a number), allowed is an int",
        ),
        (("--lockstep", "--run.mode", "threads"), "--lockstep and --run.mode set the same; leave"),
        (("--loss.clip-rage", "1"), "--loss.clip-rage: unknown flag; did you mean --loss.clip-ran"),
        (
            ("--metrics.tensorboard", "1"),
            "--metrics.tensorboard: got 1 (an integer), allowed is tr",
        ),
    ],
)
def test_a_wrong_setting_is_told_in_one_line(words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UserError) as caught:
        configuration(*words)
    assert str(caught.value).startswith(message)


def test_the_overview_lists_every_command_and_a_group_its_own() -> None:
    for words in ([], ["--help"], ["-h"]):
        overview = parse(words)
        assert isinstance(overview, str)
        for name, command in COMMANDS.items():
            assert f"  {name}" in overview
            assert (command.__doc__ or "").splitlines()[0] in overview
    for words in (["config"], ["config", "--help"]):
        overview = parse(words)
        assert isinstance(overview, str)
        assert "config check" in overview
        assert "games list" not in overview


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_tells_its_flags(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse([*name.split(), "--help"])
    assert stopped.value.code == 0
    told = capsys.readouterr().out
    assert f"usage: oakemu-rl {name}" in told
    if name == "train":
        for word in ("--seed", "--lockstep", "--run.device cpu", "config show WHAT"):
            assert word in told
