"""What a run ends with."""

from pathlib import Path

import attrs
from rich.table import Table
from rich.text import Text


@attrs.frozen(kw_only=True)
class ExperimentResult:
    """The last test of a run, beside a random and a scripted player on the same seeds.

    The agent is the run's best checkpoint, that of environment step `checkpoint_step`. What does
    not exist is None: the test of a run that was interrupted before its end, or the scripted player
    of a game that has none. `exit_code` is what the command returns.
    """

    folder: Path
    exit_code: int
    steps: int
    seconds: float
    checkpoint_step: int | None = None
    test_mean: float | None = None
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    scores: tuple[float, ...] = ()
    seeds: tuple[int, ...] = ()
    random_mean: float | None = None
    scripted_mean: float | None = None

    def summary(self) -> Table:
        """The result as a table for a person."""
        table = Table("after training", f"{self.steps:,} steps in {self.seconds:.0f} s")
        if self.test_mean is not None:
            known = "" if self.interval is None else " (95% interval {:.2f} to {:.2f})"
            table.add_row(
                f"agent, mean of {len(self.scores)} games",
                f"{self.test_mean:.2f}{known.format(*(self.interval or ()))}",
            )
        else:
            table.add_row("agent", "not tested: the run was stopped before its last test")
        if self.random_mean is not None:
            table.add_row("random player, same games", f"{self.random_mean:.2f}")
        if self.scripted_mean is not None:
            table.add_row("scripted player, same games", f"{self.scripted_mean:.2f}")
        table.add_row("run folder", Text(str(self.folder), overflow="fold"))
        return table
