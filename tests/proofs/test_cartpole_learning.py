"""PPO reaches a mean of 475 over 20 greedy episodes of CartPole-v1: one seed here, five as a
proof."""

import json
import statistics
from pathlib import Path

import pytest
from rich.console import Console

from oakemu_rl import PPOExperiment, PPOExperimentConfiguration, load_configuration

GOAL = 475.0
LIMIT = 20_000
MEDIAN_LIMIT = 12_288


def steps_to_goal(seed: int, folder: Path) -> int | None:
    """The environment steps at the first test that reached the goal; tests come every 2,048
    steps."""
    configuration = load_configuration(
        PPOExperimentConfiguration,
        "CartPole-v1",
        preset="ppo",
        overrides={
            "run.seed": seed,
            "run.mode": "lockstep",
            "run.torch_threads": 1,
            "run.folder": str(folder),
            "run.total_steps": LIMIT,
            "evaluation.every_steps": 2_048,
            "evaluation.episodes": 20,
            "metrics.console": "off",
        },
    )
    PPOExperiment(configuration, console=Console(quiet=True)).run()
    tests = [json.loads(path.read_text()) for path in sorted((folder / "eval").iterdir())]
    assert all(len(test["scores"]) == 20 and test["mode"] == "greedy" for test in tests)
    return next((test["step"] for test in tests if test["mean"] >= GOAL), None)


def test_one_seed_solves_cartpole_within_20_000_steps(tmp_path: Path) -> None:
    steps = steps_to_goal(1, tmp_path / "run")
    assert steps is not None
    assert steps <= LIMIT


@pytest.mark.prove
def test_five_seeds_solve_cartpole_with_a_median_of_at_most_12_288_steps(tmp_path: Path) -> None:
    found = {seed: steps_to_goal(seed, tmp_path / f"seed-{seed}") for seed in range(1, 6)}
    print(f"CartPole-v1, environment steps to a mean of {GOAL} by seed: {found}")
    assert all(steps is not None and steps <= LIMIT for steps in found.values())
    assert statistics.median(steps for steps in found.values() if steps is not None) <= MEDIAN_LIMIT
