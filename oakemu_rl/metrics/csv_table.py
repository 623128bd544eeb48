"""Metrics as one wide CSV table."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from pathlib import Path
from threading import Lock

from oakemu_rl.core.storage_faults import disk_faults_of
from oakemu_rl.metrics.lines import LineFile
from oakemu_rl.metrics.names import ENV_STEPS
from oakemu_rl.metrics.values import checked_values


class CsvWriter:
    """`metrics.csv`: a row a write, a column a metric, empty where a write did not hold the metric.

    A metric met for the first time adds a column: the table is written anew beside the old one,
    which it then replaces in one step. NaN and infinities are `nan`, `inf` and `-inf`. An existing
    file is continued.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._columns = [ENV_STEPS]
        with disk_faults_of(str(path)):
            found = _header(path) if path.exists() else []
        self._rows = LineFile(path)
        if found:
            self._columns = found
        else:
            self._rows.append(_line(self._columns))

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Append one row, after adding the columns that are new."""
        row: dict[str, int | float] = {ENV_STEPS: env_steps, **checked_values(values)}
        with self._lock:
            new = [name for name in row if name not in self._columns]
            if new:
                self._widen([*self._columns, *new])
            self._rows.append(_line([str(row.get(name, "")) for name in self._columns]))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._rows.close()

    def _widen(self, columns: list[str]) -> None:
        beside = self._path.with_name(f".{self._path.name}.new")
        with disk_faults_of(str(self._path)):
            try:
                self._copy(beside, columns)
            except OSError:
                beside.unlink(missing_ok=True)
                raise
            # Closed only now: where the disk refused the new table, the old one still takes rows.
            self._rows.close()
            beside.replace(self._path)
        self._columns = columns
        self._rows = LineFile(self._path)

    def _copy(self, beside: Path, columns: Sequence[str]) -> None:
        with (
            self._path.open(encoding="utf-8", newline="") as old,
            beside.open("w", encoding="utf-8", newline="") as new,
        ):
            rows = csv.reader(old)
            next(rows, None)
            new.write(f"{_line(columns)}\n")
            for row in rows:
                new.write(f"{_line([*row, *[''] * (len(columns) - len(row))])}\n")


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return next(csv.reader(file), [])


def _line(cells: Sequence[str]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="").writerow(cells)
    return text.getvalue()
