"""Worked values of who has to wait for whom."""

from typing import Any

import pytest

from oakemu_rl.core import may_act, may_learn, updates_due

COUNTS: dict[str, Any] = {
    "env_steps": 1_008,
    "updates": 1,
    "warm_up_steps": 1_000,
    "steps_per_update": 4.0,
    "available": 64,
    "batch_size": 64,
}


@pytest.mark.parametrize(
    ("env_steps", "steps_per_update", "due"),
    [
        (0, 4.0, 0),
        (1_000, 4.0, 0),
        (1_003, 4.0, 0),
        (1_004, 4.0, 1),
        (1_008, 4.0, 2),
        (1_001, 0.5, 2),
        (1_007, 0.1, 70),
        (1_003, 2.5, 1),
        (1_005, 2.5, 2),
    ],
)
def test_updates_belong_to_the_steps_after_the_warm_up(
    env_steps: int, steps_per_update: float, due: int
) -> None:
    assert due == updates_due(
        env_steps=env_steps, warm_up_steps=1_000, steps_per_update=steps_per_update
    )


def test_the_learner_waits_for_steps_and_for_a_batch() -> None:
    assert may_learn(**COUNTS)
    assert not may_learn(**{**COUNTS, "updates": 2})
    assert not may_learn(**{**COUNTS, "env_steps": 1_007})
    assert not may_learn(**{**COUNTS, "available": 63})


def test_the_actor_waits_for_a_learner_that_is_too_far_behind() -> None:
    late = {**COUNTS, "env_steps": 1_044, "max_lag": 10}
    assert may_act(**late)
    assert not may_act(**{**late, "env_steps": 1_048})
    assert may_act(**{**late, "env_steps": 1_048, "updates": 2})


def test_the_actor_goes_on_until_a_batch_can_be_drawn() -> None:
    far = {**COUNTS, "env_steps": 100_000, "available": 63, "max_lag": 0}
    assert may_act(**far)
    assert not may_act(**{**far, "available": 64})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env_steps": -1}, "env_steps: expected a finite number, at least 0, got -1"),
        ({"warm_up_steps": -1}, "warm_up_steps: expected a finite number, at least 0, got -1"),
        ({"steps_per_update": 0.0}, "steps_per_update: expected a finite number above 0, got 0.0"),
        ({"batch_size": 0}, "batch_size: expected a finite number above 0, got 0"),
    ],
)
def test_wrong_counts_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        may_learn(**{**COUNTS, **changes})
    with pytest.raises(ValueError, match=message):
        may_act(**{**COUNTS, "max_lag": 10, **changes})


def test_a_negative_lag_is_refused() -> None:
    with pytest.raises(ValueError, match="max_lag: expected a finite number, at least 0, got -1"):
        may_act(**COUNTS, max_lag=-1)
