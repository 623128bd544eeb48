"""Wrong versions of what a refused write is called."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from oakemu_rl.core.errors import StorageError
from oakemu_rl.core.storage_faults import disk_faults_of, storage_error
from property_tests.laws import mutant_of


@mutant_of(storage_error)
def way_out_left_out(path: str, error: OSError, **sizes: Any) -> StorageError:
    return StorageError(str(storage_error(path, error, **sizes)).partition(";")[0])


@mutant_of(storage_error)
def sizes_left_out(path: str, error: OSError, **_sizes: Any) -> StorageError:
    return storage_error(path, error)


@mutant_of(disk_faults_of)
@contextmanager
def fault_swallowed(path: str) -> Iterator[None]:
    with suppress(StorageError), disk_faults_of(path):
        yield


@mutant_of(disk_faults_of)
@contextmanager
def everything_taken_for_the_disk(path: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise StorageError(f"cannot write {path}: {error}") from error
