"""DQN in lockstep: the seed decides every weight, and nothing else does."""

import json
import sys
from pathlib import Path

import pytest

from oakemu_rl.cli.main import run
from tests.experiments.commands import finished
from tests.experiments.dqn_commands import SMALL_GAME, train_dqn
from tests.experiments.test_lockstep import RUN_ALL, last_checkpoint, records, scores

KINDS: dict[str, tuple[str, ...]] = {
    "uniform": ("--algo=dqn", "--total-steps=512", "--shaping.normalize=true"),
    "prioritised": ("--algo=dqn", "--total-steps=512", "--replay.kind=prioritised"),
    "rainbow": ("--algo=rainbow", "--total-steps=512"),
}


def words_of(kind: str, root: Path, *more: str) -> list[str]:
    return train_dqn("CartPole-v1", root / kind, "--lockstep", *KINDS[kind], *more)


def game(root: Path) -> list[str]:
    return train_dqn(
        "acorns", root / "acorns", "--lockstep", "--algo=rainbow", "--total-steps=64",
        "--evaluation.every-steps=1000", small=SMALL_GAME,
    )  # fmt: skip


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of each kind, made in this process."""
    root = tmp_path_factory.mktemp("here")
    for words in (*(words_of(kind, root) for kind in KINDS), game(root)):
        assert run(words) == 0
    return root


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same runs, made in another process."""
    root = tmp_path_factory.mktemp("elsewhere")
    runs = [*(words_of(kind, root) for kind in KINDS), game(root)]
    done = finished([sys.executable, "-c", RUN_ALL, json.dumps(runs)], cwd=root)
    assert done.returncode == 0, done.stderr
    return root


@pytest.mark.parametrize("kind", [*KINDS, "acorns"])
def test_a_fresh_process_makes_the_same_run_of_the_same_seed(
    kind: str, here: Path, elsewhere: Path
) -> None:
    files = last_checkpoint(here / kind)
    assert files == last_checkpoint(elsewhere / kind)
    assert set(files) >= {f"{name}.safetensors" for name in ("model", "target", "optimizer")}
    assert records(here / kind) == records(elsewhere / kind)
    assert scores(here / kind) == scores(elsewhere / kind)


@pytest.mark.parametrize("kind", KINDS)
def test_tests_in_between_change_no_weight(kind: str, here: Path, tmp_path: Path) -> None:
    words = words_of(
        kind, tmp_path, "--evaluation.every-steps=100000", "--evaluation.episodes=1",
        "--evaluation.mode=sampled", "--evaluation.final-episodes=1",
    )  # fmt: skip
    assert run(words) == 0
    assert last_checkpoint(tmp_path / kind) == last_checkpoint(here / kind)


@pytest.mark.parametrize("kind", ["uniform", "rainbow"])
def test_another_seed_makes_other_weights(kind: str, here: Path, tmp_path: Path) -> None:
    assert run(words_of(kind, tmp_path, "--seed=1", "--evaluation.final-episodes=1")) == 0
    one, other = (last_checkpoint(root / kind) for root in (here, tmp_path))
    for name in ("model.safetensors", "target.safetensors", "generators.safetensors"):
        assert one[name] != other[name]
