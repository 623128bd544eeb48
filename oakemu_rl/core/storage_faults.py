"""What a refused write is called and what the user can do about it, in one line.

The files themselves are written elsewhere; nothing here touches the disk.
"""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from oakemu_rl.core.errors import StorageError

_ADVICE = {
    errno.ENOSPC: "free some space on that disk, or write to another one",
    errno.EDQUOT: "the quota is used up: free some space, or write to another disk",
    errno.EFBIG: "the limit on the size of a file is reached: raise it (ulimit -f)",
    errno.EROFS: "that disk is read-only: write to another one",
    errno.EACCES: "give yourself the right to write there, or choose another folder",
    errno.EPERM: "give yourself the right to write there, or choose another folder",
    errno.ENOTDIR: "a part of that path is a file: choose another folder",
    errno.ENOENT: "the folder was removed while it was in use: choose one that stays",
    errno.ENAMETOOLONG: "choose a shorter path",
}


def storage_error(
    path: str, error: OSError, *, needed_bytes: int | None = None, free_bytes: int | None = None
) -> StorageError:
    """The error to raise for `error`, met while writing `path`.

    The message names the path, what the system said, the bytes needed and free where they are
    known, and the way out.
    """
    sizes = [
        f"{amount:,} bytes are {word}"
        for amount, word in ((needed_bytes, "needed"), (free_bytes, "free"))
        if amount is not None
    ]
    reason = error.strerror or str(error) or type(error).__name__
    advice = _ADVICE.get(error.errno or 0, "check that disk, or write to another one")
    known = f" ({', '.join(sizes)})" if sizes else ""
    return StorageError(f"cannot write {path}: {reason}{known}; {advice}")


@contextmanager
def disk_faults_of(path: str) -> Iterator[None]:
    """Turn what the system says while `path` is written into a `StorageError` that names it."""
    try:
        yield
    except OSError as error:
        raise storage_error(path, error) from error
