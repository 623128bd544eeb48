"""No function of the core goes without a planted wrong version, and none of those without a law."""

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

from oakemu_rl import core
from property_tests.laws import Function
from property_tests.mutants import MUTANTS


def functions_of(module: ModuleType) -> list[Function]:
    """The public functions that the module itself defines."""
    return [
        function
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
    ]


MODULES = [import_module(each.name) for each in iter_modules(core.__path__, f"{core.__name__}.")]
FUNCTIONS = [function for module in MODULES for function in functions_of(module)]
PLANTED = {mutant.function for mutant in MUTANTS}
LAW_MODULES = sorted(set(Path(__file__).parent.glob("test_*.py")) - {Path(__file__)})


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_function_of_the_core_has_a_mutant(function: Function) -> None:
    assert function in PLANTED


def test_every_function_that_has_a_mutant_has_a_law() -> None:
    modules = [import_module(f"property_tests.{file.stem}") for file in LAW_MODULES]
    assert {law.function for module in modules for law in module.LAWS} == PLANTED


def test_no_two_mutants_share_a_name() -> None:
    names = [str(mutant) for mutant in MUTANTS]
    assert len(set(names)) == len(names)
