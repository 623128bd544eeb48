"""One writer in front of several."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from oakemu_rl.core.errors import StorageError
from oakemu_rl.core.ports import MetricsWriter


class CombinedWriter:
    """Hands every record to each of `writers`, one record at a time.

    A writer whose disk refuses does not keep the others from their record: its error is raised
    after the last of them.
    """

    def __init__(self, writers: Sequence[MetricsWriter]) -> None:
        self._writers = tuple(writers)
        self._lock = Lock()

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Write to each writer, in order.

        Raises:
            StorageError: the disk refused one of them; the message names the file.
        """
        self._each(lambda writer: writer.write(env_steps=env_steps, values=values))

    def close(self) -> None:
        """Close each writer, in order.

        Raises:
            StorageError: as for `write`.
        """
        self._each(lambda writer: writer.close())

    def _each(self, use: Callable[[MetricsWriter], None]) -> None:
        faults: list[StorageError] = []
        with self._lock:
            for writer in self._writers:
                try:
                    use(writer)
                except StorageError as fault:
                    faults.append(fault)
        if faults:
            raise faults[0]
