"""What is free is that of the machine, within the limits of containers."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from oakemu_rl.experiments import free_memory as module
from oakemu_rl.experiments.free_memory import free_memory

NEW = ("memory.max", "memory.current", "inactive_file")
OLD = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
Group = tuple[tuple[str, str, str], str, int, int]


class Available(NamedTuple):
    """What psutil tells, as far as it is read."""

    available: int


def group(folder: Path, names: tuple[str, str, str], limit: str, used: int, cache: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 7\n{names[2]} {cache}\n")


@pytest.mark.parametrize(
    ("groups", "own", "free"),
    [
        ({}, "", 1_000),
        ({".": (NEW, "700", 300, 0)}, "", 400),
        ({".": (NEW, "700", 300, 100)}, "", 500),
        ({".": (NEW, "5000", 300, 0)}, "", 1_000),
        ({".": (NEW, "max", 300, 0)}, "", 1_000),
        ({".": (NEW, "200", 300, 0)}, "", 0),
        ({"memory": (OLD, "600", 100, 50)}, "", 550),
        ({"memory": (OLD, "9223372036854771712", 300, 0)}, "", 1_000),
        ({"jobs/mine": (NEW, "600", 100, 0)}, "0::/jobs/mine\n", 500),
        ({"jobs": (NEW, "600", 200, 0)}, "0::/jobs/mine\n", 400),
        ({"jobs/yours": (NEW, "600", 200, 0)}, "0::/jobs/mine\n", 1_000),
        ({"memory/jobs": (OLD, "600", 300, 0)}, "4:cpu:/x\n5:memory:/jobs\n", 300),
        ({"jobs/mine": (NEW, "600", 100, 0)}, "4:cpu:/jobs/mine\n", 1_000),
    ],
)
def test_each_limit_counts_without_the_cache_that_gives_way(
    groups: Mapping[str, Group],
    own: str,
    free: int,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    for folder, described in groups.items():
        group(tmp_path / "cgroup" / folder, *described)
    (tmp_path / "own").write_text(own)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Available(available=1_000))
    monkeypatch.setattr(module, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(module, "OWN_GROUPS", tmp_path / "own")
    assert free_memory() == free


def test_here_some_memory_is_free() -> None:
    assert 0 < free_memory() <= psutil.virtual_memory().total
