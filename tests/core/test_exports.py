"""What `oakemu_rl.core` exports, and what importing it costs."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from oakemu_rl import core

SOURCE = ast.parse(Path(core.__file__).read_text(encoding="utf-8"))
DECLARED = {
    alias.name: node.module
    for node in ast.walk(SOURCE)
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith("oakemu_rl.core.")
    for alias in node.names
}


def test_the_lazy_exports_and_the_declared_ones_are_the_same() -> None:
    assert sorted(DECLARED) == dir(core)


@pytest.mark.parametrize("name", dir(core))
def test_each_export_is_the_one_of_its_module(name: str) -> None:
    assert getattr(core, name) is getattr(import_module(str(DECLARED[name])), name)


def test_no_export_has_the_name_of_a_module() -> None:
    # Importing a module puts it into its package, where it would hide the export.
    modules = {path.stem for path in Path(core.__file__).parent.glob("*.py")}
    assert not modules & set(dir(core))


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match=r"'oakemu_rl.core' has no attribute 'advantage'"):
        getattr(core, "advantage")  # noqa: B009


def test_the_core_and_its_decisions_need_no_torch() -> None:
    program = (
        "import sys; import oakemu_rl.core; from oakemu_rl.core import "
        "Schedule, advance, checkpoint_due, confidence_interval, derive_seed, loss_weights; "
        "from oakemu_rl.core import may_act, may_learn, updates_due; "
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
