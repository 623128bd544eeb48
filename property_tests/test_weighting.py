"""Weights follow their schedules in training, and are those of cloning alone in the bootstrap."""

from typing import Any

import attrs
from hypothesis import strategies as st

from oakemu_rl.core import Phase, Schedule, learning_phase, loss_weights
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import any_schedules


@attrs.frozen(kw_only=True)
class Terms:
    policy_weight: float
    value_weight: Schedule
    entropy_weight: Schedule


@attrs.frozen(kw_only=True)
class Cloning:
    weight: Schedule
    bootstrap_weight: float


@attrs.frozen(kw_only=True)
class Configuration:
    loss: Terms
    cloning: Cloning


def are_those_of_the_phase(function: Function, arguments: Arguments) -> None:
    configuration, step = arguments["configuration"], arguments["step"]
    training = function(configuration, step=step, phase="training")
    assert training == function(configuration, step=step, phase=Phase.TRAINING)
    assert training.policy == configuration.loss.policy_weight
    assert training.value == configuration.loss.value_weight.value(step)
    assert training.entropy == configuration.loss.entropy_weight.value(step)
    assert training.behaviour_cloning == configuration.cloning.weight.value(step)
    bootstrap = function(configuration, step=step, phase="bootstrap")
    assert (bootstrap.policy, bootstrap.value, bootstrap.entropy) == (0.0, 0.0, 0.0)
    assert bootstrap.behaviour_cloning == configuration.cloning.bootstrap_weight


def refuse_an_unknown_phase(function: Function, arguments: Arguments) -> None:
    assert_raises(ValueError, "'resting'", lambda: function(**{**arguments, "phase": "resting"}))


def begins_in_the_bootstrap_and_leaves_it_once(function: Function, arguments: Arguments) -> None:
    length = arguments["bootstrap_steps"]
    phases = [function(step=step, bootstrap_steps=length) for step in range(length + 3)]
    assert phases == [Phase.BOOTSTRAP] * length + [Phase.TRAINING] * 3


@st.composite
def configurations(draw: st.DrawFn) -> dict[str, Any]:
    """A configuration whose weights are not negative, a step and a phase."""
    weights = any_schedules().filter(lambda schedule: schedule.bounds()[0] >= 0.0)
    terms = Terms(policy_weight=2.0, value_weight=draw(weights), entropy_weight=draw(weights))
    cloning = Cloning(weight=draw(weights), bootstrap_weight=3.0)
    return {
        "configuration": Configuration(loss=terms, cloning=cloning),
        "step": draw(st.integers(0, 2_000)),
        "phase": draw(st.sampled_from(Phase)),
    }


LAWS = [
    Law(function=loss_weights, arguments=configurations(), check=are_those_of_the_phase),
    Law(function=loss_weights, arguments=configurations(), check=refuse_an_unknown_phase),
    Law(
        function=learning_phase,
        arguments=st.fixed_dictionaries({"bootstrap_steps": st.integers(0, 20)}),
        check=begins_in_the_bootstrap_and_leaves_it_once,
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
