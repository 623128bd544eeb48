"""A slot goes round its life, and an illegal signal leaves it where it was."""

from functools import partial

from hypothesis import strategies as st

from oakemu_rl.core import IllegalTransitionError, SlotPhase, SlotSignal, advance
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests

LIFE = {
    "free": {"begin filling": "filling"},
    "filling": {"publish": "published", "abandon": "free"},
    "published": {"begin learning": "learning", "abandon": "free"},
    "learning": {"release": "free"},
}


def walks_the_circle(function: Function, arguments: Arguments) -> None:
    phase = SlotPhase.FREE
    for signal in arguments["signals"]:
        expected = LIFE[phase].get(signal)
        if expected is None:
            call = partial(function, phase, signal)
            assert_raises(IllegalTransitionError, f"'{phase}'", call)
            assert_raises(IllegalTransitionError, f"'{signal}'", call)
        else:
            phase = function(phase, signal)
            assert phase == expected


def knows_every_cell(function: Function, arguments: Arguments) -> None:
    phase, signal = arguments["phase"], arguments["signal"]
    if signal in LIFE[phase]:
        assert function(phase, signal) is SlotPhase(LIFE[phase][signal])
    else:
        assert_raises(IllegalTransitionError, "illegal", lambda: function(phase, signal))


LAWS = [
    Law(
        function=advance,
        arguments=st.fixed_dictionaries({"signals": st.lists(st.sampled_from(SlotSignal))}),
        check=walks_the_circle,
    ),
    Law(
        function=advance,
        arguments=st.fixed_dictionaries(
            {"phase": st.sampled_from(SlotPhase), "signal": st.sampled_from(SlotSignal)}
        ),
        check=knows_every_cell,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
