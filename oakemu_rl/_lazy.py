"""Exports that are imported when they are first asked for, so that importing a package stays cheap.

`oakemu-rl --help` must not wait for torch. A package lists its exports once, by module; the module
is imported at the first access of one of its names.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_exports(
    package: str, exports: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Build `__getattr__` and `__dir__` of a package from `{module: names}`."""
    home = {name: module for module, names in exports.items() for name in names}

    def getattribute(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{home[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def directory() -> list[str]:
        return sorted(home)

    return getattribute, directory
