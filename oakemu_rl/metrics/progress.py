"""How far a run is, as a record, as a line of text, and as a small table for a terminal.

Pure: the time is an argument. Who draws it, and when, is in `console.py`.
"""

import math
from collections.abc import Mapping

import attrs
from rich.console import Group, RenderableType
from rich.constrain import Constrain
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from oakemu_rl.metrics import names

_MOST_COLUMNS = 100


@attrs.frozen(kw_only=True)
class Test:
    """One result of the tester: mean score, standard error if known, and step of the weights."""

    score: float
    error: float | None
    env_steps: int


@attrs.frozen(kw_only=True)
class Progress:
    """What the metrics have said so far. `time` is when they last did, in seconds of some clock."""

    total_steps: int
    time: float
    env_steps: int = 0
    steps_per_second: float | None = None
    score: float | None = None
    last_test: Test | None = None
    best_test: Test | None = None


def advanced(
    progress: Progress, *, env_steps: int, values: Mapping[str, float], time: float
) -> Progress:
    """The progress after the record `values` at `env_steps`; a test of older weights may come
    late."""
    test = _test_in(values, env_steps)
    best = progress.best_test
    if test is not None and (best is None or test.score > best.score):
        best = test
    return attrs.evolve(
        progress,
        time=time,
        env_steps=max(env_steps, progress.env_steps),
        steps_per_second=values.get(names.FPS, progress.steps_per_second),
        score=values.get(names.EPISODE_RETURN_MEAN, progress.score),
        last_test=test or progress.last_test,
        best_test=best,
    )


def seconds_left(progress: Progress, *, time: float) -> float | None:
    """Seconds from `time` to the last step at the present speed; None while that is not known."""
    speed = progress.steps_per_second
    if speed is None or not math.isfinite(speed) or speed <= 0:
        return None
    left = (progress.total_steps - progress.env_steps) / speed - (time - progress.time)
    return max(left, 0.0)


def progress_line(progress: Progress, *, time: float) -> str:
    """All of it in one line."""
    return "  ".join(
        [_steps(progress), _share(progress), *_figures(progress), _left(progress, time)]
    )


def progress_table(progress: Progress, *, time: float) -> RenderableType:
    """A line with a bar, and one with the figures."""
    bar = Table.grid(padding=(0, 2), expand=True)
    bar.add_column(ratio=1)
    for _ in range(3):
        bar.add_column(no_wrap=True)
    completed = min(progress.env_steps, progress.total_steps)
    bar.add_row(
        ProgressBar(total=progress.total_steps, completed=completed),
        Text(_share(progress), style="bold"),
        _steps(progress),
        Text(_left(progress, time), style="cyan"),
    )
    figures = _figures(progress) or ["waiting for the first figures"]
    return Constrain(Group(bar, Text("  ·  ".join(figures))), _MOST_COLUMNS)


def _test_in(values: Mapping[str, float], env_steps: int) -> Test | None:
    score = values.get(names.EVALUATION_RETURN_MEAN)
    if score is None:
        return None
    error = values.get(names.EVALUATION_RETURN_ERROR)
    return Test(score=score, error=error, env_steps=env_steps)


def _steps(progress: Progress) -> str:
    total = f"{progress.total_steps:,}"
    return f"{progress.env_steps:>{len(total)},} / {total} steps"


def _share(progress: Progress) -> str:
    return f"{min(progress.env_steps / progress.total_steps, 1.0):4.0%}"


def _left(progress: Progress, time: float) -> str:
    seconds = seconds_left(progress, time=time)
    return "-:--:-- left" if seconds is None else f"{_clock_time(seconds)} left"


def _figures(progress: Progress) -> list[str]:
    figures = []
    if progress.steps_per_second is not None:
        figures.append(f"{progress.steps_per_second:,.0f} steps/s")
    if progress.score is not None:
        figures.append(f"score {_number(progress.score)}")
    if progress.last_test is not None:
        figures.append(_told(progress.last_test, progress.best_test))
    return figures


def _told(test: Test, best: Test | None) -> str:
    error = "" if test.error is None else f" ± {_number(test.error)}"
    higher = f", best {_number(best.score)}" if best is not None and best != test else ""
    return f"test {_number(test.score)}{error} at {test.env_steps:,}{higher}"


def _number(value: float) -> str:
    return f"{value:,.2f}" if abs(value) < 10 else f"{value:,.1f}"


def _clock_time(seconds: float) -> str:
    minutes, whole_seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{whole_seconds:02}"
