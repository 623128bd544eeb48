"""Damaged checkpoints: cut, flipped, missing, crafted, or by a newer program."""

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from oakemu_rl.checkpoints.checkpoint import Checkpoint, load_checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.checkpoints.manifest import (
    NewerFormatError,
    file_entry,
    manifest_bytes,
    read_manifest,
)
from oakemu_rl.core.errors import CheckpointError

Save = Callable[..., Path]
Check = Callable[[Checkpoint], int]

FILES = ("manifest.json", "state.json", "model.safetensors", "optimizer.safetensors")

DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut at 0": lambda data: data[:0],
    "cut at 1": lambda data: data[:1],
    "cut at half": lambda data: data[: len(data) // 2],
    "cut at n - 1": lambda data: data[:-1],
    "one byte more": lambda data: data + b"\0",
    "first bit flipped": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "middle bit flipped": lambda data: (
        data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 16]) + data[len(data) // 2 + 1 :]
    ),
    "last bit flipped": lambda data: data[:-1] + bytes([data[-1] ^ 128]),
    "nothing but zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_named_and_the_one_before_is_taken(
    manager: CheckpointManager, save: Save, version_of: Check, name: str, damage: str
) -> None:
    save(manager, 100)
    path = save(manager, 200)
    file = path / name
    file.write_bytes(DAMAGES[damage](file.read_bytes()))
    found = manager.load("latest")
    assert version_of(found) == 100
    assert len(found.rejected) == 1
    assert found.rejected[0].startswith(f"{file}: ")
    with pytest.raises(CheckpointError, match=name):
        manager.load(200)
    with pytest.raises(CheckpointError, match=name):
        load_checkpoint(path)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named_and_the_one_before_is_taken(
    manager: CheckpointManager, save: Save, version_of: Check, name: str
) -> None:
    save(manager, 100)
    file = save(manager, 200) / name
    file.unlink()
    found = manager.load("latest")
    assert version_of(found) == 100
    assert found.rejected == (f"{file}: is missing",)


def test_a_broken_best_gives_way_to_the_newest(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    best = save(manager, 100)
    save(manager, 200)
    manager.mark_best(env_steps=100, score=1.0)
    (best / "model.safetensors").write_bytes(b"")
    found = manager.load("best")
    assert version_of(found) == 200
    assert "step-000000100/model.safetensors: has 0 bytes" in found.rejected[0]


@pytest.mark.parametrize("text", [b"", b"step-000000300", b"\xff\xfe", b"../../elsewhere"])
def test_a_broken_pointer_is_told_and_does_no_harm(
    manager: CheckpointManager, save: Save, version_of: Check, tmp_path: Path, text: bytes
) -> None:
    save(manager, 100)
    save(manager, 200)
    for pointer in ("best", "latest", "scores.json"):
        (tmp_path / "checkpoints" / pointer).write_bytes(text)
    assert version_of(manager.load("latest")) == 200
    found = manager.load("best")
    assert version_of(found) == 200
    assert "checkpoints/best: names" in found.rejected[0]
    assert manager.best_score() is None
    manager.mark_best(env_steps=100, score=2.0)
    assert manager.best_score() == 2.0


def test_where_none_is_whole_each_is_named(manager: CheckpointManager, save: Save) -> None:
    for step in (1, 2):
        (save(manager, step) / "state.json").write_bytes(b"{}")
    with pytest.raises(
        CheckpointError, match=r"no checkpoint can be read: .*-000000002/.*-000000001/"
    ):
        manager.load("latest")


def test_a_broken_step_can_be_saved_again(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    save(manager, 100)
    (save(manager, 200) / "manifest.json").unlink()
    save(manager, 200)
    assert version_of(manager.load("latest")) == 200


def test_a_newer_format_is_refused_with_both_numbers_and_no_older_one_taken(
    manager: CheckpointManager, save: Save
) -> None:
    save(manager, 100)
    manifest = save(manager, 200) / "manifest.json"
    body = {**json.loads(manifest.read_bytes()), "format_version": 12}
    del body["checksum"]
    canonical = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    manifest.write_text(json.dumps({**body, "checksum": file_entry(canonical).sha256}))
    for which in ("latest", 200):
        with pytest.raises(NewerFormatError, match=r"format 12, and .* formats up to 1;"):
            manager.load(which)  # type: ignore[arg-type]


class Trap:
    """When unpickled, makes the file `canary`."""

    def __init__(self, canary: Path) -> None:
        self.canary = canary

    def __reduce__(self) -> tuple[Callable[..., None], tuple[str]]:
        return os.mkdir, (str(self.canary),)


def sealed_again(path: Path) -> None:
    """Make the manifest tell of the files as they are now, as an attacker would."""
    manifest = read_manifest((path / "manifest.json").read_bytes(), source="manifest")
    files = {name: file_entry((path / name).read_bytes()) for name in manifest.files}
    (path / "manifest.json").write_bytes(manifest_bytes(attrs.evolve(manifest, files=files)))


@pytest.mark.parametrize("name", [*FILES[1:], "manifest.json", "latest", "best", "scores.json"])
def test_a_crafted_pickle_never_runs(
    manager: CheckpointManager, save: Save, version_of: Check, tmp_path: Path, name: str
) -> None:
    canary = tmp_path / "canary"
    trap = pickle.dumps(Trap(canary))
    pickle.loads(trap)
    canary.rmdir()  # It would have run.

    save(manager, 100)
    path = save(manager, 200)
    manager.mark_best(env_steps=200, score=1.0)
    place = path / name if name in FILES else path.parent / name
    place.write_bytes(trap)
    if name in FILES[1:]:
        sealed_again(path)
    for which in ("best", "latest"):
        found = manager.load(which)  # type: ignore[arg-type]
        assert version_of(found) == (100 if name in FILES else 200)
    if name in FILES:
        with pytest.raises(CheckpointError, match=name):
            load_checkpoint(path)
    manager.best_score()
    assert not canary.exists()
