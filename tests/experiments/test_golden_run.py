"""A run that was written with checkpoints of format 1 stays usable, whatever comes later."""

from pathlib import Path

import torch

from oakemu_rl.checkpoints.checkpoint import load_checkpoint
from oakemu_rl.experiments.evaluation import evaluate_run

RUN = Path(__file__).parents[1] / "golden" / "run-format-1"


def test_a_checkpoint_of_format_1_loads() -> None:
    found = load_checkpoint(RUN / "checkpoints" / "step-000000064")
    assert (found.env_steps, found.manifest.iterations, found.rejected) == (64, 2, ())
    assert sorted(found.tensors) == ["generators", "model", "optimizer"]
    assert found.state["learner"] == {"iterations": 2, "rollouts_collected": 1}
    assert all(torch.isfinite(tensor.double()).all() for tensor in found.tensors["model"].values())


def test_a_run_of_format_1_can_be_evaluated() -> None:
    evaluation = evaluate_run(RUN, episodes=3, seed=0)
    assert (evaluation.step, evaluation.mode, len(evaluation.scores)) == (64, "greedy", 3)
