"""Small checkpoints whose every number tells which save wrote it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
import torch

from oakemu_rl.checkpoints.checkpoint import Checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager

Save = Callable[..., Path]
Check = Callable[[Checkpoint], int]


@pytest.fixture
def manager(tmp_path: Path) -> CheckpointManager:
    """A manager of an empty folder, whose clock stands still."""
    return CheckpointManager(tmp_path / "checkpoints", now=lambda: datetime(2026, 1, 2, tzinfo=UTC))


@pytest.fixture
def save() -> Save:
    """`save(manager, step, version)`: every number in it is `version`, by default the step."""

    def save_version(manager: CheckpointManager, step: int, version: int | None = None) -> Path:
        number = step if version is None else version
        return manager.save(
            env_steps=step,
            iterations=number,
            tensors={
                "model": {
                    "weight": torch.full((5, 3), float(number)),
                    "steps": torch.tensor(number),
                },
                "optimizer": {"moment": torch.full((7,), float(number), dtype=torch.float64)},
            },
            state={"version": number, "items": [number] * 3},
            configuration_hash="0123abcd",
        )

    return save_version


@pytest.fixture
def version_of() -> Check:
    """The version of a checkpoint, after checking that every number in it says the same."""

    def version(checkpoint: Checkpoint) -> int:
        number = checkpoint.manifest.iterations
        assert checkpoint.state == {"version": number, "items": [number] * 3}
        for tensors in checkpoint.tensors.values():
            for tensor in tensors.values():
                assert torch.equal(tensor, torch.full_like(tensor, number))
        return number

    return version
