"""An update that is not finite is left out for one reason, and only a run of bad ones counts."""

from hypothesis import strategies as st

from oakemu_rl.core.guards import bad_updates_in_a_row, skip_cause
from oakemu_rl.core.minibatches import SkipCause
from property_tests.laws import (
    Arguments,
    Function,
    Law,
    Mutant,
    assert_killed,
    each_law,
    each_mutant,
)
from property_tests.mutants import MUTANTS


def names_the_first_reason(function: Function, arguments: Arguments) -> None:
    scale = arguments["loss_scale"]
    if not arguments["loss_finite"]:
        expected = SkipCause.NON_FINITE_LOSS
    elif arguments["gradient_finite"]:
        expected = SkipCause.NONE
    elif scale in (2.0, 65536.0):
        expected = SkipCause.SCALER_BACKOFF
    else:
        expected = SkipCause.NON_FINITE_GRADIENT
    assert function(**arguments) is expected


def counts_bad_ones_since_the_last_good_one(function: Function, arguments: Arguments) -> None:
    count = 0
    for cause in arguments["causes"]:
        count = function(count, cause)
    since = list(arguments["causes"])
    if SkipCause.NONE in since:
        since = since[len(since) - since[::-1].index(SkipCause.NONE) :]
    bad = (SkipCause.NON_FINITE_LOSS, SkipCause.NON_FINITE_GRADIENT)
    assert count == sum(cause in bad for cause in since)


LAWS = [
    Law(
        function=skip_cause,
        arguments=st.fixed_dictionaries(
            {
                "loss_finite": st.booleans(),
                "gradient_finite": st.booleans(),
                "loss_scale": st.sampled_from([None, 0.5, 1.0, 2.0, 65536.0]),
            }
        ),
        check=names_the_first_reason,
    ),
    Law(
        function=bad_updates_in_a_row,
        arguments=st.fixed_dictionaries({"causes": st.lists(st.sampled_from(SkipCause))}),
        check=counts_bad_ones_since_the_last_good_one,
    ),
]


@each_law(LAWS)
def test_the_law_holds(law: Law) -> None:
    law.examine(law.function)


@each_mutant(MUTANTS, LAWS)
def test_a_law_notices_the_mutant(mutant: Mutant) -> None:
    assert_killed(mutant, LAWS)
