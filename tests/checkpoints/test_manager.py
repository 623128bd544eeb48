"""The checkpoints of a run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from oakemu_rl.checkpoints.checkpoint import Checkpoint, load_checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.core.errors import CheckpointError

Save = Callable[..., Path]
Check = Callable[[Checkpoint], int]


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_a_checkpoint_is_a_folder_of_safetensors_and_json(
    manager: CheckpointManager, save: Save
) -> None:
    path = save(manager, 123_456)
    assert path.name == "step-000123456"
    assert names_in(path) == {
        "manifest.json",
        "state.json",
        "model.safetensors",
        "optimizer.safetensors",
    }
    assert names_in(path.parent) == {"step-000123456", "latest"}
    assert (path.parent / "latest").read_text() == "step-000123456\n"


def test_what_was_saved_comes_back(manager: CheckpointManager) -> None:
    shared = torch.arange(12, dtype=torch.uint8)
    weights = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last).requires_grad_()
    tensors = {
        "model": {
            "weights": weights,
            "transposed": torch.arange(6).reshape(2, 3).T,
            "half": torch.tensor([0.1], dtype=torch.bfloat16),
            "mask": torch.tensor([True, False]),
            "number": torch.tensor(2**62),
            "none": torch.zeros(0, 3),
        },
        "random": {"one": shared, "same": shared, "part": shared[3:7]},
        "empty": {},
    }
    state: dict[str, object] = {"a": [1, 2.5, None, True, {"b": "é"}], "best": float("-inf")}
    path = manager.save(
        env_steps=7, iterations=3, tensors=tensors, state=state, configuration_hash="ab"
    )
    found = manager.load("latest")
    assert (found.path, found.env_steps, found.rejected) == (path, 7, ())
    assert (found.manifest.iterations, found.manifest.configuration_hash) == (3, "ab")
    assert found.manifest.torch_threads == torch.get_num_threads()
    assert found.manifest.created == "2026-01-02T00:00:00+00:00"
    assert found.state == state
    assert set(found.tensors) == {"model", "random", "empty"}
    for stem, group in tensors.items():
        assert set(found.tensors[stem]) == set(group)
        for name, tensor in group.items():
            assert torch.equal(found.tensors[stem][name], tensor)
            assert found.tensors[stem][name].dtype == tensor.dtype


def test_equal_contents_give_equal_bytes_whatever_the_order_of_tensors(tmp_path: Path) -> None:
    paths = []
    for part, order in (("a", 1), ("b", -1)):
        tensors = {name: torch.full((3,), float(len(name))) for name in ("x", "yy", "zzz")[::order]}
        paths.append(
            CheckpointManager(tmp_path / part).save(
                env_steps=1,
                iterations=1,
                tensors={"model": tensors},
                state={},
                configuration_hash="",
            )
        )
    one, other = ((path / "model.safetensors").read_bytes() for path in paths)
    assert one == other
    header = json.loads(one[8 : 8 + int.from_bytes(one[:8], "little")])
    assert "__metadata__" not in header


@pytest.mark.parametrize("intruder", [np.float64(1), (1,), torch.ones(1), {1: 2}])
def test_state_that_is_not_plain_is_refused_before_anything_is_written(
    manager: CheckpointManager, save: Save, tmp_path: Path, intruder: object
) -> None:
    save(manager, 1)
    before = names_in(tmp_path / "checkpoints")
    with pytest.raises(TypeError, match=r"^state\.a"):
        manager.save(
            env_steps=2,
            iterations=2,
            tensors={},
            state={"a": intruder},
            configuration_hash="",
        )
    assert names_in(tmp_path / "checkpoints") == before


def test_only_tensors_go_where_tensors_belong(manager: CheckpointManager) -> None:
    tensors: Any = {"model": {"rate": 0.1}}
    with pytest.raises(TypeError, match="rate of model is float, expected is a tensor"):
        manager.save(env_steps=1, iterations=1, tensors=tensors, state={}, configuration_hash="")


def test_what_a_checkpoint_holds_is_tensors_and_plain_data_only(
    manager: CheckpointManager, save: Save
) -> None:
    save(manager, 1)
    found = manager.load("latest")

    def walk(value: object) -> None:
        assert type(value) in (torch.Tensor, str, int, float, bool, type(None), list, dict)
        if isinstance(value, dict):
            assert all(type(key) is str for key in value)
            walk(list(value.values()))
        elif isinstance(value, list):
            for item in value:
                walk(item)

    walk(found.tensors)
    walk(found.state)


def test_the_newest_the_best_and_any_step_can_be_asked_for(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    for step in (1_000, 200, 3_000_000_000):
        save(manager, step)
    manager.mark_best(env_steps=1_000, score=4.5)
    assert manager.steps() == (200, 1_000, 3_000_000_000)
    assert version_of(manager.load("latest")) == 3_000_000_000
    assert version_of(manager.load("best")) == 1_000
    assert version_of(manager.load(200)) == 200
    assert manager.best_score() == 4.5


def test_the_pointer_to_the_newest_names_the_highest_whole_step(
    manager: CheckpointManager, save: Save, tmp_path: Path
) -> None:
    pointer = tmp_path / "checkpoints" / "latest"
    for step in (100, 300, 200):
        save(manager, step)
    assert pointer.read_text() == "step-000000300\n"
    (manager.load(300).path / "manifest.json").unlink()
    save(manager, 250)
    assert pointer.read_text() == "step-000000250\n"


def test_without_a_mark_the_newest_stands_for_the_best(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    save(manager, 1)
    save(manager, 2)
    found = manager.load("best")
    assert (version_of(found), found.rejected) == (2, ())
    assert manager.best_score() is None


def test_what_is_not_there_is_told_with_what_is(manager: CheckpointManager, save: Save) -> None:
    for which in ("latest", "best"):
        with pytest.raises(CheckpointError, match="checkpoints: holds no checkpoint"):
            manager.load(which)  # type: ignore[arg-type]
    save(manager, 100)
    save(manager, 200)
    with pytest.raises(CheckpointError, match="no checkpoint of step 150; there are: 100, 200"):
        manager.load(150)
    with pytest.raises(CheckpointError, match="no checkpoint of step 150; there are: 100, 200"):
        manager.mark_best(env_steps=150, score=1.0)
    with pytest.raises(CheckpointError, match="'newest'; allowed: best, latest, a step"):
        manager.load("newest")  # type: ignore[arg-type]


def test_a_score_that_is_not_finite_marks_nothing(manager: CheckpointManager, save: Save) -> None:
    save(manager, 1)
    with pytest.raises(ValueError, match="score must be finite, got nan"):
        manager.mark_best(env_steps=1, score=float("nan"))
    assert manager.best_score() is None


def test_a_step_that_is_saved_again_is_replaced_and_no_longer_the_best(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    save(manager, 100, 1)
    manager.mark_best(env_steps=100, score=9.0)
    save(manager, 100, 2)
    assert version_of(manager.load(100)) == 2
    assert manager.best_score() is None
    assert version_of(manager.load("best")) == 2


def test_pruning_keeps_the_newest_and_the_best(
    manager: CheckpointManager, save: Save, tmp_path: Path
) -> None:
    for step in range(1, 7):
        save(manager, step)
        manager.mark_best(env_steps=step, score=float(step)) if step < 3 else None
    assert manager.prune(3) == (1, 3)
    assert manager.steps() == (2, 4, 5, 6)
    assert manager.prune(1) == (4, 5)
    assert manager.prune(1) == ()
    assert manager.best_score() == 2.0
    assert names_in(tmp_path / "checkpoints") == {
        "step-000000002",
        "step-000000006",
        "latest",
        "best",
        "scores.json",
    }
    assert json.loads((tmp_path / "checkpoints" / "scores.json").read_text()) == {
        "step-000000002": 2.0
    }


def test_pruning_does_not_count_broken_ones(manager: CheckpointManager, save: Save) -> None:
    for step in (1, 2, 3, 4):
        save(manager, step)
    (manager.load(4).path / "manifest.json").unlink()
    (manager.load(2).path / "model.safetensors").write_bytes(b"short")
    assert manager.prune(2) == ()
    assert manager.prune(1) == (1, 2)
    assert manager.steps() == (3, 4)


def test_pruning_keeps_at_least_one(manager: CheckpointManager) -> None:
    with pytest.raises(ValueError, match="keep_last must be at least 1, got 0"):
        manager.prune(0)


def test_a_bare_checkpoint_folder_is_read_wherever_it_lies(
    manager: CheckpointManager, save: Save, version_of: Check, tmp_path: Path
) -> None:
    save(manager, 5).rename(tmp_path / "given away")
    found = load_checkpoint(tmp_path / "given away")
    assert (found.env_steps, version_of(found)) == (5, 5)
    with pytest.raises(CheckpointError, match="gone: there is no such checkpoint folder"):
        load_checkpoint(tmp_path / "gone")


def test_a_folder_under_the_name_of_another_step_is_not_taken(
    manager: CheckpointManager, save: Save, version_of: Check
) -> None:
    save(manager, 1)
    path = save(manager, 2)
    path.rename(path.with_name("step-000000009"))
    found = manager.load("latest")
    assert version_of(found) == 1
    assert "step-000000009: holds the checkpoint of step 2" in found.rejected[0]
