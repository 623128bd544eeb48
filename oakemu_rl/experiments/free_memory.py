"""How much memory this process may still take, within the limits that Linux sets to containers."""

from collections.abc import Iterator
from pathlib import Path

import attrs
import psutil

CGROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
"""Lines `number:controllers:path`; in version 2 of the control groups one line without names."""


@attrs.frozen(kw_only=True)
class _Version:
    folder: str
    controller: str
    limit: str
    used: str
    cache: str
    """What of the used memory is a cache of files that gives way."""


_VERSIONS = (
    _Version(
        folder=".",
        controller="",
        limit="memory.max",
        used="memory.current",
        cache="inactive_file",
    ),
    _Version(
        folder="memory",
        controller="memory",
        limit="memory.limit_in_bytes",
        used="memory.usage_in_bytes",
        cache="total_inactive_file",
    ),
)


def free_memory() -> int:
    """Bytes: what is free on the machine, and no more than each limit leaves."""
    free = int(psutil.virtual_memory().available)
    for version in _VERSIONS:
        for group in _groups(version):
            try:
                free = min(free, _left(group, version))
            except (OSError, ValueError):  # no such group, or the word "max" for no limit
                continue
    return max(free, 0)


def _groups(version: _Version) -> Iterator[Path]:
    """The process's own group and those around it; inside a container often the outermost alone."""
    root = CGROUPS / version.folder
    yield root
    try:
        lines = OWN_GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if version.controller in controllers.split(","):
            inner = root / path.strip("/")
            yield from (group for group in (inner, *inner.parents) if root in group.parents)


def _left(group: Path, version: _Version) -> int:
    limit, used = (int((group / name).read_text()) for name in (version.limit, version.used))
    statistics = dict(
        line.split(maxsplit=1) for line in (group / "memory.stat").read_text().splitlines()
    )
    return limit - used + int(statistics.get(version.cache, 0))
