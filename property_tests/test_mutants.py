"""No function of the core goes without a planted wrong version."""

import inspect

import pytest

from oakemu_rl import core
from property_tests.mutants import MUTANTS

FUNCTIONS = [name for name in dir(core) if inspect.isfunction(getattr(core, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_exported_function_has_a_mutant(name: str) -> None:
    assert getattr(core, name) in [mutant.function for mutant in MUTANTS]


def test_no_two_mutants_share_a_name() -> None:
    names = [str(mutant) for mutant in MUTANTS]
    assert len(set(names)) == len(names)
