"""The folder of a run."""

import json
import math
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from oakemu_rl.core.errors import RunFolderError
from oakemu_rl.experiments.run_folder import RunFolder

NOW = datetime(2026, 1, 2, 1, 4, 5, tzinfo=timezone(timedelta(hours=2)))


def create(path: Path | str | None, **changes: Any) -> RunFolder:
    arguments = {
        "environment_id": "OakEmu/Acorns-v0",
        "algorithm": "ppo",
        "seed": 3,
        "now": NOW,
        "token": "0a1b",
    }
    return RunFolder.create(path, **{**arguments, **changes})


@pytest.mark.parametrize(
    ("environment_id", "part"),
    [
        ("acorns", "acorns"),
        ("OakEmu/Acorns-v0", "OakEmu-Acorns-v0"),
        ("../../etc/passwd", "etc-passwd"),
        ("my games/é?.toml", "my-games-.toml"),
        ("..", "environment"),
        ("x" * 300, "x" * 80),
    ],
)
def test_by_default_the_name_tells_environment_algorithm_seed_and_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment_id: str, part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with create(None, environment_id=environment_id) as run:
        assert run.path == Path("runs", part, "ppo-s3-20260101T230405Z-0a1b")
        assert run.path.is_dir()


def test_each_file_has_its_place(tmp_path: Path) -> None:
    with create(tmp_path / "run") as run:
        assert run.path == tmp_path / "run"
        places = {
            run.config: "config.toml",
            run.meta: "meta.json",
            run.metrics_jsonl: "metrics.jsonl",
            run.metrics_csv: "metrics.csv",
            run.events: "events.jsonl",
            run.tensorboard: "tb",
            run.evaluations: "eval",
            run.videos: "videos",
            run.checkpoints: "checkpoints",
            run.result: "result.json",
        }
        assert {path.relative_to(run.path).as_posix(): name for path, name in places.items()} == {
            name: name for name in places.values()
        }
        assert run.checkpoints.is_dir()
        assert run.evaluations.is_dir()
        assert run.videos.is_dir()


def test_an_empty_folder_is_taken(tmp_path: Path) -> None:
    create(tmp_path).close()


def test_a_folder_that_holds_something_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    with pytest.raises(RunFolderError, match=r"is not empty; choose another folder with --run-dir"):
        create(tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["thesis.txt"]
    assert RunFolderError.exit_code == 2


def test_a_run_that_has_ended_is_not_overwritten(tmp_path: Path) -> None:
    create(tmp_path / "run").close()
    with pytest.raises(RunFolderError, match="run: is not empty"):
        create(tmp_path / "run")


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RunFolderError, match="file: is a file; choose another"):
        create(tmp_path / "file")
    with pytest.raises(
        RunFolderError, match=r"file/run: cannot be made \(Not a directory\); choose"
    ):
        create(tmp_path / "file" / "run")


def test_a_folder_that_the_system_does_not_allow_is_the_users_to_change() -> None:
    with pytest.raises(RunFolderError, match=r"/proc/run: cannot be made .*; choose another fold"):
        create("/proc/run")


def test_a_name_that_is_no_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderError, match=r"is no path .*choose another folder with --run-dir"):
        create(tmp_path / "a\0b")


def test_a_run_that_did_not_begin_leaves_nothing(tmp_path: Path) -> None:
    run = create(tmp_path / "run")
    run.config.touch()
    run.discard()
    assert list(tmp_path.iterdir()) == []
    create(tmp_path / "run").close()


def test_a_run_in_use_is_refused_in_the_same_process(tmp_path: Path) -> None:
    with create(tmp_path / "run"), pytest.raises(RunFolderError, match="run: is in use by another"):
        create(tmp_path / "run")


HOLD = """
import sys
from datetime import UTC, datetime
from oakemu_rl.experiments.run_folder import RunFolder

run = RunFolder.create(
    sys.argv[1], environment_id="a", algorithm="ppo", seed=0, now=datetime.now(UTC), token="0"
)
print("held", flush=True)
sys.stdin.read()
"""


def test_a_run_in_use_is_refused_in_another_process_until_that_one_is_killed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with pytest.raises(RunFolderError, match="run: is in use by another process; choose"):
            create(path)
        process.kill()
    with pytest.raises(RunFolderError, match="run: is not empty"):
        create(path)


def test_the_lock_ends_with_close_and_closing_twice_does_no_harm(tmp_path: Path) -> None:
    run = create(tmp_path / "run")
    run.close()
    run.close()
    for part in (run.checkpoints, run.evaluations, run.videos):
        part.rmdir()
    create(tmp_path / "run").close()


def test_what_the_run_was_started_with_is_written_down(tmp_path: Path) -> None:
    with create(tmp_path / "run") as run:
        run.write_meta(
            command=["oakemu-rl", "train", "acorns"],
            environment_id="acorns",
            algorithm="ppo",
            seed=3,
            device="cpu",
            torch_threads=1,
            started=NOW,
        )
        meta = json.loads(run.meta.read_text())
    assert meta["command"] == ["oakemu-rl", "train", "acorns"]
    assert meta["started"] == "2026-01-01T23:04:05+00:00"
    assert (meta["environment"], meta["algorithm"], meta["seed"]) == ("acorns", "ppo", 3)
    assert (meta["device"], meta["torch_threads"]) == ("cpu", 1)
    assert set(meta["versions"]) == {"oakemu_rl", "torch", "numpy", "python"}
    assert meta["machine"]["cpus"] >= 1


@attrs.frozen(kw_only=True)
class Score:
    mean: float
    interval: tuple[float, float]


@attrs.frozen(kw_only=True)
class Result:
    test: Score
    scores: tuple[float, ...]
    scripted_mean: float | None
    steps: int


def test_a_result_is_written_from_a_record_or_a_mapping(tmp_path: Path) -> None:
    result = Result(
        test=Score(mean=np.float64(1.5), interval=(math.nan, math.inf)),
        scores=(1.0, 2.0),
        scripted_mean=None,
        steps=10,
    )
    expected = {
        "test": {"mean": 1.5, "interval": [None, None]},
        "scores": [1.0, 2.0],
        "scripted_mean": None,
        "steps": 10,
    }
    with create(tmp_path / "run") as run:
        run.write_result(result)
        assert json.loads(run.result.read_text()) == expected
        run.write_result({"steps": np.int64(10), "won": True, "test": result.test})
        assert json.loads(run.result.read_text()) == {
            "steps": 10,
            "won": True,
            "test": expected["test"],
        }
        with pytest.raises(TypeError, match="plain data only, got object"):
            run.write_result({"a": object()})


def test_a_run_is_opened_for_reading_while_another_writes(tmp_path: Path) -> None:
    with create(tmp_path / "run") as run:
        with pytest.raises(RunFolderError, match=r"is not a run folder, for it has no meta\.json"):
            RunFolder.open(run.path)
        run.write_meta(
            command=[],
            environment_id="a",
            algorithm="ppo",
            seed=0,
            device="cpu",
            torch_threads=1,
            started=NOW.astimezone(UTC),
        )
        assert RunFolder.open(str(run.path)).checkpoints == run.checkpoints
    with pytest.raises(RunFolderError, match="gone: there is no such run folder"):
        RunFolder.open(tmp_path / "gone")


@pytest.mark.parametrize("text", ["", "{}", '"ppo"', "{"])
def test_a_folder_that_does_not_tell_its_algorithm_is_refused_by_the_files_name(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "meta.json").write_text(text)
    with pytest.raises(RunFolderError, match=r"meta\.json: does not tell the run's algorithm"):
        RunFolder.open(tmp_path).algorithm()
