"""A text file that grows by whole lines, under the files of metrics and events."""

import os
from pathlib import Path
from threading import Lock

from oakemu_rl.core.storage_faults import disk_faults_of


class LineFile:
    """Appends whole lines. Safe to use from several threads.

    A line is handed to the system before `append` returns, so a killed process loses none. A last
    line that a killed process left without its end is ended first, so that it spoils no other.
    """

    def __init__(self, path: Path) -> None:
        self._name = str(path)
        self._lock = Lock()
        with disk_faults_of(self._name):
            self._file = path.open("ab", buffering=0)
            if self._file.tell() and not _ends_with_newline(path):
                self._file.write(b"\n")

    def append(self, line: str) -> None:
        """Write `line` and its end."""
        data = memoryview(f"{line}\n".encode())
        with self._lock, disk_faults_of(self._name):
            while data:
                data = data[self._file.write(data) :]

    def close(self) -> None:
        """Close the file; further lines are refused."""
        with self._lock, disk_faults_of(self._name):
            self._file.close()


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
