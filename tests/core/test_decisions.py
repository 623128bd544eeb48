"""Worked values of weights, phases, transitions and cadences."""

import math
from itertools import product

import pytest

from oakemu_rl.config.options import CloningOptions
from oakemu_rl.config.ppo import LossOptions, PPOExperimentConfiguration
from oakemu_rl.core import (
    TRANSITIONS,
    IllegalTransitionError,
    LossWeights,
    Phase,
    SlotPhase,
    SlotSignal,
    advance,
    checkpoint_due,
    is_stale,
    learning_phase,
    linear,
    loss_weights,
    rollouts_needed,
)

CONFIGURATION = PPOExperimentConfiguration(
    loss=LossOptions(value_weight=linear(1.0, 0.5, 100), entropy_weight=linear(0.02, 0.0, 100)),
    cloning=CloningOptions(weight=linear(0.8, 0.0, 50), bootstrap_weight=2.0),
)


def test_training_weights_follow_their_schedules() -> None:
    assert loss_weights(CONFIGURATION, step=25, phase="training") == LossWeights(
        policy=1.0, value=0.875, entropy=0.015, behaviour_cloning=0.4
    )


def test_the_bootstrap_learns_by_cloning_alone() -> None:
    assert loss_weights(CONFIGURATION, step=25, phase=Phase.BOOTSTRAP) == LossWeights(
        policy=0.0, value=0.0, entropy=0.0, behaviour_cloning=2.0
    )


@pytest.mark.parametrize("wrong", [-0.1, math.nan, math.inf])
@pytest.mark.parametrize("name", ["policy", "value", "entropy", "behaviour_cloning"])
def test_a_weight_is_finite_and_not_negative(name: str, wrong: float) -> None:
    weights = {"policy": 1.0, "value": 0.5, "entropy": 0.0, "behaviour_cloning": 0.0}
    with pytest.raises(ValueError, match=f"{name}: expected a finite number, at least 0"):
        LossWeights(**{**weights, name: wrong})


def test_the_bootstrap_ends_at_its_step() -> None:
    assert learning_phase(step=9, bootstrap_steps=10) is Phase.BOOTSTRAP
    assert learning_phase(step=10, bootstrap_steps=10) is Phase.TRAINING
    assert learning_phase(step=0, bootstrap_steps=0) is Phase.TRAINING


def test_a_slot_goes_round_its_life() -> None:
    phase = SlotPhase.FREE
    for signal in ("begin filling", "publish", "begin learning", "release"):
        phase = advance(phase, SlotSignal(signal))
    assert phase is SlotPhase.FREE


def test_an_unfinished_or_stale_rollout_frees_its_slot() -> None:
    assert advance(SlotPhase.FILLING, SlotSignal.ABANDON) is SlotPhase.FREE
    assert advance(SlotPhase.PUBLISHED, SlotSignal.ABANDON) is SlotPhase.FREE


@pytest.mark.parametrize(
    ("phase", "signal"),
    [cell for cell in product(SlotPhase, SlotSignal) if cell not in TRANSITIONS],
)
def test_every_other_cell_is_illegal(phase: SlotPhase, signal: SlotSignal) -> None:
    with pytest.raises(IllegalTransitionError, match=f"'{signal}' is illegal .* '{phase}'"):
        advance(phase, signal)


def test_checkpoints_count_steps_and_not_calls() -> None:
    due, last = 0, 0
    for env_steps in range(32, 3_000_000 + 1, 32):
        if checkpoint_due(env_steps=env_steps, last_env_steps=last, every_steps=50_000):
            due, last = due + 1, env_steps
    assert due == 60


def test_several_multiples_at_once_give_one_checkpoint() -> None:
    assert checkpoint_due(env_steps=350, last_env_steps=90, every_steps=100)
    assert not checkpoint_due(env_steps=399, last_env_steps=350, every_steps=100)


def test_steps_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="expected at least last_env_steps=100, got 99"):
        checkpoint_due(env_steps=99, last_env_steps=100, every_steps=10)
    with pytest.raises(ValueError, match="every_steps: expected a finite number above 0, got 0"):
        checkpoint_due(env_steps=1, last_env_steps=0, every_steps=0)


def test_a_rollout_is_stale_beyond_the_limit() -> None:
    assert not is_stale(rollout_version=3, learner_version=5, max_staleness=2)
    assert is_stale(rollout_version=3, learner_version=6, max_staleness=2)


def test_a_budget_is_met_by_whole_rollouts() -> None:
    assert rollouts_needed(1_000, 256) == 4
    assert rollouts_needed(1_024, 256) == 4
    assert rollouts_needed(0, 256) == 0
