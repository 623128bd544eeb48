"""TensorBoard files."""

import math
import sys
from pathlib import Path

import pytest
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.tensorflow_stub.errors import OutOfRangeError
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import PyRecordReader_New

from oakemu_rl.core.errors import MissingExtraError, StorageError
from oakemu_rl.metrics.tensorboard import TensorBoardWriter


def events_of(folder: Path) -> list[Event]:
    (path,) = folder.iterdir()
    reader = PyRecordReader_New(str(path))
    events = []
    while True:
        try:
            reader.GetNext()
        except OutOfRangeError:
            return events
        events.append(Event.FromString(reader.record()))


def test_every_value_is_a_scalar_at_its_step(tmp_path: Path) -> None:
    writer = TensorBoardWriter(tmp_path / "tb", clock=lambda: 1700000000.5)
    writer.write(env_steps=2**40, values={"train/loss": 0.25, "time/fps": 1500})
    writer.write(env_steps=2**40 + 1, values={"train/loss": math.nan})
    head, first, second = events_of(tmp_path / "tb")
    writer.close()
    assert head.file_version == "brain.Event:2"
    assert (first.step, first.wall_time) == (2**40, 1700000000.5)
    assert {value.tag: value.simple_value for value in first.summary.value} == {
        "train/loss": 0.25,
        "time/fps": 1500.0,
    }
    assert second.step == 2**40 + 1
    assert math.isnan(second.summary.value[0].simple_value)


def test_a_missing_package_says_which_extra_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.compat.proto.event_pb2", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'oakemu-rl\[tensorboard\]'"):
        TensorBoardWriter(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=r"cannot write .*file/tb"):
        TensorBoardWriter(tmp_path / "file" / "tb")
