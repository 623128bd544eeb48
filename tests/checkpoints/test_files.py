"""Files and folders that are there whole or not at all."""

from pathlib import Path

import pytest

from oakemu_rl.checkpoints.files import (
    atomic_write_bytes,
    atomic_write_text,
    present_folders,
    remove_file,
    remove_folder,
    tidy,
    write_folder,
)
from oakemu_rl.core.errors import StorageError


def test_a_file_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "latest"
    atomic_write_bytes(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    atomic_write_text(path, "é\n")
    assert path.read_bytes() == "é\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_is_written_and_replaced(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "step-1"
    write_folder(path, {"a": b"1", "b": b"2"})
    write_folder(path, {"a": b"3"})
    assert {entry.name: entry.read_bytes() for entry in path.iterdir()} == {"a": b"3"}
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_and_a_file_are_removed_without_a_rest(tmp_path: Path) -> None:
    write_folder(tmp_path / "step-1", {"a": b"1"})
    atomic_write_text(tmp_path / "best", "step-1")
    remove_folder(tmp_path / "step-1")
    remove_file(tmp_path / "best")
    remove_file(tmp_path / "best")
    assert list(tmp_path.iterdir()) == []


def test_what_was_set_aside_is_found_and_put_back(tmp_path: Path) -> None:
    (tmp_path / ".replaced-step-1").mkdir()
    assert present_folders(tmp_path) == {"step-1": tmp_path / ".replaced-step-1"}
    tidy(tmp_path)
    assert present_folders(tmp_path) == {"step-1": tmp_path / "step-1"}


def test_what_is_half_done_is_not_found_and_is_cleared_away(tmp_path: Path) -> None:
    for name in (".writing-step-2", ".discarded-step-1", ".replaced-step-3", "step-3", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / ".writing-latest").touch()
    (tmp_path / ".hidden").touch()
    assert set(present_folders(tmp_path)) == {"step-3", "other"}
    tidy(tmp_path)
    assert {entry.name for entry in tmp_path.iterdir()} == {"step-3", "other", ".hidden"}


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert present_folders(tmp_path / "gone") == {}
    tidy(tmp_path / "gone")


def test_a_place_that_cannot_be_written_is_a_storage_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    inside = tmp_path / "file" / "step-1"
    with pytest.raises(StorageError, match=r"file/step-1: Not a directory \(3 bytes are needed"):
        write_folder(inside, {"a": b"123"})
    with pytest.raises(StorageError, match=r"cannot write .*file/step-1"):
        atomic_write_text(inside, "a")
    with pytest.raises(StorageError, match=r"cannot write .*file/step-1"):
        remove_file(inside)
    with pytest.raises(StorageError, match=r"cannot write .*gone"):
        remove_folder(tmp_path / "gone")
