"""DQN reaches a mean of 475 over 20 greedy episodes of CartPole-v1, and its best checkpoint again
over 50 fresh ones: one seed here, five as a proof."""

import json
import statistics
from pathlib import Path

import pytest
from rich.console import Console

from oakemu_rl import (
    DQNExperiment,
    DQNExperimentConfiguration,
    evaluate_run,
    load_configuration,
)

GOAL = 475.0
LIMIT = 50_000
"""The length of the proof's runs: who reaches the goal does so within it."""
MEDIAN_LIMIT = 30_000
FRESH_EPISODES = 50


def trained(seed: int, folder: Path, *, total_steps: int, every_steps: int) -> tuple[int, float]:
    """The environment steps at the first test that reached the goal, and the mean of the best
    checkpoint over fresh episodes."""
    configuration = load_configuration(
        DQNExperimentConfiguration,
        "CartPole-v1",
        preset="dqn",
        overrides={
            "run.seed": seed,
            "run.mode": "lockstep",
            "run.torch_threads": 1,
            "run.folder": str(folder),
            "run.total_steps": total_steps,
            "evaluation.every_steps": every_steps,
            "evaluation.episodes": 20,
            "metrics.console": "off",
        },
    )
    DQNExperiment(configuration, console=Console(quiet=True)).run()
    tests = [json.loads(path.read_text()) for path in sorted((folder / "eval").iterdir())]
    assert all(len(test["scores"]) == 20 and test["mode"] == "greedy" for test in tests)
    first = next((test["step"] for test in tests if test["mean"] >= GOAL), None)
    assert first is not None, f"seed {seed}: best test {max(test['mean'] for test in tests)}"
    return first, evaluate_run(folder, episodes=FRESH_EPISODES, seed=seed).mean


def test_one_seed_solves_cartpole_within_20_000_steps(tmp_path: Path) -> None:
    _, fresh = trained(1, tmp_path / "run", total_steps=20_000, every_steps=2_000)
    assert fresh >= GOAL


@pytest.mark.prove
def test_five_seeds_solve_cartpole_with_a_median_of_at_most_30_000_steps(tmp_path: Path) -> None:
    found = {
        seed: trained(seed, tmp_path / f"seed-{seed}", total_steps=LIMIT, every_steps=1_000)
        for seed in range(1, 6)
    }
    print(f"DQN, CartPole-v1, steps to a mean of {GOAL}, and 50 fresh episodes, by seed: {found}")
    assert all(fresh >= GOAL for _, fresh in found.values())
    assert statistics.median(first for first, _ in found.values()) <= MEDIAN_LIMIT
