"""The commands with `--algo dqn` and `--algo rainbow`: their settings, and what bad input gets."""

import json
import sys
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from oakemu_rl.cli.main import run
from oakemu_rl.experiments import free_memory
from tests.cli.test_end_to_end import Capture, refused
from tests.experiments.dqn_commands import ALGORITHMS, train_dqn


class Available(NamedTuple):
    """What psutil tells, as far as it is read."""

    available: int


@pytest.mark.parametrize(
    ("what", "words", "told"),
    [
        (
            "CartPole-v1",
            ("--optimisation.batch-size=101",),
            "101 rows are more than the 100 steps of replay.warm_up_steps",
        ),
        (
            "CartPole-v1",
            ("--replay.capacity=99",),
            "100 steps are more than the 99 of replay.capacity",
        ),
        (
            "CartPole-v1",
            ("--replay.capacity=8", "--replay.warm-up-steps=8", "--optimisation.batch-size=8"),
            "8 steps of 4 environments with stacks of 1 hold fewer than the 8 that optim",
        ),
        ("CartPole-v1", ("--rollout.steps=8",), "--rollout.steps: unknown flag"),
        ("CartPole-v1", ("--optimisation.minibatch-size=8",), "minibatch-size: unknown flag; did"),
        ("CartPole-v1", ("--loss.clip-range=0.1",), "--loss.clip-range: unknown flag"),
        ("CartPole-v1", ("--cloning.weight=1",), "--cloning.weight: unknown flag"),
        ("CartPole-v1", ("--replay.capacty=999",), "--replay.capacty: unknown flag; did you mean"),
        ("CartPole-v1", ("--replay.kind=priority",), "--replay.kind: got "),
        ("CartPole-v1", ("--exploration.epsilon=2",), "--exploration.epsilon: got 2"),
        ("CartPole-v1", ("--model.value-min=10",), "the least return 10"),
        (
            "CartPole-v1",
            ("--shaping.potential.x=1",),
            "environment 'CartPole-v1' has no named value 'x'; it has none",
        ),
        (
            "acorns",
            ("--shaping.potential.baskets=1",),
            "environment 'acorns' has no named value 'baskets'; it has ",
        ),
        (
            "acorns",
            ("--shaping.novelty-weight=1", '--shaping.novelty-values=["room"]'),
            "environment 'acorns' has no named value 'room'; it has ",
        ),
        (
            "CartPole-v1",
            ("--shaping.novelty-weight=1",),
            "names no value whose novelty would count",
        ),
        (
            "CartPole-v1",
            ('--environment.actions=["jump"]',),
            "environment.actions: unknown action 'jump' (allowed: ",
        ),
        ("Pendulum-v1", (), "has the action space Box(-2.0, 2.0, (1,), float32); allowed is Disc"),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_starts(
    what: str, words: tuple[str, ...], told: str, capsys: Capture, tmp_path: Path
) -> None:
    assert told in refused(capsys, train_dqn(what, tmp_path / "run", *words))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("word", ["sarsa", "DQN", ""])
def test_an_unknown_algorithm_is_refused_with_those_that_are_known(
    word: str, capsys: Capture, tmp_path: Path
) -> None:
    told = refused(capsys, ["train", "CartPole-v1", f"--algo={word}", f"--run-dir={tmp_path}/run"])
    assert f"invalid choice '{word}' for argument '--algo'" in told
    assert all(name in told for name in ("ppo", *ALGORITHMS))
    assert list(tmp_path.iterdir()) == []


def test_the_settings_of_dqn_are_refused_without_its_name(capsys: Capture, tmp_path: Path) -> None:
    words = ["train", "CartPole-v1", f"--run-dir={tmp_path / 'run'}", "--replay.capacity=9"]
    assert refused(capsys, words).startswith("--replay.capacity: unknown flag")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_replay_that_does_not_fit_is_told_with_both_numbers(
    algorithm: str, capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Available(available=2 * 10**9))
    words = train_dqn(
        "CartPole-v1", tmp_path / "run", "--replay.capacity=1000000000", algorithm=algorithm
    )
    told = refused(capsys, words)
    assert told.startswith("replay.capacity: 1,000,000,000 steps need ")
    assert told.endswith(" GB, 2.0 GB are free; lower replay.capacity")
    assert list(tmp_path.iterdir()) == []


def test_the_limit_of_a_container_counts(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "memory.max").write_text("500000000\n")
    (tmp_path / "memory.current").write_text("300000000\n")
    (tmp_path / "memory.stat").write_text("inactive_file 0\n")
    monkeypatch.setattr(free_memory, "CGROUPS", tmp_path)
    words = train_dqn("CartPole-v1", tmp_path / "run", "--replay.capacity=9000000")
    assert refused(capsys, words).endswith(" GB, 0.2 GB are free; lower replay.capacity")
    assert not (tmp_path / "run").exists()


def test_a_missing_package_is_told_before_anything_starts(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    words = train_dqn("CartPole-v1", tmp_path / "run", "--replay.compression=zstd")
    told = refused(capsys, words)
    assert told.startswith("Compressing the replay needs the package 'zstandard', which is not")
    assert told.endswith("install it with: pip install 'oakemu-rl[zstd]'")
    assert list(tmp_path.iterdir()) == []


def shown(capsys: Capture, *words: str) -> dict[str, Any]:
    """What `config show` prints, read as TOML."""
    capsys.readouterr()
    assert run(["config", "show", *words]) == 0
    return tomllib.loads(capsys.readouterr().out)


def test_rainbow_is_dqn_with_all_its_improvements(capsys: Capture) -> None:
    rainbow = shown(capsys, "CartPole-v1", "--algo=rainbow")
    plain = shown(capsys, "CartPole-v1", "--algo=dqn")
    assert set(rainbow) == set(plain)
    assert (rainbow["model"]["dueling"], plain["model"]["dueling"]) == (True, False)
    assert (rainbow["model"]["noisy"], rainbow["model"]["atoms"]) == (True, 51)
    assert (rainbow["replay"]["kind"], rainbow["replay"]["n_step"]) == ("prioritised", 3)
    assert rainbow["loss"]["double"] is True
    assert rainbow["exploration"]["epsilon"] == 0.0
    changed = shown(
        capsys, "CartPole-v1", "--algo=rainbow", "--model.noisy=false", "--replay.kind=uniform"
    )
    assert (changed["model"]["noisy"], changed["replay"]["kind"]) == (False, "uniform")
    assert (changed["model"]["dueling"], changed["replay"]["n_step"]) == (True, 3)


def test_what_is_shown_is_a_valid_file(capsys: Capture, tmp_path: Path) -> None:
    for algorithm in ALGORITHMS:
        for what in ("CartPole-v1", "acorns"):
            capsys.readouterr()
            assert run(["config", "show", what, f"--algo={algorithm}"]) == 0
            file = tmp_path / "my.toml"
            file.write_text(capsys.readouterr().out)
            assert run(["config", "check", str(file), f"--algo={algorithm}"]) == 0
            assert f"is a valid {algorithm} configuration" in capsys.readouterr().out
    told = refused(capsys, ["config", "check", str(file)])
    assert f"{file}: " in told
    assert "unknown key" in told


def test_eval_refuses_a_run_of_an_algorithm_that_is_unknown(
    capsys: Capture, tmp_path: Path
) -> None:
    words = train_dqn(
        "CartPole-v1", tmp_path / "run", "--total-steps=104", "--lockstep",
        "--evaluation.final-episodes=1",
    )  # fmt: skip
    assert run(words) == 0
    meta = tmp_path / "run" / "meta.json"
    meta.write_text(json.dumps(json.loads(meta.read_text()) | {"algorithm": "sarsa"}))
    told = refused(capsys, ["eval", str(tmp_path / "run")])
    assert "algorithm 'sarsa' is unknown; allowed is ppo, dqn, rainbow" in told
