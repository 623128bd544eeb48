"""The folder of a run: where each file lies, who may write, and what the run says of itself.

The checkpoints in it are the checkpoint manager's, the metrics the writers'.
"""

import errno
import json
import math
import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from numbers import Integral, Real
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import attrs
from filelock import FileLock, Timeout

from oakemu_rl.checkpoints.files import atomic_write_text
from oakemu_rl.checkpoints.manifest import library_versions
from oakemu_rl.core.errors import OakEmuError, RunFolderError
from oakemu_rl.core.storage_faults import storage_error

_LOCK_NAME = ".lock"
_MOST_CHARACTERS = 80
_WRONG_PLACE = (
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
)
"""What the system says of a folder that was chosen badly, as opposed to a disk that fails."""


class RunFolder:
    """One run's files. `create` is for the process that writes, `open` for those that read."""

    def __init__(self, path: Path, *, lock: FileLock | None = None) -> None:
        self.path = path
        self._lock = lock

    @classmethod
    def create(
        cls,
        path: Path | str | None,
        *,
        environment_id: str,
        algorithm: str,
        seed: int,
        now: datetime,
        token: str,
    ) -> Self:
        """Make the folder and lock it for this process, until `close` or the process's end.

        Without `path` it is `runs/<environment>/<algorithm>-s<seed>-<UTC>-<token>`.

        Raises:
            RunFolderError: another process writes to it, it is not empty, it is a file, or no
                folder can be made there.
            StorageError: the disk refused.
        """
        if path is None:
            stamp = f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
            folder = Path("runs", _safe(environment_id), f"{algorithm}-s{seed}-{stamp}-{token}")
        else:
            folder = Path(path).expanduser()
        _make(folder)
        if not (folder / _LOCK_NAME).exists():
            _require_empty(folder)
        run = cls(folder, lock=_locked(folder))
        try:
            _require_empty(folder)
            for part in (run.checkpoints, run.evaluations, run.videos):
                _make(part)
        except BaseException:
            run.close()
            raise
        return run

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """The folder of a run that is there already, for reading; another process may be writing.

        Raises:
            RunFolderError: there is no such folder, or it is not a run's.
        """
        run = cls(Path(path).expanduser())
        if not run.path.is_dir():
            raise RunFolderError(f"{run.path}: there is no such run folder")
        if not run.meta.is_file():
            raise RunFolderError(f"{run.path}: is not a run folder, for it has no {run.meta.name}")
        return run

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.toml"

    @property
    def meta(self) -> Path:
        """What the run was started with, and where."""
        return self.path / "meta.json"

    @property
    def result(self) -> Path:
        """What the last test found."""
        return self.path / "result.json"

    @property
    def metrics_jsonl(self) -> Path:
        """Metrics, a JSON object a line."""
        return self.path / "metrics.jsonl"

    @property
    def metrics_csv(self) -> Path:
        """Metrics, a wide table."""
        return self.path / "metrics.csv"

    @property
    def events(self) -> Path:
        """What happened, a JSON object a line."""
        return self.path / "events.jsonl"

    @property
    def tensorboard(self) -> Path:
        """TensorBoard's event files."""
        return self.path / "tb"

    @property
    def evaluations(self) -> Path:
        """The tester's results."""
        return self.path / "eval"

    @property
    def videos(self) -> Path:
        """Moving pictures of episodes."""
        return self.path / "videos"

    @property
    def checkpoints(self) -> Path:
        """The checkpoint manager's folder."""
        return self.path / "checkpoints"

    def write_meta(
        self,
        *,
        command: Sequence[str],
        environment_id: str,
        algorithm: str,
        seed: int,
        device: str,
        torch_threads: int,
        started: datetime,
    ) -> None:
        """Write `meta.json`: these, the versions of what computes, and the machine.

        Raises:
            StorageError: the disk refused.
        """
        meta = {
            "command": list(command),
            "environment": environment_id,
            "algorithm": algorithm,
            "seed": seed,
            "started": started.astimezone(UTC).isoformat(timespec="seconds"),
            "device": device,
            "torch_threads": torch_threads,
            "versions": library_versions(),
            "machine": {
                "system": platform.platform(),
                "processor": platform.processor() or platform.machine(),
                "cpus": os.cpu_count(),
            },
        }
        atomic_write_text(self.meta, _json_text(meta))

    def algorithm(self) -> str:
        """The name of the algorithm that the run was started with.

        Raises:
            RunFolderError: `meta.json` cannot be read, or does not say.
        """
        try:
            algorithm = json.loads(self.meta.read_text(encoding="utf-8"))["algorithm"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunFolderError(
                f"{self.meta}: does not tell the run's algorithm "
                f"({type(error).__name__}: {error}); put that file back as it was"
            ) from error
        return str(algorithm)

    def write_result(self, result: object) -> None:
        """Write `result.json` from a mapping or an attrs record; NaN and infinities are null.

        Raises:
            StorageError: the disk refused.
            TypeError: something in it is no plain data.
        """
        atomic_write_text(self.result, _json_text(_plain(result)))

    def write_evaluation(self, evaluation: object, *, env_steps: int) -> None:
        """Write a test's result to `eval/step-000123456.json`.

        Raises:
            StorageError: the disk refused.
            TypeError: something in it is no plain data.
        """
        path = self.evaluations / f"step-{env_steps:09d}.json"
        atomic_write_text(path, _json_text(_plain(evaluation)))

    def discard(self) -> None:
        """Delete what is in the folder, and the folder: the run did not begin."""
        self.close()
        shutil.rmtree(self.path, ignore_errors=True)

    def close(self) -> None:
        """Let other processes write."""
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        """The folder itself."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()


def _safe(name: str) -> str:
    """`name` as one part of a path."""
    part = re.sub(r"[^A-Za-z0-9._-]+", "-", name)[-_MOST_CHARACTERS:].strip("-.")
    return part or "environment"


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise RunFolderError(f"{folder}: is a file; choose another folder with --run-dir") from None
    except OSError as error:
        raise _refusal(folder, error) from error
    except ValueError as error:
        raise RunFolderError(
            f"{str(folder)!r}: is no path ({error}); choose another folder with --run-dir"
        ) from None


def _contents(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.name != _LOCK_NAME]
    except OSError as error:
        raise storage_error(str(folder), error) from error


def _locked(folder: Path) -> FileLock:
    lock = FileLock(folder / _LOCK_NAME, thread_local=False)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        raise RunFolderError(
            f"{folder}: is in use by another process; choose another folder with --run-dir, or wait"
        ) from None
    except OSError as error:
        raise _refusal(folder / _LOCK_NAME, error) from error
    return lock


def _refusal(path: Path, error: OSError) -> OakEmuError:
    """Whose fault it is that `path` cannot be made: the user's choice, or the disk."""
    if error.errno in _WRONG_PLACE:
        return RunFolderError(
            f"{path}: cannot be made ({error.strerror}); choose another folder with --run-dir"
        )
    return storage_error(str(path), error)


def _require_empty(folder: Path) -> None:
    if _contents(folder):
        raise RunFolderError(
            f"{folder}: is not empty; choose another folder with --run-dir, or delete this one"
        )


def _json_text(data: object) -> str:
    return f"{json.dumps(data, ensure_ascii=False, allow_nan=False, indent=2)}\n"


def _plain(value: Any) -> object:
    if attrs.has(type(value)):
        return _plain(attrs.asdict(value, recurse=False))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else None
    raise TypeError(f"a result holds plain data only, got {type(value).__name__}")
