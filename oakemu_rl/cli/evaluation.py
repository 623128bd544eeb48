"""The command `eval`."""

import json
import math
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from oakemu_rl.cli import PROGRAM
from oakemu_rl.cli.commands import Evaluate
from oakemu_rl.core.errors import UserError

if TYPE_CHECKING:
    from oakemu_rl.training.evaluation import Evaluation


def evaluate(command: Evaluate) -> int:
    """Play the games, then print the scores."""
    for flag, value, least in (("episodes", command.episodes, 1), ("seed", command.seed, 0)):
        if value < least:
            raise UserError(f"--{flag}: got {value}, allowed is an integer, at least {least}")
    from oakemu_rl.experiments.evaluation import evaluate_run

    # What an environment prints must not stand between a script and the scores.
    with redirect_stdout(sys.stderr):
        evaluation = evaluate_run(
            command.run_folder,
            checkpoint=command.checkpoint,
            episodes=command.episodes,
            seed=command.seed,
            mode="sampled" if command.sampled else "greedy",
            note=_note,
        )
    if command.json:
        sys.stdout.write(as_json(evaluation) + "\n")
    else:
        Console().print(as_table(evaluation))
    return 0


def as_json(evaluation: "Evaluation") -> str:
    """The evaluation as one object; a number that is not finite is null."""
    return json.dumps(
        {
            "mean": _finite(evaluation.mean),
            "standard_error": _finite(evaluation.standard_error),
            "scores": [_finite(score) for score in evaluation.scores],
            "success_rate": _finite(evaluation.success_rate),
            "mode": evaluation.mode,
            "step": evaluation.step,
        }
    )


def as_table(evaluation: "Evaluation") -> Table:
    """The same for a person, with the confidence interval."""
    table = Table("", f"{len(evaluation.scores)} games, {evaluation.mode}")
    table.add_row("checkpoint at step", str(evaluation.step))
    table.add_row("mean score", f"{evaluation.mean:.2f}")
    if evaluation.interval is not None and evaluation.standard_error is not None:
        low, high = evaluation.interval
        table.add_row("95% interval", f"{low:.2f} to {high:.2f}")
        table.add_row("standard error", f"{evaluation.standard_error:.2f}")
    table.add_row("least and greatest", f"{min(evaluation.scores):g}, {max(evaluation.scores):g}")
    if evaluation.success_rate is not None:
        table.add_row("success rate", f"{evaluation.success_rate:.0%}")
    return table


def _note(text: str) -> None:
    sys.stderr.write(f"{PROGRAM}: note: {' '.join(text.split())}\n")


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
