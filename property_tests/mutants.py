"""All planted wrong versions of the core's functions, by the function that each stands for.

Most are faults that other libraries really had. A mutant is called like the function it stands for,
and must be noticed by a law of that function.
"""

from property_tests.laws import PLANTED, Mutant
from property_tests.planted import (
    of_advantages,
    of_decisions,
    of_distributions,
    of_foundations,
    of_losses,
    of_schedules,
    of_statistics,
    of_updates,
)

__all__ = [
    "MUTANTS",
    "of_advantages",
    "of_decisions",
    "of_distributions",
    "of_foundations",
    "of_losses",
    "of_schedules",
    "of_statistics",
    "of_updates",
]

MUTANTS: tuple[Mutant, ...] = tuple(PLANTED)
