"""What `oakemu_rl` and `oakemu_rl.config` export, and what importing them costs."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import oakemu_rl
from oakemu_rl import config

PACKAGES = (oakemu_rl, config)


def declared(package: ModuleType) -> dict[str, str]:
    """The exports that type checkers see, and the module of each."""
    source = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    return {
        alias.asname or alias.name: str(node.module)
        for node in ast.walk(source)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{package.__name__}.")
        for alias in node.names
        if node.module != "oakemu_rl._lazy"
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_the_lazy_exports_and_the_declared_ones_are_the_same(package: ModuleType) -> None:
    assert sorted(declared(package)) == dir(package)


@pytest.mark.parametrize(
    ("package", "name"), [(package, name) for package in PACKAGES for name in dir(package)]
)
def test_each_export_is_the_one_of_its_module(package: ModuleType, name: str) -> None:
    home = import_module(declared(package)[name])
    assert getattr(package, name) is getattr(home, name)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_export_has_the_name_of_a_module(package: ModuleType) -> None:
    # Importing a module puts it into its package, where it would hide the export.
    folder = Path(str(package.__file__)).parent
    modules = {path.stem for path in folder.iterdir() if path.is_dir() or path.suffix == ".py"}
    assert not modules & set(dir(package))


@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_name_is_refused(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match=f"'{package.__name__}' has no attribute 'PPOLerner'"):
        getattr(package, "PPOLerner")  # noqa: B009


def test_importing_the_package_costs_nothing() -> None:
    heavy = "{'torch', 'numpy', 'gymnasium', 'zx', 'rich', 'tyro', 'cattrs', 'attrs'}"
    program = f"import sys; import oakemu_rl, oakemu_rl.config; print({heavy} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "set()\n"


def test_a_configuration_is_loaded_without_torch_numpy_or_an_emulator() -> None:
    program = """
import sys
from oakemu_rl import PPOExperimentConfiguration, load_configuration
load_configuration(PPOExperimentConfiguration, "acorns", preset="ppo")
print({"torch", "numpy", "gymnasium", "zx"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "set()\n"
