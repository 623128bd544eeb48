"""A refused write is told with its path, the system's reason, the sizes and a way out."""

import os
from typing import Any

from hypothesis import strategies as st

from oakemu_rl.core.errors import StorageError
from oakemu_rl.core.storage_faults import disk_faults_of, storage_error
from property_tests.laws import Arguments, Function, Law
from property_tests.mutants import law_tests


def tells_all_in_one_line(function: Function, arguments: Arguments) -> None:
    path, number, sizes = arguments["path"], arguments["number"], arguments["sizes"]
    message = str(function(path, OSError(number, os.strerror(number)), **sizes))
    told, _, way_out = message.partition("; ")
    assert told.startswith(f"cannot write {path}: {os.strerror(number)}")
    assert all(f"{amount:,} bytes" in told for amount in sizes.values())
    assert way_out
    assert "\n" not in message


def passes_faults_of_the_disk_on_by_name(function: Function, arguments: Arguments) -> None:
    path, number = arguments["path"], arguments["number"]

    def meet(error: Exception) -> None:
        raise error

    def comes_out(error: Exception) -> Exception | None:
        try:
            with function(path):
                meet(error)
        except Exception as raised:
            return raised
        return None

    refused = comes_out(OSError(number, os.strerror(number)))
    assert isinstance(refused, StorageError)
    assert str(refused).startswith(f"cannot write {path}: ")
    other = ArithmeticError("not the disk's")
    assert comes_out(other) is other


def faults(**others: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A path and the number of an error, known to the advice or not."""
    path = st.sampled_from(["a", "runs/x y/model"])
    return st.fixed_dictionaries({"path": path, "number": st.integers(1, 100), **others})


SIZES = st.dictionaries(st.sampled_from(["needed_bytes", "free_bytes"]), st.integers(0, 10**12))
LAWS = [
    Law(function=storage_error, arguments=faults(sizes=SIZES), check=tells_all_in_one_line),
    Law(function=disk_faults_of, arguments=faults(), check=passes_faults_of_the_disk_on_by_name),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
