"""Lockstep: the seed decides every weight, and nothing else does."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from oakemu_rl.checkpoints.checkpoint import load_checkpoint
from oakemu_rl.cli.main import run
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.envs.factory import make_environment
from tests.experiments.commands import SMALL_GAME, finished, train

RUN_ALL = """
import json, sys
from oakemu_rl.cli.main import run
sys.exit(max(run(words) for words in json.loads(sys.argv[1])))
"""
CARTPOLE = ("--lockstep", "--total-steps=1024", "--environment.count=1", "--rollout.steps=128")


def last_checkpoint(folder: Path) -> dict[str, bytes]:
    """The files of the run's newest checkpoint; its manifest alone tells when it was written."""
    path = folder / "checkpoints" / (folder / "checkpoints" / "latest").read_text().strip()
    load_checkpoint(path)
    return {file.name: file.read_bytes() for file in path.iterdir() if file.suffix != ".json"} | {
        "state.json": (path / "state.json").read_bytes()
    }


def records(folder: Path) -> list[dict[str, Any]]:
    """What was measured: returns, losses, scores; all but the time."""
    text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    return [
        {name: value for name, value in json.loads(line).items() if not name.startswith("time/")}
        for line in text.splitlines()
    ]


def scores(folder: Path) -> list[float]:
    made: list[float] = json.loads((folder / "result.json").read_text())["scores"]
    return made


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The runs of the fixtures `cartpole` and `acorns`, made by another process."""
    root = tmp_path_factory.mktemp("elsewhere")
    runs = [
        train("CartPole-v1", root / "cartpole", *CARTPOLE),
        train("acorns", root / "acorns", "--lockstep", "--total-steps=256", small=SMALL_GAME),
    ]
    done = finished([sys.executable, "-c", RUN_ALL, json.dumps(runs)], cwd=root)
    assert done.returncode == 0, done.stderr
    return {name: root / name for name in ("cartpole", "acorns")}


@pytest.mark.parametrize("game", ["cartpole", "acorns"])
def test_a_fresh_process_makes_the_same_run_of_the_same_seed(
    game: str, elsewhere: dict[str, Path], request: pytest.FixtureRequest
) -> None:
    here: Path = request.getfixturevalue(game)
    assert last_checkpoint(here) == last_checkpoint(elsewhere[game])
    assert records(here) == records(elsewhere[game])
    assert len(records(here)) >= 8
    assert scores(here) == scores(elsewhere[game])


def test_the_same_process_makes_it_again_whatever_else_is_built_and_tested(
    cartpole: Path, tmp_path: Path
) -> None:
    other = make_environment(EnvironmentOptions(id="CartPole-v1"))
    other.reset(seed=5)
    words = train(
        "CartPole-v1", tmp_path / "run", *CARTPOLE,
        "--evaluation.every-steps=100000", "--evaluation.episodes=1",
        "--evaluation.mode=sampled", "--metrics.console=off",
    )  # fmt: skip
    assert run(words) == 0
    assert last_checkpoint(tmp_path / "run") == last_checkpoint(cartpole)
    assert [each for each in records(tmp_path / "run") if "eval/mean_reward" not in each] == [
        each for each in records(cartpole) if "eval/mean_reward" not in each
    ]


def test_another_seed_makes_another_run(cartpole: Path, acorns: Path, tmp_path: Path) -> None:
    words = ("--lockstep", "--seed=1", "--evaluation.final-episodes=1")
    short = (*words, *CARTPOLE, "--total-steps=128")
    assert run(train("CartPole-v1", tmp_path / "cartpole", *short)) == 0
    short = (*words, "--total-steps=64")
    assert run(train("acorns", tmp_path / "acorns", *short, small=SMALL_GAME)) == 0
    for here, there in ((cartpole, tmp_path / "cartpole"), (acorns, tmp_path / "acorns")):
        first, other = records(here)[1], records(there)[1]
        assert first["env_steps"] == other["env_steps"]
        assert first["train/value_loss"] != other["train/value_loss"]
