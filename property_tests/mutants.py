"""All planted wrong versions of the core's functions, by the function that each stands for.

Most are faults that other libraries really had. A mutant is called like the function it stands for,
and must be noticed by a law of that function.
"""

from collections.abc import Callable, Sequence

import pytest

from property_tests.laws import PLANTED, Law, Mutant, assert_killed
from property_tests.planted import (
    of_advantages,
    of_categorical,
    of_decisions,
    of_distributions,
    of_exploration,
    of_foundations,
    of_losses,
    of_prioritisation,
    of_q_learning,
    of_reward_shaping,
    of_schedules,
    of_statistics,
    of_storage_faults,
    of_updates,
)

__all__ = [
    "MUTANTS",
    "law_tests",
    "of_advantages",
    "of_categorical",
    "of_decisions",
    "of_distributions",
    "of_exploration",
    "of_foundations",
    "of_losses",
    "of_prioritisation",
    "of_q_learning",
    "of_reward_shaping",
    "of_schedules",
    "of_statistics",
    "of_storage_faults",
    "of_updates",
]

MUTANTS: tuple[Mutant, ...] = tuple(PLANTED)


def law_tests(laws: Sequence[Law]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Two tests: each law holds, and some law notices each mutant of the functions they are of."""
    functions = [law.function for law in laws]
    concerned = [mutant for mutant in MUTANTS if mutant.function in functions]

    @pytest.mark.parametrize("law", laws, ids=str)
    def test_the_law_holds(law: Law) -> None:
        law.examine(law.function)

    @pytest.mark.parametrize("mutant", concerned, ids=str)
    def test_a_law_notices_the_mutant(mutant: Mutant) -> None:
        assert_killed(mutant, laws)

    return test_the_law_holds, test_a_law_notices_the_mutant
