"""The checkpoints of a run: which are there, which is the newest, which the best.

How a single one is made and verified is in `checkpoint.py`, how files stay whole in `files.py`.
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import attrs
from torch import Tensor

from oakemu_rl.checkpoints.checkpoint import (
    Checkpoint,
    checkpoint_files,
    load_checkpoint,
    looks_whole,
)
from oakemu_rl.checkpoints.files import (
    atomic_write_text,
    present_folders,
    remove_file,
    remove_folder,
    tidy,
    write_folder,
)
from oakemu_rl.checkpoints.manifest import NewerFormatError
from oakemu_rl.core.errors import CheckpointError

Which = Literal["best", "latest"] | int

_FOLDER_NAME = re.compile(r"step-(\d{9,})")


def _now() -> datetime:
    return datetime.now(UTC)


class CheckpointManager:
    """The folder `checkpoints` of a run: `step-000123456/` each, and the pointers `latest` and
    `best`.

    A pointer is a text file that holds a folder's name. `scores.json` keeps the score of each
    checkpoint that was the best at its time. One process writes; any number may read meanwhile.
    """

    def __init__(self, folder: Path, *, now: Callable[[], datetime] = _now) -> None:
        self._folder = folder
        self._now = now

    def save(
        self,
        *,
        env_steps: int,
        iterations: int,
        tensors: Mapping[str, Mapping[str, Tensor]],
        state: Mapping[str, object],
        configuration_hash: str,
    ) -> Path:
        """Write a checkpoint, and point `latest` to the newest one; returns the folder written.

        The newest is that of the highest step, which a checkpoint of weights that were tested while
        training went on need not be.

        A step that is there already is replaced, whole or not: a run that went on from an earlier
        checkpoint passes the later steps a second time, and must not stop there. At each moment
        the old or the new one can be loaded. A mark of the best on the old one is taken away,
        since it speaks of other weights.

        Raises:
            StorageError: the disk refused; the checkpoints written before are untouched.
            TypeError: something is neither a tensor nor plain data.
        """
        files = checkpoint_files(
            env_steps=env_steps,
            iterations=iterations,
            tensors=tensors,
            state=state,
            configuration_hash=configuration_hash,
            created=self._now().isoformat(timespec="seconds"),
        )
        tidy(self._folder)
        path = self._folder / _folder_name(env_steps)
        self._forget_score(path.name)
        write_folder(path, files)
        newest = max(step for step, there in self._folders().items() if looks_whole(there))
        atomic_write_text(self._folder / "latest", f"{_folder_name(newest)}\n")
        return path

    def steps(self) -> tuple[int, ...]:
        """The environment steps of the checkpoints that are there, in rising order, whole or
        not."""
        return tuple(sorted(self._folders()))

    def load(self, which: Which) -> Checkpoint:
        """Read a checkpoint and verify every checksum.

        `"latest"` is the newest whole one; `"best"` is the one marked, or the newest where none is
        marked or the marked one is broken. What was tried in vain is told in `rejected`. A step
        that is asked for by its number is never replaced by another.

        Raises:
            CheckpointError: there is none, or none is whole; names each that was tried.
            NewerFormatError: a later version of this program wrote it.
        """
        rejected: list[str] = []
        for step, path in self._candidates(which, rejected):
            try:
                checkpoint = _load_step(path, step)
            except NewerFormatError:
                raise
            except CheckpointError as fault:
                rejected.append(str(fault))
            else:
                return attrs.evolve(checkpoint, rejected=tuple(rejected))
        if rejected:
            raise CheckpointError(f"no checkpoint can be read: {'; '.join(rejected)}")
        raise CheckpointError(f"{self._folder}: holds no checkpoint")

    def mark_best(self, *, env_steps: int, score: float) -> None:
        """Point `best` to the checkpoint of this step, which reached `score`.

        Raises:
            CheckpointError: there is no such checkpoint.
            ValueError: the score is not finite.
            StorageError: the disk refused.
        """
        if not math.isfinite(score):
            raise ValueError(f"score must be finite, got {score}")
        if env_steps not in self._folders():
            raise self._no_such_step(env_steps)
        name = _folder_name(env_steps)
        self._write_scores({**self._scores(), name: float(score)})
        atomic_write_text(self._folder / "best", f"{name}\n")

    def best_score(self) -> float | None:
        """The score of the checkpoint marked as the best; None where none is marked."""
        return self._scores().get(self._pointer("best") or "")

    def prune(self, keep_last: int) -> tuple[int, ...]:
        """Delete all but the newest `keep_last` checkpoints; returns the steps deleted.

        The one marked as the best stays besides. A broken one counts as none: it is deleted with
        those older than the newest `keep_last` that look whole, and stays while it is newer.

        Raises:
            ValueError: `keep_last` is below 1.
            StorageError: the disk refused.
        """
        if keep_last < 1:
            raise ValueError(f"keep_last must be at least 1, got {keep_last}")
        tidy(self._folder)
        folders = self._folders()
        whole = [step for step in sorted(folders) if looks_whole(folders[step])][-keep_last:]
        if len(whole) < keep_last:
            return ()
        pointers = {self._pointer("best"), self._pointer("latest")}
        old = tuple(
            step
            for step in sorted(folders)
            if step < whole[0] and folders[step].name not in pointers
        )
        for step in old:
            self._forget_score(folders[step].name)
            remove_folder(folders[step])
        return old

    def _folders(self) -> dict[int, Path]:
        found = present_folders(self._folder).items()
        return {
            int(match[1]): path for name, path in found if (match := _FOLDER_NAME.fullmatch(name))
        }

    def _candidates(self, which: Which, rejected: list[str]) -> Iterator[tuple[int, Path]]:
        folders = self._folders()
        if isinstance(which, int):
            if which not in folders:
                raise self._no_such_step(which)
            yield which, folders[which]
            return
        if which not in ("best", "latest"):
            raise CheckpointError(
                f"no checkpoint is called {which!r}; allowed: best, latest, a step"
            )
        best = self._pointer("best") if which == "best" else None
        marked = next((step for step in folders if _folder_name(step) == best), None)
        if marked is not None:
            yield marked, folders[marked]
        elif best is not None:
            rejected.append(f"{self._folder / 'best'}: names {best!r}, which is not there")
        for step in sorted(folders, reverse=True):
            if step != marked:
                yield step, folders[step]

    def _no_such_step(self, step: int) -> CheckpointError:
        there = ", ".join(map(str, self.steps())) or "none"
        return CheckpointError(
            f"{self._folder}: has no checkpoint of step {step}; there are: {there}"
        )

    def _pointer(self, name: str) -> str | None:
        try:
            return (self._folder / name).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def _scores(self) -> dict[str, float]:
        try:
            scores = json.loads((self._folder / "scores.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return scores if isinstance(scores, dict) else {}

    def _write_scores(self, scores: Mapping[str, float]) -> None:
        text = json.dumps(scores, indent=1, sort_keys=True)
        atomic_write_text(self._folder / "scores.json", f"{text}\n")

    def _forget_score(self, name: str) -> None:
        scores = self._scores()
        if scores.pop(name, None) is not None:
            self._write_scores(scores)
        if self._pointer("best") == name:
            remove_file(self._folder / "best")


def _load_step(path: Path, step: int) -> Checkpoint:
    checkpoint = load_checkpoint(path)
    if checkpoint.env_steps != step:
        raise CheckpointError(f"{path}: holds the checkpoint of step {checkpoint.env_steps}")
    return checkpoint


def _folder_name(env_steps: int) -> str:
    return f"step-{env_steps:09d}"
