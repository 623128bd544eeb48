"""What a refused write is called."""

import errno
import os

import pytest

from oakemu_rl.core.storage_faults import storage_error


def test_the_message_names_the_path_the_reason_the_sizes_and_the_way_out() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    message = str(storage_error("runs/a/model", full, needed_bytes=6_588_832, free_bytes=4096))
    assert message == (
        "cannot write runs/a/model: No space left on device (6,588,832 bytes are needed, 4,096 "
        "bytes are free); free some space on that disk, or write to another one"
    )


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EIO])
def test_each_reason_comes_with_an_advice_in_one_line(number: int) -> None:
    message = str(storage_error("a", OSError(number, os.strerror(number))))
    assert os.strerror(number) in message
    assert "; " in message
    assert "\n" not in message


def test_an_error_that_tells_no_reason_is_named_by_its_type() -> None:
    assert "cannot write a: OSError;" in str(storage_error("a", OSError()))
