"""Ctrl-C and SIGTERM: the first is a clean stop, the second abandons what is still being done."""

import signal
import threading
from types import FrameType, TracebackType


class StopSignals:
    """While entered in the main thread, turns SIGINT and SIGTERM into a clean stop.

    The first signal sets the stop event; a second one raises `KeyboardInterrupt` where the main
    thread is. Elsewhere than in the main thread signals can't be caught, and nothing changes.
    """

    def __init__(self, stop_event: threading.Event) -> None:
        self._stop_event = stop_event
        self._previous: dict[int, object] = {}
        self.received: signal.Signals | None = None

    @property
    def exit_code(self) -> int:
        """0 where no signal came, else 128 plus the first signal's number: 130 or 143."""
        return 0 if self.received is None else 128 + self.received

    def clear(self) -> bool:
        """Clear the stop event, which others set too, unless a signal came; whether it is clear."""
        self._stop_event.clear()
        # A signal that came before this line finds the event set again, a later one sets it.
        if self.received is not None:
            self._stop_event.set()
        return self.received is None

    def __enter__(self) -> "StopSignals":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # signal.signal returned it

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if self.received is not None:
            raise KeyboardInterrupt
        self.received = signal.Signals(number)
        self._stop_event.set()
