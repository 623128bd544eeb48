"""Killed while writing, and refused by the disk."""

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from oakemu_rl.checkpoints.checkpoint import Checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.core.errors import StorageError

Save = Callable[..., Path]
Check = Callable[[Checkpoint], int]

CALLS = ("fsync", "mkdir", "open", "rename", "replace", "rmdir", "unlink")


class Killed(BaseException):
    """Stands for the end of the process: nothing that comes after it is done."""


@contextmanager
def killed_at(call_number: int, patch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Let `call_number` calls to the disk pass, then raise `Killed`; yields the calls made."""
    made: list[str] = []

    def counted(name: str, call: Callable[..., object]) -> Callable[..., object]:
        def instead(*args: object, **kwargs: object) -> object:
            if len(made) >= call_number:
                raise Killed
            made.append(name)
            return call(*args, **kwargs)

        return instead

    with patch.context() as patched:
        for name in CALLS:
            patched.setattr(os, name, counted(name, getattr(os, name)))
        yield made


def save_new(manager: CheckpointManager, save: Save) -> None:
    save(manager, 300, 3)


def save_again(manager: CheckpointManager, save: Save) -> None:
    save(manager, 200, 3)


def mark_the_best(manager: CheckpointManager, save: Save) -> None:
    manager.mark_best(env_steps=200, score=2.0)


def prune_all_but_one(manager: CheckpointManager, save: Save) -> None:
    manager.prune(1)


@pytest.mark.parametrize("action", [save_new, save_again, mark_the_best, prune_all_but_one])
def test_killed_at_any_call_to_the_disk_all_is_whole_and_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    save: Save,
    version_of: Check,
    action: Callable[[CheckpointManager, Save], None],
) -> None:
    for call_number in range(200):
        folder = tmp_path / str(call_number)
        manager = CheckpointManager(folder)
        for step, version in ((50, 0), (100, 1), (200, 2)):
            save(manager, step, version)
        manager.mark_best(env_steps=100, score=1.0)
        finished = False
        with killed_at(call_number, monkeypatch) as made:
            try:
                action(manager, save)
                finished = True
            except Killed:
                assert len(made) == call_number

        after = CheckpointManager(folder)
        newest, best = after.load("latest"), after.load("best")
        assert newest.rejected == best.rejected == ()
        assert version_of(newest) in ((2, 3) if action in (save_new, save_again) else (2,))
        assert version_of(best) in ((1, 2) if action is mark_the_best else (1,))
        for step in after.steps():
            after.load(step)
        save(after, 400, 4)
        assert version_of(after.load("latest")) == 4
        assert not [entry for entry in folder.iterdir() if entry.name.startswith(".")]
        if finished:
            assert call_number > 3
            return
    pytest.fail("the action never came to its end")


SAVE_LOOP = """
import sys
from pathlib import Path
import torch
from oakemu_rl.checkpoints.manager import CheckpointManager

torch.set_num_threads(1)
manager = CheckpointManager(Path(sys.argv[1]))
for number in range(1, 1_000_000):
    step = number if number % 3 else number - 1
    manager.save(
        env_steps=step,
        iterations=step,
        tensors={
            "model": {"weight": torch.full((100, 50), float(step)), "steps": torch.tensor(step)},
            "optimizer": {"moment": torch.full((30,), float(step))},
        },
        state={"version": step, "items": [step] * 3},
        configuration_hash="0123abcd",
    )
    manager.mark_best(env_steps=step, score=float(step))
    manager.prune(2)
    print(step, flush=True)
"""


@pytest.mark.parametrize("attempt", range(3))
def test_a_process_killed_in_a_save_loop_leaves_a_whole_checkpoint(
    tmp_path: Path, save: Save, version_of: Check, attempt: int
) -> None:
    folder = tmp_path / "checkpoints"
    with subprocess.Popen(
        [sys.executable, "-c", SAVE_LOOP, str(folder)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for _ in range(4):
            last_told = int(process.stdout.readline())
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=random.Random(attempt).uniform(0.0, 0.05))
        process.kill()
        told = process.stdout.read().split()
    last_told = max(int(told[-1]) if told else 0, last_told)

    manager = CheckpointManager(folder)
    newest, best = manager.load("latest"), manager.load("best")
    assert newest.rejected == best.rejected == ()
    assert version_of(newest) >= last_told
    version_of(best)
    save(manager, newest.env_steps + 10)
    assert version_of(manager.load("latest")) == newest.env_steps + 10


@contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as on a disk that is full there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_refused_write_is_one_line_with_sizes_and_loses_nothing(
    manager: CheckpointManager, save: Save, version_of: Check, tmp_path: Path
) -> None:
    save(manager, 100)
    before = {entry.name for entry in (tmp_path / "checkpoints").iterdir()}
    large = {"model": {"weight": torch.zeros(100_000)}}
    with (
        files_limited_to(100_000),
        pytest.raises(
            StorageError,
            match=r"-000000200: File too large \(40\d,\d{3} bytes are needed, .*\); .*raise it",
        ) as told,
    ):
        manager.save(env_steps=200, iterations=2, tensors=large, state={}, configuration_hash="")
    assert "\n" not in str(told.value)
    assert {entry.name for entry in (tmp_path / "checkpoints").iterdir()} == before
    assert version_of(manager.load("latest")) == 100
    manager.save(env_steps=200, iterations=2, tensors=large, state={}, configuration_hash="")
    assert manager.load("latest").env_steps == 200
