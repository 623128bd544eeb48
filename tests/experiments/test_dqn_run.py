"""A run of DQN or Rainbow from its start to its result, its stop, and its faults."""

import io
import json
import math
import signal
import threading
from pathlib import Path
from typing import Any

import attrs
import pytest
from rich.console import Console
from torch import Tensor

from oakemu_rl.checkpoints.checkpoint import load_checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.cli.main import run
from oakemu_rl.config.dqn import DQNExperimentConfiguration, DQNOptimisationOptions, ReplayOptions
from oakemu_rl.config.loading import load_saved_configuration
from oakemu_rl.config.options import EnvironmentOptions, MetricsOptions, RunOptions
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.experiments.dqn import DQNExperiment
from oakemu_rl.training.shaping import RewardWindows
from tests.experiments.commands import STOP_SECONDS, program, read_until, started
from tests.experiments.dqn_commands import ALGORITHMS, SMALL_GAME, train_dqn
from tests.experiments.faulty import ID

NAMES_OF_STABLE_BASELINES3 = {
    "eval/mean_ep_length",
    "eval/mean_reward",
    "rollout/ep_len_mean",
    "rollout/ep_rew_mean",
    "rollout/exploration_rate",
    "time/fps",
    "time/time_elapsed",
    "time/total_timesteps",
    "train/learning_rate",
    "train/loss",
    "train/n_updates",
}
OWN_NAMES = {
    "rollout/replay_size",
    "train/q_mean",
    "train/raw_return_mean",
    "train/shaped_return_mean",
    "train/target_mean",
    "train/target_updates",
    "train/td_error_max",
    "train/td_error_mean",
}
OF_RAINBOW = {
    "train/importance_weight_mean",
    "train/outside_support",
    "train/refused_priorities",
    "train/skipped_priorities",
}
EPISODES_OF_ENVIRONMENT_2 = derive_seed(0, "environment", 2)
Capture = pytest.CaptureFixture[str]


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of each algorithm in two threads or more."""
    root = tmp_path_factory.mktemp("runs")
    before = set(threading.enumerate())
    for algorithm in ALGORITHMS:
        words = train_dqn(
            "CartPole-v1", root / algorithm, "--total-steps=1024", "--run.mode=threads",
            "--checkpoints.every-steps=256", algorithm=algorithm,
        )  # fmt: skip
        assert run(words) == 0
    assert set(threading.enumerate()) == before
    return {algorithm: root / algorithm for algorithm in ALGORITHMS}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_threads_run_to_the_end_and_leave_all_files(algorithm: str, runs: dict[str, Path]) -> None:
    folder = runs[algorithm]
    result = json.loads((folder / "result.json").read_text())
    assert (result["steps"], result["exit_code"], len(result["scores"])) == (1_024, 0, 3)
    assert math.isfinite(result["test_mean"])
    checkpoint = load_checkpoint(folder / "checkpoints" / "step-000001024")
    assert set(checkpoint.tensors) == {"model", "target", "optimizer", "generators"}
    # An update for every four steps behind the warm-up.
    assert checkpoint.state["learner"]["iterations"] == (1_024 - 100) // 4
    assert checkpoint.state["learner"]["target_updates"] == 231 // 32
    meta = json.loads((folder / "meta.json").read_text())
    assert meta["algorithm"] == algorithm
    saved = load_saved_configuration(DQNExperimentConfiguration, folder / "config.toml")
    assert (saved.model.noisy, saved.replay.kind) == (
        (True, "prioritised") if algorithm == "rainbow" else (False, "uniform")
    )
    events = [event["kind"] for event in lines(folder / "events.jsonl")]
    assert (events[0], events[-1]) == ("started", "finished")
    assert "checkpoint" in events


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_metrics_are_written_under_their_names(algorithm: str, runs: dict[str, Path]) -> None:
    records = lines(runs[algorithm] / "metrics.jsonl")
    names = {name for record in records for name in record}
    assert names >= NAMES_OF_STABLE_BASELINES3 | OWN_NAMES
    assert (names & OF_RAINBOW == OF_RAINBOW) == (algorithm == "rainbow")
    assert all(math.isfinite(value) for record in records for value in record.values())
    updates = [record["train/n_updates"] for record in records if "train/loss" in record]
    assert updates == [100, 200]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_eval_knows_the_algorithm_of_a_run(
    algorithm: str, runs: dict[str, Path], capsys: Capture
) -> None:
    folder = runs[algorithm]
    found = []
    for words in (("--sampled", "--seed=3"), ("--sampled", "--seed=3"), ("--checkpoint=latest",)):
        capsys.readouterr()
        assert run(["eval", str(folder), "--episodes=4", "--json", *words]) == 0
        found.append(json.loads(capsys.readouterr().out))
    assert found[0] == found[1]
    assert [each["mode"] for each in found] == ["sampled", "sampled", "greedy"]
    assert found[2]["step"] == 1_024
    assert len(found[2]["scores"]) == 4


def test_a_game_trains_in_threads_too_and_is_evaluated(tmp_path: Path, capsys: Capture) -> None:
    words = train_dqn(
        "acorns", tmp_path / "run", "--total-steps=64", "--run.mode=threads", small=SMALL_GAME
    )
    assert run(words) == 0
    capsys.readouterr()
    assert run(["eval", str(tmp_path / "run"), "--episodes=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == 64


@pytest.mark.parametrize(("algorithm", "mode"), [("dqn", "threads"), ("rainbow", "lockstep")])
def test_a_signal_stops_the_run_in_time_with_a_checkpoint(
    algorithm: str, mode: str, tmp_path: Path, capsys: Capture
) -> None:
    folder = tmp_path / "run"
    words = train_dqn(
        "CartPole-v1", folder, "--total-steps=1000000000", f"--run.mode={mode}",
        algorithm=algorithm,
    )  # fmt: skip
    with started(program(*words), cwd=tmp_path) as process:
        read_until(process, "steps/s")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "a second Ctrl-C abandons it" in said
    result = json.loads((folder / "result.json").read_text())
    checkpoint = CheckpointManager(folder / "checkpoints").load("latest")
    assert checkpoint.rejected == ()
    assert checkpoint.env_steps == result["steps"]
    assert run(["eval", str(folder), "--checkpoint=latest", "--episodes=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == result["steps"]


def faulty(folder: Path, fault: str, *words: str) -> list[str]:
    """The words of a run in which an environment has this fault at its step number 40."""
    return train_dqn(
        ID,
        folder,
        "--total-steps=1024",
        f'--environment.arguments.fault="{fault}"',
        f"--environment.arguments.seed={EPISODES_OF_ENVIRONMENT_2}",
        "--environment.arguments.at=40",
        *words,
    )


@pytest.mark.parametrize(("mode", "part"), [("threads", "actor"), ("lockstep", "learner")])
def test_what_an_environment_raises_is_raised_by_the_run_with_its_origin(
    mode: str, part: str, tmp_path: Path
) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match=r"^boom") as caught:
        run(faulty(tmp_path / "run", "raise", f"--run.mode={mode}"))
    notes = "\n".join(caught.value.__notes__)
    assert f"raised in the {part} thread" in notes
    assert f"raised in environment 2 of {ID!r}" in notes
    assert set(threading.enumerate()) == before
    last = lines(tmp_path / "run" / "events.jsonl")[-1]
    assert (last["kind"], last["details"]) == ("failed", {"error": "ValueError: boom"})


@pytest.mark.parametrize("mode", ["threads", "lockstep"])
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("no legal action", f"environment 2 of {ID!r} gave an action mask that allows no action"),
        ("reward", f"environment 2 of {ID!r} gave the reward nan at step 20 of its episode"),
    ],
)
def test_a_broken_promise_is_one_line_that_names_the_environment(
    mode: str, fault: str, told: str, tmp_path: Path, capsys: Capture
) -> None:
    assert run(faulty(tmp_path / "run", fault, f"--run.mode={mode}")) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"oakemu-rl: error: {told}")
    assert error.count("\n") == 1


def test_masks_that_leave_no_action_together_are_told_in_one_line(
    tmp_path: Path, capsys: Capture
) -> None:
    words = faulty(tmp_path / "run", "first alone", '--environment.actions=["1", "2"]')
    assert run(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("oakemu-rl: error: environment 2: its action mask allows none of 3")
    assert error.count("\n") == 1


def test_a_run_too_short_to_learn_says_so(tmp_path: Path, capsys: Capture) -> None:
    words = train_dqn("CartPole-v1", tmp_path / "run", "--total-steps=102", "--lockstep")
    assert run(words) == 0
    told = capsys.readouterr().out
    assert "102 steps asked for; 104 will be taken, 4 at a time" in told
    assert "nothing will be learned" not in told
    words = train_dqn("CartPole-v1", tmp_path / "short", "--total-steps=100", "--lockstep")
    assert run(words) == 0
    assert (
        "nothing will be learned: 100 steps end before the first update, which comes after the "
        "100 of replay.warm_up_steps"
    ) in capsys.readouterr().out


def configuration(**optimisation: Any) -> DQNExperimentConfiguration:
    return DQNExperimentConfiguration(
        environment=EnvironmentOptions(id="CartPole-v1", count=2),
        replay=ReplayOptions(capacity=256, warm_up_steps=32),
        optimisation=DQNOptimisationOptions(**optimisation),
        metrics=MetricsOptions(console="off"),
        run=RunOptions(total_steps=64, mode="lockstep", device="cpu"),
    )


def test_an_experiment_runs_from_python_under_the_name_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    console = Console(file=io.StringIO())
    for name in ALGORITHMS:
        result = DQNExperiment(configuration(), name=name, console=console).run()
        assert result.steps == 64
        assert json.loads((result.folder / "meta.json").read_text())["algorithm"] == name
        assert name in result.folder.name


def test_an_experiment_refuses_contradictory_settings_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match=r"^optimisation.batch_size: 33 rows are more"):
        DQNExperiment(configuration(batch_size=33))
    assert list(tmp_path.iterdir()) == []


def test_an_experiment_refuses_a_name_that_eval_would_not_know() -> None:
    with pytest.raises(ConfigurationError, match="name: got 'double', allowed is dqn or rainbow"):
        DQNExperiment(configuration(), name="double")


class TenForEachLife:
    """A shaper of the user's own, which reads a named value of the game."""

    value_names = ("lives",)

    def __init__(self) -> None:
        self.lives: set[float] = set()

    def shape(self, windows: RewardWindows) -> Tensor:
        lives = windows.values["lives"][:, 1:]
        self.lives |= set(lives.flatten().tolist())
        return windows.rewards + 10.0 * lives


def test_a_shaper_of_the_users_own_is_applied_to_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shaper, game = TenForEachLife(), EnvironmentOptions(id="acorns", count=2)
    optimisation = DQNOptimisationOptions(steps_per_update=0.25)
    config = attrs.evolve(configuration(), environment=game, optimisation=optimisation)
    result = DQNExperiment(config, shapers=[shaper], console=Console(file=io.StringIO())).run()
    assert 5.0 in shaper.lives
    told = [each for each in lines(result.folder / "metrics.jsonl") if "train/loss" in each]
    assert told
    for each in told:
        gained = each["train/shaped_return_mean"] - each["train/raw_return_mean"]
        assert 10.0 <= gained <= 50.0
