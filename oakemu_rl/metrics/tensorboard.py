"""Metrics for TensorBoard, written record by record without a thread.

TensorBoard's own writer hands records to a background thread, where a full disk ends in a printed
traceback; its record format is used directly instead. Needs the extra `tensorboard`.
"""

import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Lock

from oakemu_rl.core.errors import MissingExtraError
from oakemu_rl.core.storage_faults import disk_faults_of
from oakemu_rl.metrics.values import checked_values


class TensorBoardWriter:
    """Scalars in an event file of its own below `folder`; each write is flushed."""

    def __init__(self, folder: Path, *, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives the seconds since 1970 that TensorBoard shows as wall time.

        Raises:
            MissingExtraError: the package `tensorboard` is not installed.
            StorageError: the folder cannot be written.
        """
        try:
            from tensorboard.compat.proto.event_pb2 import Event  # type: ignore[import-untyped]
            from tensorboard.compat.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
            from tensorboard.summary.writer.record_writer import RecordWriter  # type: ignore[import-untyped]
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                package="tensorboard", extra="tensorboard", purpose="Writing TensorBoard files"
            ) from error
        self._new_event = Event
        self._new_summary = Summary
        self._clock = clock
        self._lock = Lock()
        started = clock()
        name = f"events.out.tfevents.{int(started):010d}.{socket.gethostname()}.{os.getpid()}"
        path = folder / name
        self._path = str(path)
        with disk_faults_of(self._path):
            folder.mkdir(parents=True, exist_ok=True)
            self._records = RecordWriter(path.open("ab"))
        self._append(Event(wall_time=started, file_version="brain.Event:2").SerializeToString())

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Append one event that holds every value at `env_steps`."""
        scalars = [
            self._new_summary.Value(tag=name, simple_value=value)
            for name, value in checked_values(values).items()
        ]
        event = self._new_event(
            wall_time=self._clock(), step=env_steps, summary=self._new_summary(value=scalars)
        )
        self._append(event.SerializeToString())

    def close(self) -> None:
        """Close the file."""
        with self._lock, disk_faults_of(self._path):
            self._records.close()

    def _append(self, record: bytes) -> None:
        with self._lock, disk_faults_of(self._path):
            self._records.write(record)
            self._records.flush()
