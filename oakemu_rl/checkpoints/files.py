"""Files and folders that are there whole or not at all.

A file or folder is written beside its place under a name that begins with a dot, flushed to the
disk, and renamed; then the folder above is flushed. `tidy` finishes what a killed process left
half done. What the files hold is not known here.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from oakemu_rl.core.storage_faults import storage_error

_WRITING = ".writing-"
_REPLACED = ".replaced-"
_DISCARDED = ".discarded-"


def atomic_write_bytes(path: Path, data: bytes) -> None:
    """Write `path`, or leave what was there before.

    Raises:
        StorageError: the disk refused; names the path, the sizes, and the way out.
    """
    beside = path.with_name(f"{_WRITING}{path.name}")
    with _disk_faults_of(path, leftover=beside, needed_bytes=len(data)):
        _write_flushed(beside, data)
        beside.replace(path)
        _flush_folder(path.parent)


def atomic_write_text(path: Path, text: str) -> None:
    """`atomic_write_bytes` of the text as UTF-8."""
    atomic_write_bytes(path, text.encode())


def write_folder(path: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder with these files, in this order, or leave what was there before.

    A folder that is there already is set aside and deleted when the new one is in place; where a
    killed process left only the one set aside, `present_folders` finds it and `tidy` puts it back.

    Raises:
        StorageError: the disk refused; names the path, the sizes, and the way out.
    """
    beside = path.with_name(f"{_WRITING}{path.name}")
    replaced = path.with_name(f"{_REPLACED}{path.name}")
    needed_bytes = sum(map(len, files.values()))
    with _disk_faults_of(path, leftover=beside, needed_bytes=needed_bytes):
        beside.mkdir(parents=True)
        for name, data in files.items():
            _write_flushed(beside / name, data)
        _flush_folder(beside)
        if path.exists():
            path.rename(replaced)
        beside.rename(path)
        _flush_folder(path.parent)
        if replaced.exists():
            shutil.rmtree(replaced)


def remove_file(path: Path) -> None:
    """Delete a file, which may be missing.

    Raises:
        StorageError: the disk refused.
    """
    with _disk_faults_of(path):
        path.unlink(missing_ok=True)
        _flush_folder(path.parent)


def remove_folder(path: Path) -> None:
    """Delete a folder; at no moment is a part of it to be seen under its name.

    Raises:
        StorageError: the disk refused.
    """
    discarded = path.with_name(f"{_DISCARDED}{path.name}")
    with _disk_faults_of(path):
        path.rename(discarded)
        _flush_folder(path.parent)
        shutil.rmtree(discarded)


def present_folders(parent: Path) -> dict[str, Path]:
    """The folders below `parent` by name, and where each lies: in its place, or still set aside."""
    found = {entry.name: entry for entry in _entries(parent) if entry.is_dir()}
    present = {name: path for name, path in found.items() if not name.startswith(".")}
    for name, path in found.items():
        if name.startswith(_REPLACED):
            present.setdefault(name.removeprefix(_REPLACED), path)
    return present


def tidy(parent: Path) -> None:
    """Finish what a killed process left half done below `parent`. For the one process that writes
    there.

    Raises:
        StorageError: the disk refused.
    """
    for entry in _entries(parent):
        with _disk_faults_of(entry):
            if entry.name.startswith(_REPLACED):
                place = parent / entry.name.removeprefix(_REPLACED)
                if not place.exists():
                    entry.rename(place)
                    continue
            elif not entry.name.startswith((_WRITING, _DISCARDED)):
                continue
            _delete(entry)


def _entries(parent: Path) -> list[Path]:
    return sorted(parent.iterdir()) if parent.is_dir() else []


def _delete(entry: Path) -> None:
    if entry.is_dir():
        shutil.rmtree(entry)
    else:
        entry.unlink()


def _write_flushed(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _flush_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _disk_faults_of(
    path: Path, *, leftover: Path | None = None, needed_bytes: int | None = None
) -> Iterator[None]:
    """Turn what the system says into a `StorageError` that names `path`; delete `leftover`."""
    try:
        yield
    except OSError as error:
        free_bytes = None if needed_bytes is None else _free_bytes(path)
        if leftover is not None:
            with suppress(OSError):
                _delete(leftover)
        raise storage_error(
            str(path), error, needed_bytes=needed_bytes, free_bytes=free_bytes
        ) from error


def _free_bytes(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None
