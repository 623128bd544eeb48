"""What a run tells in its files and on the console."""

import io
import json
from pathlib import Path

from rich.console import Console

from oakemu_rl.experiments.outlets import WarningsAloud
from oakemu_rl.metrics.jsonl import EventFile


def test_a_warning_goes_to_the_events_and_to_the_console_and_other_events_to_the_file_alone(
    tmp_path: Path,
) -> None:
    said, log = io.StringIO(), EventFile(tmp_path / "events.jsonl")
    events = WarningsAloud(log, Console(file=said, width=40))
    events.record("warning", env_steps=1_200, text="the [red] support is too narrow for returns")
    events.record("checkpoint", env_steps=1_300, text="not told")
    log.close()
    kinds = [json.loads(line)["kind"] for line in log_lines(tmp_path)]
    assert kinds == ["warning", "checkpoint"]
    assert said.getvalue() == (
        "Warning at step 1,200: the [red] support is too narrow for returns\n"
    )


def log_lines(folder: Path) -> list[str]:
    return (folder / "events.jsonl").read_text().splitlines()
