"""Runs that several tests look at."""

from pathlib import Path

import pytest

from oakemu_rl.cli.main import run
from tests.experiments.commands import SMALL_GAME, train

STEPS = 1_024


@pytest.fixture(scope="session")
def cartpole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lockstep run of CartPole from one environment, 1,024 steps."""
    folder = tmp_path_factory.mktemp("cartpole") / "run"
    words = train(
        "CartPole-v1", folder, "--lockstep", f"--total-steps={STEPS}", "--environment.count=1",
        "--rollout.steps=128",
    )  # fmt: skip
    assert run(words) == 0
    return folder


@pytest.fixture(scope="session")
def acorns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lockstep run of Acorns, 256 steps in two environments."""
    folder = tmp_path_factory.mktemp("acorns") / "run"
    words = train("acorns", folder, "--lockstep", "--total-steps=256", small=SMALL_GAME)
    assert run(words) == 0
    return folder
