"""Threads that are watched: a failure in one stops all, a silent one is named."""

import threading
import time
from collections.abc import Callable
from types import TracebackType

import attrs

from oakemu_rl.core.errors import WorkerError

POLL_SECONDS = 0.1
ABANDON_SECONDS = 1.0
"""What a part is given to come back once the user no longer waits."""


class Pulse:
    """The heartbeat of one part: when it last showed that it is alive."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()

    def beat(self) -> None:
        """Show that the part is alive."""
        self._last = self._clock()

    def silence(self) -> float:
        """Seconds since the last beat."""
        return self._clock() - self._last


_current = threading.local()


def beat() -> None:
    """Show that the calling thread is alive; does nothing in a thread that is not supervised.

    Long loops call it at every turn, so that no heartbeat has to be handed through their
    signatures.
    """
    pulse: Pulse | None = getattr(_current, "pulse", None)
    if pulse is not None:
        pulse.beat()


@attrs.frozen(kw_only=True, eq=False)
class _Part:
    role: str
    thread: threading.Thread
    pulse: Pulse


class Supervisor:
    """Starts the parts of a run as daemon threads and watches them from the caller's thread.

    An exception in a part sets the stop event; `watch` then gives the others `grace_seconds` to
    come back and raises that exception in the caller, with a note that names the part. A part that
    has not beaten for `heartbeat_seconds` is named in a `WorkerError` and left behind.
    """

    def __init__(
        self,
        stop_event: threading.Event,
        *,
        heartbeat_seconds: float = 120.0,
        grace_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._stop_event = stop_event
        self._heartbeat_seconds = heartbeat_seconds
        self._grace_seconds = grace_seconds
        self._clock = clock
        self._parts: list[_Part] = []
        self._errors: list[BaseException] = []
        self._join_limit: float | None = None

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """However the block ends, no part runs on: an error in the caller stops them, and stays
        the error; without one, that of a part is raised."""
        if error is None:
            self.stop()
        self._stop_event.set()
        if isinstance(error, KeyboardInterrupt):
            self._join_limit = self._clock() + min(ABANDON_SECONDS, self._grace_seconds)
        self._join()

    def start(self, role: str, body: Callable[[], None]) -> None:
        """Run `body()` in a thread called `role`."""
        pulse = Pulse(self._clock)

        def guarded() -> None:
            _current.pulse = pulse
            try:
                body()
            except BaseException as error:
                error.add_note(f"raised in the {role} thread")
                self._errors.append(error)
                self._stop_event.set()

        part = _Part(
            role=role, thread=threading.Thread(target=guarded, name=role, daemon=True), pulse=pulse
        )
        self._parts.append(part)
        part.thread.start()

    def watch(self, *, until: str) -> None:
        """Return when the part `until` has ended and the others have followed the stop event.

        Raises:
            The first exception of a part, or WorkerError naming the parts that hang.
        """
        awaited = next(part for part in self._parts if part.role == until)
        while awaited.thread.is_alive() and not self._errors:
            awaited.thread.join(POLL_SECONDS)
            self._raise_if_silent()
        self.stop()

    def stop(self) -> None:
        """Set the stop event, wait for every part, and raise what went wrong."""
        self._stop_event.set()
        self._join()
        hanging = [part.role for part in self._parts if part.thread.is_alive()]
        if self._errors:
            # What fails after the first failure is mostly its consequence.
            first = self._errors[0]
            if hanging:
                first.add_note(f"still running and left behind: {', '.join(hanging)}")
            raise first
        if hanging:
            raise WorkerError(
                f"{', '.join(hanging)}: did not stop within "
                f"{self._grace_seconds:g} s and was left behind"
            )

    def _join(self) -> None:
        if self._join_limit is None:
            self._join_limit = self._clock() + self._grace_seconds
        for part in self._parts:
            while part.thread.is_alive() and self._clock() < self._join_limit:
                part.thread.join(POLL_SECONDS)

    def _raise_if_silent(self) -> None:
        for part in self._parts:
            silence = part.pulse.silence()
            if part.thread.is_alive() and silence > self._heartbeat_seconds:
                self._stop_event.set()
                raise WorkerError(
                    f"{part.role}: silent for {silence:.0f} s, allowed are "
                    f"{self._heartbeat_seconds:g} s "
                    "(run.heartbeat_seconds); it hangs and was left behind"
                )
