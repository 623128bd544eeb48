"""A run from its start to its result: what is there afterwards, in both modes."""

import csv
import io
import json
import math
import sys
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest
import torch
from PIL import Image, ImageSequence
from rich.console import Console

from oakemu_rl.checkpoints.checkpoint import load_checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.cli.main import run
from oakemu_rl.config.loading import load_configuration, load_saved_configuration
from oakemu_rl.config.options import EnvironmentOptions, MetricsOptions, RunOptions
from oakemu_rl.config.ppo import OptimisationOptions, PPOExperimentConfiguration, RolloutOptions
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.experiments.ppo import PPOExperiment
from tests.experiments.commands import SMALL_GAME, train

NAMES_OF_STABLE_BASELINES3 = {
    "eval/mean_ep_length",
    "eval/mean_reward",
    "rollout/ep_len_mean",
    "rollout/ep_rew_mean",
    "time/fps",
    "time/iterations",
    "time/time_elapsed",
    "time/total_timesteps",
    "train/approx_kl",
    "train/clip_fraction",
    "train/clip_range",
    "train/entropy_loss",
    "train/explained_variance",
    "train/learning_rate",
    "train/loss",
    "train/n_updates",
    "train/policy_gradient_loss",
    "train/value_loss",
}
RESULT_FIELDS = {
    "test_mean",
    "standard_error",
    "interval",
    "scores",
    "random_mean",
    "scripted_mean",
    "steps",
    "seconds",
    "seeds",
}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_each_file_of_a_run_is_there(cartpole: Path) -> None:
    steps = [f"step-{step:09d}" for step in (256, 512, 768, 1024)]
    state = ("manifest.json", "state.json")
    tensors = ("model.safetensors", "optimizer.safetensors", "generators.safetensors")
    there = files(cartpole)
    assert there >= {
        "config.toml",
        "meta.json",
        "metrics.jsonl",
        "metrics.csv",
        "events.jsonl",
        "result.json",
        "checkpoints/latest",
        "checkpoints/best",
        *(f"eval/{step}.json" for step in steps),
        *(f"checkpoints/{steps[-1]}/{name}" for name in (*state, *tensors)),
    }
    assert not [name for name in there if Path(name).name.startswith((".writing", ".replaced"))]
    assert (cartpole / "checkpoints" / "latest").read_text() == f"{steps[-1]}\n"


def test_the_saved_configuration_is_that_of_the_command(cartpole: Path) -> None:
    saved = load_saved_configuration(PPOExperimentConfiguration, cartpole / "config.toml")
    words = train(
        "CartPole-v1", cartpole, "--run.mode=lockstep", "--run.total-steps=1024",
        "--environment.count=1", "--rollout.steps=128",
    )  # fmt: skip
    flags = dict(word.removeprefix("--").split("=") for word in words[3:])
    values = {path: int(text) if text.isdecimal() else text for path, text in flags.items()}
    assert saved == load_configuration(
        PPOExperimentConfiguration,
        "CartPole-v1",
        preset="ppo",
        overrides={**values, "run.folder": str(cartpole)},
    )
    meta = json.loads((cartpole / "meta.json").read_text())
    assert (meta["environment"], meta["algorithm"], meta["seed"]) == ("CartPole-v1", "ppo", 0)
    assert meta["device"] == "cpu"
    assert meta["torch_threads"] >= 1


def test_metrics_are_written_under_the_names_of_stable_baselines3(cartpole: Path) -> None:
    records = lines(cartpole / "metrics.jsonl")
    assert {name for record in records for name in record} >= NAMES_OF_STABLE_BASELINES3
    with (cartpole / "metrics.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(records)
    for row, record in zip(rows, records, strict=True):
        assert {name: float(cell) for name, cell in row.items() if cell} == record
    updates = [record for record in records if "train/loss" in record]
    assert [record["env_steps"] for record in updates] == list(range(128, 1025, 128))
    # Two epochs of two minibatches for each of the eight rollouts.
    assert updates[-1]["train/n_updates"] == 32
    assert updates[-1]["time/iterations"] == 8


def test_events_and_tests_are_written_as_json(cartpole: Path) -> None:
    events = lines(cartpole / "events.jsonl")
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("started", "finished", {"checkpoint"})
    for event in events[1:-1]:
        assert event["details"]["size_bytes"] > 0
    for step in (256, 512, 768, 1024):
        test = json.loads((cartpole / "eval" / f"step-{step:09d}.json").read_text())
        assert test["step"] == step
        assert len(test["scores"]) == len(test["lengths"]) == len(test["seeds"]) == 2
        assert test["mean"] == pytest.approx(sum(test["scores"]) / 2)
        assert test["mode"] == "greedy"


def test_the_result_holds_the_last_test_beside_the_players_that_exist(cartpole: Path) -> None:
    result = json.loads((cartpole / "result.json").read_text())
    assert set(result) >= RESULT_FIELDS
    assert (result["steps"], result["exit_code"]) == (1024, 0)
    assert result["seconds"] > 0.0
    assert len(result["scores"]) == len(result["seeds"]) == 3
    assert result["test_mean"] == pytest.approx(sum(result["scores"]) / 3)
    low, high = result["interval"]
    assert low <= result["test_mean"] <= high
    assert result["random_mean"] > 0.0
    assert result["scripted_mean"] is None
    tests = [json.loads(path.read_text()) for path in (cartpole / "eval").iterdir()]
    assert not set(result["seeds"]) & {seed for test in tests for seed in test["seeds"]}


def test_the_best_checkpoint_is_that_of_the_highest_test(cartpole: Path) -> None:
    tests = [json.loads(path.read_text()) for path in sorted((cartpole / "eval").iterdir())]
    best = max(tests, key=lambda test: (test["mean"], -test["step"]))
    manager = CheckpointManager(cartpole / "checkpoints")
    assert manager.load("best").env_steps == best["step"]
    assert manager.best_score() == best["mean"]
    assert json.loads((cartpole / "result.json").read_text())["checkpoint_step"] == best["step"]


def test_a_game_has_a_scripted_player_and_a_moving_picture(acorns: Path) -> None:
    result = json.loads((acorns / "result.json").read_text())
    assert result["scripted_mean"] > result["random_mean"]
    with Image.open(acorns / "videos" / "best.gif") as picture:
        assert picture.size == (256, 192)
        assert getattr(picture, "n_frames", 1) > 10
        # A step is 80 ms; pictures that are alike are joined.
        durations = [frame.info["duration"] for frame in ImageSequence.Iterator(picture)]
    assert {duration % 80 for duration in durations} == {0}


def test_threads_leave_the_same_files_and_none_of_themselves(
    cartpole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, torch_threads = set(threading.enumerate()), torch.get_num_threads()
    interval = sys.getswitchinterval()
    words = train(
        "CartPole-v1", tmp_path / "run", "--total-steps=1024", "--run.mode=threads",
        "--environment.count=1", "--rollout.steps=128",
    )  # fmt: skip
    assert run(words) == 0
    assert set(threading.enumerate()) == before
    assert torch.get_num_threads() == torch_threads
    assert sys.getswitchinterval() == interval

    def lasting(folder: Path) -> set[str]:
        # Which of the tests between were fast enough to be taken is up to the threads.
        return {
            name
            for name in files(folder)
            if not name.startswith(("eval/", "checkpoints/step-")) or "step-000001024" in name
        }

    assert lasting(tmp_path / "run") == lasting(cartpole)
    records = lines(tmp_path / "run" / "metrics.jsonl")
    assert {name for record in records for name in record} >= NAMES_OF_STABLE_BASELINES3
    assert json.loads((tmp_path / "run" / "result.json").read_text())["steps"] == 1024
    shown = capsys.readouterr().out
    assert shown.startswith(f"Run folder: {tmp_path / 'run'}\n")
    assert "1,024 / 1,024 steps  100%" in shown
    assert "agent, mean of 3 games" in shown
    assert "random player, same games" in shown


def test_threads_train_a_game_too(tmp_path: Path) -> None:
    words = train("acorns", tmp_path / "run", "--total-steps=192", small=SMALL_GAME)
    assert run(words) == 0
    assert load_checkpoint(tmp_path / "run" / "checkpoints" / "step-000000192").env_steps == 192
    assert (tmp_path / "run" / "videos" / "best.gif").stat().st_size > 0


def test_steps_that_make_no_whole_rollouts_are_rounded_up_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(train("CartPole-v1", tmp_path / "run", "--total-steps=200", "--lockstep")) == 0
    assert (
        "200 steps asked for; 256 will be taken, which are 2 whole rollouts of 128"
        in capsys.readouterr().out
    )
    assert json.loads((tmp_path / "run" / "result.json").read_text())["steps"] == 256


def small_configuration(folder: Path | None) -> PPOExperimentConfiguration:
    return PPOExperimentConfiguration(
        environment=EnvironmentOptions(id="CartPole-v1", count=2),
        rollout=RolloutOptions(steps=32),
        optimisation=OptimisationOptions(minibatch_size=64),
        metrics=MetricsOptions(console="off"),
        run=RunOptions(
            total_steps=128,
            mode="lockstep",
            device="cpu",
            folder=None if folder is None else str(folder),
        ),
    )


def quiet() -> Console:
    return Console(file=io.StringIO())


def test_an_experiment_runs_from_python_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    experiment = PPOExperiment(small_configuration(None), console=quiet())
    first, second = experiment.run(), experiment.run()
    assert first.folder != second.folder
    assert first.folder.parent == Path("runs", "CartPole-v1")
    assert first.steps == second.steps == 128
    assert first.test_mean is not None
    assert math.isfinite(first.test_mean)
    assert attrs.evolve(first, folder=second.folder, seconds=second.seconds) == second


def test_an_experiment_refuses_contradictory_settings_before_anything_starts(
    tmp_path: Path,
) -> None:
    config = attrs.evolve(
        small_configuration(tmp_path / "run"), optimisation=OptimisationOptions(minibatch_size=65)
    )
    with pytest.raises(
        ConfigurationError,
        match=r"^optimisation.minibatch_size: 65 rows are more than the 64 of a rollout",
    ):
        PPOExperiment(config)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_shown_as_it_is_called(tmp_path: Path) -> None:
    console = Console(file=io.StringIO(), width=300)
    PPOExperiment(small_configuration(tmp_path / "[red]"), console=console).run()
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().count("[red]") == 2
