"""A thread that a test starts, and whose end it waits for no longer than a limit."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

LIMIT_SECONDS = 5.0


class Background(Generic[T]):
    """Runs `body` in a thread of its own; `result` gives what it returned, or raises its error."""

    def __init__(self, body: Callable[[], T]) -> None:
        self._body = body
        self._results: list[T] = []
        self._errors: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def result(self, *, within: float = LIMIT_SECONDS) -> T:
        """What `body` returned; it must have done so within so many seconds."""
        self._thread.join(within)
        assert not self._thread.is_alive(), f"still running after {within} s"
        for error in self._errors:
            raise error
        (result,) = self._results
        return result

    def _run(self) -> None:
        try:
            self._results.append(self._body())
        except BaseException as error:
            self._errors.append(error)
