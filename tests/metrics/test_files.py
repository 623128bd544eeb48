"""Metrics and events as files."""

import csv
import json
import math
import resource
import weakref
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import torch

from oakemu_rl.core.errors import StorageError
from oakemu_rl.core.ports import MetricsWriter
from oakemu_rl.metrics.combined import CombinedWriter
from oakemu_rl.metrics.csv_table import CsvWriter
from oakemu_rl.metrics.jsonl import EventFile, JsonlWriter


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines, read as JSON that knows neither NaN nor infinity."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not strict JSON")

    return [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


class TestJsonLines:
    def test_each_write_is_one_object_there_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.jsonl"
        writer = JsonlWriter(path)
        writer.write(env_steps=10, values={"a/x": 0.1, "b/x": 2})
        assert lines_of(path) == [{"env_steps": 10, "a/x": 0.1, "b/x": 2}]
        writer.write(env_steps=20, values={"a/x": 1e-300})
        assert lines_of(path)[1] == {"env_steps": 20, "a/x": 1e-300}
        writer.close()

    def test_nan_and_infinity_are_null(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.jsonl"
        writer = JsonlWriter(path)
        writer.write(env_steps=1, values={"a": math.nan, "b": math.inf, "c": -math.inf, "d": 0.0})
        writer.close()
        assert lines_of(path) == [{"env_steps": 1, "a": None, "b": None, "c": None, "d": 0.0}]

    def test_a_file_is_continued_and_a_torn_last_line_spoils_no_other(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.jsonl"
        path.write_text('{"env_steps": 1}\n{"env_st')
        writer = JsonlWriter(path)
        writer.write(env_steps=3, values={})
        writer.close()
        assert path.read_text().splitlines() == ['{"env_steps": 1}', '{"env_st', '{"env_steps": 3}']

    def test_a_refused_record_leaves_no_trace(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.jsonl"
        writer = JsonlWriter(path)
        with pytest.raises(TypeError, match="'b'"):
            writer.write(env_steps=1, values={"a": 1.0, "b": torch.ones(1)})  # type: ignore[dict-item]
        writer.close()
        assert path.read_text() == ""


class TestCsvTable:
    def test_a_new_metric_adds_a_column_and_loses_no_row(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.csv"
        writer = CsvWriter(path)
        writer.write(env_steps=1, values={"a/x": 0.5})
        writer.write(env_steps=2, values={"a/x": 1.5, "b, odd": 7})
        writer.write(env_steps=3, values={"b, odd": math.nan, "c": -math.inf})
        writer.close()
        assert rows_of(path) == [
            {"env_steps": "1", "a/x": "0.5", "b, odd": "", "c": ""},
            {"env_steps": "2", "a/x": "1.5", "b, odd": "7", "c": ""},
            {"env_steps": "3", "a/x": "", "b, odd": "nan", "c": "-inf"},
        ]
        assert [entry.name for entry in tmp_path.iterdir()] == ["metrics.csv"]

    def test_numbers_come_back_exactly(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.csv"
        writer = CsvWriter(path)
        writer.write(env_steps=2**60, values={"a": 0.1 + 0.2})
        writer.close()
        assert float(rows_of(path)[0]["a"]) == 0.1 + 0.2
        assert int(rows_of(path)[0]["env_steps"]) == 2**60

    def test_a_file_is_continued_under_its_own_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.csv"
        for env_steps, values in ((1, {"b": 1}), (2, {"a": 2, "b": 3})):
            writer = CsvWriter(path)
            writer.write(env_steps=env_steps, values=values)
            writer.close()
        assert rows_of(path) == [
            {"env_steps": "1", "b": "1", "a": ""},
            {"env_steps": "2", "b": "3", "a": "2"},
        ]

    def test_a_column_for_which_there_is_no_room_costs_no_other_row(self, tmp_path: Path) -> None:
        path = tmp_path / "metrics.csv"
        writer = CsvWriter(path)
        writer.write(env_steps=1, values={"a": 1})
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limits[1]))
        try:
            with pytest.raises(StorageError, match=r"cannot write .*metrics\.csv: File too large"):
                writer.write(env_steps=2, values={"b": 2})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        writer.write(env_steps=3, values={"a": 3})
        writer.close()
        assert rows_of(path) == [{"env_steps": "1", "a": "1"}, {"env_steps": "3", "a": "3"}]
        assert [entry.name for entry in tmp_path.iterdir()] == ["metrics.csv"]


def test_names_that_share_an_ending_or_are_long_stay_apart(tmp_path: Path) -> None:
    long = "train/" + "x" * 60
    values = {"a/x": 1, "b/x": 2, f"{long}1": 3, f"{long}2": 4}
    writer = CombinedWriter([JsonlWriter(tmp_path / "m.jsonl"), CsvWriter(tmp_path / "m.csv")])
    writer.write(env_steps=5, values=values)
    writer.close()
    assert lines_of(tmp_path / "m.jsonl") == [{"env_steps": 5, **values}]
    assert rows_of(tmp_path / "m.csv") == [
        {"env_steps": "5", **{name: str(value) for name, value in values.items()}}
    ]


@pytest.mark.parametrize("make", [JsonlWriter, CsvWriter])
def test_threads_write_whole_records(tmp_path: Path, make: type[MetricsWriter]) -> None:
    path = tmp_path / "metrics"
    writer = make(path)  # type: ignore[call-arg]

    def write_many(part: int) -> None:
        for number in range(50):
            writer.write(env_steps=number, values={f"part/{part}": number})

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write_many, range(4)))
    writer.close()
    rows = lines_of(path) if make is JsonlWriter else rows_of(path)
    filled = [
        (name, int(row["env_steps"]))
        for row in rows
        for name in row
        if name != "env_steps" and row[name] != ""
    ]
    assert sorted(filled) == sorted((f"part/{part}", n) for part in range(4) for n in range(50))


def test_writers_keep_nothing_of_what_they_were_given(tmp_path: Path) -> None:
    class Number(float):
        pass

    writer = CombinedWriter([JsonlWriter(tmp_path / "m.jsonl"), CsvWriter(tmp_path / "m.csv")])
    value = Number(1.5)
    gone = weakref.ref(value)
    writer.write(env_steps=1, values={"a": value})
    del value
    assert gone() is None
    writer.close()


def test_a_full_disk_is_named_and_the_other_writers_get_their_record(tmp_path: Path) -> None:
    full = tmp_path / "metrics.jsonl"
    full.symlink_to("/dev/full")
    writer = CombinedWriter([JsonlWriter(full), CsvWriter(tmp_path / "metrics.csv")])
    with pytest.raises(StorageError, match=r"metrics\.jsonl: No space left on device.*; free"):
        writer.write(env_steps=1, values={"a": 2})
    writer.close()
    assert rows_of(tmp_path / "metrics.csv") == [{"env_steps": "1", "a": "2"}]


@pytest.mark.parametrize("make", [JsonlWriter, CsvWriter, EventFile])
def test_a_folder_that_is_not_there_is_a_storage_error(tmp_path: Path, make: Any) -> None:
    with pytest.raises(StorageError, match=r"cannot write .*gone"):
        make(tmp_path / "gone" / "file")


def test_an_event_holds_the_time_the_kind_the_step_and_the_details(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    events = EventFile(path, now=lambda: datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=UTC))
    events.record("update skipped", env_steps=40, cause="NaN", loss=math.nan, kind="extra", time=1)
    events.close()
    assert lines_of(path) == [
        {
            "time": "2026-01-02T03:04:05.678+00:00",
            "kind": "update skipped",
            "env_steps": 40,
            "details": {"cause": "NaN", "loss": None, "kind": "extra", "time": 1},
        }
    ]


def test_the_time_of_an_event_is_utc(tmp_path: Path) -> None:
    events = EventFile(tmp_path / "events.jsonl")
    before = datetime.now(UTC)
    events.record("start", env_steps=0)
    events.close()
    told = datetime.fromisoformat(lines_of(tmp_path / "events.jsonl")[0]["time"])
    assert told.utcoffset() == before.utcoffset()
    assert abs((told - before).total_seconds()) < 60
