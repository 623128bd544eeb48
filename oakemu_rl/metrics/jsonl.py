"""Metrics and events as lines of strict JSON."""

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from oakemu_rl.core.ports import EventDetail
from oakemu_rl.metrics.lines import LineFile
from oakemu_rl.metrics.names import ENV_STEPS
from oakemu_rl.metrics.values import checked_values


def _now() -> datetime:
    return datetime.now(UTC)


def _finite(values: Mapping[str, EventDetail]) -> dict[str, EventDetail]:
    """`values` with None for NaN and infinity, which strict JSON cannot say."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


class JsonlWriter:
    """`metrics.jsonl`: one object a write, `{"env_steps": ..., name: value, ...}`.

    A value that is NaN or infinite is null; the CSV table tells which of them it was. An existing
    file is continued.
    """

    def __init__(self, path: Path) -> None:
        self._lines = LineFile(path)

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Append one line."""
        record = {ENV_STEPS: env_steps, **_finite(checked_values(values))}
        self._lines.append(json.dumps(record, ensure_ascii=False, allow_nan=False))

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


class EventFile:
    """`events.jsonl`: one object an event, `{"time", "kind", "env_steps", "details"}`.

    The time is UTC in ISO 8601; a detail that is NaN or infinite is null. An existing file is
    continued.
    """

    def __init__(self, path: Path, *, now: Callable[[], datetime] = _now) -> None:
        self._lines = LineFile(path)
        self._now = now

    def record(self, kind: str, /, *, env_steps: int, **details: EventDetail) -> None:
        """Append one event."""
        event = {
            "time": self._now().isoformat(timespec="milliseconds"),
            "kind": kind,
            ENV_STEPS: env_steps,
            "details": _finite(details),
        }
        self._lines.append(json.dumps(event, ensure_ascii=False, allow_nan=False))

    def close(self) -> None:
        """Close the file."""
        self._lines.close()
