"""Each part of a run gets a seed of its own, the same on every machine."""

from hypothesis import strategies as st

from oakemu_rl.core import derive_seed
from property_tests.laws import Arguments, Function, Law
from property_tests.mutants import law_tests


def is_a_function_into_31_bits(function: Function, arguments: Arguments) -> None:
    seed = function(**arguments)
    assert seed == function(**arguments)
    assert 0 <= seed < 2**31


def changes_with_each_argument(function: Function, arguments: Arguments) -> None:
    seed, role, index = arguments["seed"], arguments["role"], arguments["index"]
    seeds = {
        function(seed, role, index),
        function(seed + 1, role, index),
        function(seed, role + "'", index),
        function(seed, role, index + 1),
    }
    assert len(seeds) == 4


ARGUMENTS = st.fixed_dictionaries(
    {
        "seed": st.integers(0, 2**31 - 2),
        "role": st.sampled_from(["actor", "tester", "learner"]),
        "index": st.integers(0, 64),
    }
)
LAWS = [
    Law(function=derive_seed, arguments=ARGUMENTS, check=check)
    for check in (is_a_function_into_31_bits, changes_with_each_argument)
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
