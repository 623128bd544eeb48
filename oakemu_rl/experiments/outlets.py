"""Where a run's numbers and events go."""

from contextlib import ExitStack

import attrs
from rich.console import Console

from oakemu_rl.config.options import MetricsOptions
from oakemu_rl.core.ports import EventDetail, EventLog, MetricsWriter
from oakemu_rl.experiments.run_folder import RunFolder
from oakemu_rl.metrics.combined import CombinedWriter
from oakemu_rl.metrics.console import console_writer
from oakemu_rl.metrics.csv_table import CsvWriter
from oakemu_rl.metrics.jsonl import EventFile, JsonlWriter
from oakemu_rl.metrics.tensorboard import TensorBoardWriter


@attrs.frozen(kw_only=True, eq=False)
class Outlets:
    """The metrics' writers as one, and the event log."""

    metrics: CombinedWriter
    events: EventLog
    event_file: EventFile

    def close(self) -> None:
        """Flush and close."""
        try:
            self.metrics.close()
        finally:
            self.event_file.close()


class WarningsAloud:
    """Passes events on to a log, and tells those of the kind `warning` on the console as well."""

    def __init__(self, log: EventLog, console: Console) -> None:
        self._log = log
        self._console = console

    def record(self, kind: str, /, *, env_steps: int, **details: EventDetail) -> None:
        """Record the event."""
        self._log.record(kind, env_steps=env_steps, **details)
        if kind == "warning":
            text = f"Warning at step {env_steps:,}: {details.get('text')}"
            self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def open_outlets(
    folder: RunFolder, *, options: MetricsOptions, total_steps: int, console: Console
) -> Outlets:
    """Open the files of the run and, unless it is off, the progress on `console`.

    Raises:
        MissingExtraError: TensorBoard files are wanted, and the package is not installed.
        StorageError: the disk refused.
    """
    writers: list[MetricsWriter] = []
    with ExitStack() as undo:

        def keep(writer: MetricsWriter) -> None:
            writers.append(writer)
            undo.callback(writer.close)

        keep(JsonlWriter(folder.metrics_jsonl))
        keep(CsvWriter(folder.metrics_csv))
        if options.tensorboard:
            keep(TensorBoardWriter(folder.tensorboard))
        events = EventFile(folder.events)
        undo.pop_all()
    progress = console_writer(options.console, total_steps=total_steps, console=console)
    if progress is not None:
        writers.append(progress)
    return Outlets(
        metrics=CombinedWriter(writers),
        events=WarningsAloud(events, console),
        event_file=events,
    )
