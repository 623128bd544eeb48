"""Which of many environments raised an exception, told by the exception itself."""

import traceback
from collections.abc import Sequence
from typing import Any

from gymnasium import Env


def note_origin(
    error: BaseException, environments: Sequence[Env[Any, Any]], *, environment: str
) -> None:
    """Add a note that names the one of `environments` in which `error` was raised, if it was there.

    It is found among the frames of the traceback, by the object whose method was running: so the
    steps that go well cost nothing.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        running = frame.f_locals.get("self")
        for index, candidate in enumerate(environments):
            if candidate is running:
                error.add_note(f"raised in environment {index} of {environment!r}")
                return
