"""The run on the screen: a live table on a terminal, plain lines elsewhere.

Both are fed as writers of metrics; what they show is made in `progress.py`.
"""

import time
from collections.abc import Callable, Mapping
from threading import Lock

from rich.console import Console, RenderableType
from rich.live import Live

from oakemu_rl.metrics import names
from oakemu_rl.metrics.progress import Progress, advanced, progress_line, progress_table

Clock = Callable[[], float]

_SECONDS_BETWEEN_LINES = 5.0
_REFRESHES_PER_SECOND = 4


class _Follower:
    """The progress, which changes only while `_lock` is held."""

    def __init__(self, *, total_steps: int, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._progress = Progress(total_steps=total_steps, time=clock())

    def _follow(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        self._progress = advanced(
            self._progress, env_steps=env_steps, values=values, time=self._clock()
        )


class LiveConsole(_Follower):
    """A table that is drawn anew a few times a second; the last one stays on the screen."""

    def __init__(
        self, *, total_steps: int, console: Console, clock: Clock = time.monotonic
    ) -> None:
        super().__init__(total_steps=total_steps, clock=clock)
        self._live = Live(
            console=console,
            get_renderable=self._drawn,
            refresh_per_second=_REFRESHES_PER_SECOND,
        )
        self._live.start()

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Take the record; the next drawing shows it."""
        with self._lock:
            self._follow(env_steps=env_steps, values=values)

    def close(self) -> None:
        """Draw a last time and leave the screen to others."""
        self._live.stop()

    def _drawn(self) -> RenderableType:
        return progress_table(self._progress, time=self._clock())


class PlainConsole(_Follower):
    """A line at most every five seconds, one for each test, and the last one."""

    def __init__(
        self, *, total_steps: int, console: Console, clock: Clock = time.monotonic
    ) -> None:
        super().__init__(total_steps=total_steps, clock=clock)
        self._console = console
        self._next_line = clock()
        self._printed: Progress | None = None

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Take the record, and print a line where one is due."""
        with self._lock:
            self._follow(env_steps=env_steps, values=values)
            if names.EVALUATION_RETURN_MEAN in values or self._progress.time >= self._next_line:
                self._print()

    def close(self) -> None:
        """Print what has not been printed yet."""
        with self._lock:
            if self._printed is not self._progress and self._progress.env_steps > 0:
                self._print()

    def _print(self) -> None:
        progress = self._progress
        line = progress_line(progress, time=progress.time)
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)
        self._printed = progress
        self._next_line = progress.time + _SECONDS_BETWEEN_LINES


def console_writer(
    mode: str, *, total_steps: int, console: Console, clock: Clock = time.monotonic
) -> LiveConsole | PlainConsole | None:
    """The writer for `metrics.console`: `live`, `plain`, `off` (none), or `auto`.

    `auto` is live on a terminal and plain elsewhere.

    Raises:
        ValueError: another mode.
    """
    if mode == "auto":
        mode = "live" if console.is_terminal else "plain"
    if mode == "off":
        return None
    if mode == "live":
        return LiveConsole(total_steps=total_steps, console=console, clock=clock)
    if mode == "plain":
        return PlainConsole(total_steps=total_steps, console=console, clock=clock)
    raise ValueError(f"mode must be auto, live, plain or off, got {mode!r}")
