"""Numbers that are not finite, back-offs of the scaler, and priorities, through whole steps."""

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.core.schedules import constant, linear
from oakemu_rl.metrics import names
from oakemu_rl.training.shaping import RewardShapingPipeline, RewardWindows
from tests.training.dqn.parts import (
    Parts,
    bits_of,
    config_of,
    fill,
    learning_parts,
    replay_for,
    telling_model,
    write_episode,
)
from tests.training.parts import same_bits

NAN, INFINITE = math.nan, math.inf


class Doing:
    """A shaper that does something to the rewards of the batches of the given numbers, from 1."""

    def __init__(self, what: Callable[[torch.Tensor], torch.Tensor], *at: int) -> None:
        self._what = what
        self._at = at
        self._count = 0

    def shape(self, windows: RewardWindows) -> torch.Tensor:
        self._count += 1
        return self._what(windows.rewards) if self._count in self._at else windows.rewards


def first_row(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(rewards: torch.Tensor) -> torch.Tensor:
        changed = rewards.clone()
        changed[0] = value
        return changed

    return change


def state_of(parts: Parts) -> list[Any]:
    """Weights, moments, target and counters, copied."""
    return [
        bits_of(parts.model.model),
        copy.deepcopy(parts.optimizer.state_dict()["state"]),
        bits_of(parts.target),
        (parts.learner.iterations, parts.learner.target_updates),
    ]


@pytest.mark.parametrize("where", ["loss", "gradient"])
@pytest.mark.parametrize("bad", [NAN, INFINITE, -INFINITE])
def test_what_is_not_finite_moves_nothing_and_the_next_good_batch_trains(
    where: str, bad: float
) -> None:
    shaping = RewardShapingPipeline([Doing(first_row(bad), 3)]) if where == "loss" else None
    config = config_of(optimisation={"target_update_every": 1})
    parts = learning_parts(config, shaping=shaping)
    fill(parts)
    assert parts.learner.step(10)
    assert parts.learner.step(10)
    held = state_of(parts)
    if where == "gradient":
        weight = next(parts.model.model.action_head.parameters())
        handle = weight.register_hook(lambda gradient: gradient * bad)
    assert parts.learner.step(11)
    assert same_bits(state_of(parts), held)
    assert parts.learner.skipped_updates == 1
    details = {"cause": f"non_finite_{where}", "update": "update 3"}
    assert parts.outlets.events == [("update_skipped", 11, details)]
    if where == "gradient":
        handle.remove()
    # The update that was left out is still due.
    assert parts.learner.step(11)
    assert not parts.learner.step(11)
    after = state_of(parts)
    assert after[-1] == (3, 3)
    assert not same_bits(after[0], held[0])
    assert all(bool(each.isfinite().all()) for each in after[0].values())


def test_too_many_in_a_row_end_the_run_with_weights_unharmed() -> None:
    parts = learning_parts(config_of(optimisation={"max_bad_updates": 3}))
    fill(parts)
    weight = next(parts.model.model.action_head.parameters())
    weight.register_hook(lambda gradient: gradient * NAN)
    held = state_of(parts)
    assert parts.learner.step(100)
    assert parts.learner.step(100)
    with pytest.raises(DivergenceError, match="gradient was not finite in 3 updates in a row"):
        parts.learner.step(100)
    assert same_bits(state_of(parts), held)


def test_a_first_step_that_overflows_under_the_scaler_moves_nothing_but_the_scale() -> None:
    optimisation = {"precision": "float16", "max_bad_updates": 1, "target_update_every": 1}
    parts = learning_parts(config_of(optimisation=optimisation))
    fill(parts)
    held = state_of(parts)
    assert held[1] == {}
    weight = next(parts.model.model.action_head.parameters())
    handle = weight.register_hook(lambda gradient: gradient * INFINITE)
    assert parts.learner.scaler.get_scale() == 65536.0
    assert parts.learner.step(9)
    assert parts.learner.scaler.get_scale() == 32768.0
    assert same_bits(state_of(parts), held)
    assert (parts.learner.skipped_updates, parts.outlets.events) == (0, [])
    handle.remove()
    assert parts.learner.step(9)
    assert (parts.learner.iterations, parts.learner.target_updates) == (1, 1)
    assert not same_bits(bits_of(parts.model.model), held[0])


def prioritised(shaping: RewardShapingPipeline | None = None, **replay: Any) -> Parts:
    """Three items of which the errors are 3, 1 and 0, and a model that never moves."""
    options = {"kind": "prioritised", "priority_exponent": 1.0, "warm_up_steps": 4, **replay}
    config = config_of(
        replay={"gamma": 0.0, "importance_exponent": constant(1.0), **options},
        optimisation={"batch_size": 3, "learning_rate": constant(0.0)},
    )
    parts = learning_parts(config, model=telling_model(0.0, 0.0, 0.0), shaping=shaping)
    write_episode(parts.replay, [1.0] * 4, rewards=[3.0, -1.0, 0.0], terminated=True)
    return parts


def probabilities(replay: ReplayBuffer, *, draws: int = 200) -> dict[float, float]:
    """How likely each item is, by its reward."""
    found: dict[float, float] = {}
    for seed in range(draws):
        batch = replay.sample(3, generator=np.random.default_rng(seed))
        assert batch.probabilities is not None
        found |= dict(zip(batch.rewards[:, 0].tolist(), batch.probabilities.tolist(), strict=True))
    return found


def test_priorities_are_made_from_raw_errors_whatever_the_weights_of_the_loss() -> None:
    parts = prioritised(priority_epsilon=1.0)
    assert probabilities(parts.replay) == pytest.approx({3.0: 1 / 3, -1.0: 1 / 3, 0.0: 1 / 3})
    # Weights are equal in the first update alone.
    for step in range(200):
        assert parts.learner.step(5 + step)
    assert probabilities(parts.replay) == pytest.approx({3.0: 4 / 7, -1.0: 2 / 7, 0.0: 1 / 7})
    assert parts.outlets.series(names.SKIPPED_PRIORITIES) == [0, 0]
    assert parts.outlets.series(names.REFUSED_PRIORITIES) == [0, 0]
    assert 0.0 < parts.outlets.series(names.IMPORTANCE_WEIGHT_MEAN)[1] < 1.0


@pytest.mark.parametrize("bad", [NAN, INFINITE])
def test_errors_that_are_not_finite_make_no_priority_and_are_counted(bad: float) -> None:
    parts = prioritised(RewardShapingPipeline([Doing(lambda r: r + bad, 1)]))
    before = probabilities(parts.replay)
    assert parts.learner.step(5)
    assert parts.learner.refused_priorities == 3
    assert parts.learner.total_skipped_updates == 0
    assert probabilities(parts.replay) == before
    assert parts.learner.iterations == 0
    assert parts.learner.step(5)
    assert probabilities(parts.replay) != before


def test_priorities_that_come_too_late_are_left_out_and_counted() -> None:
    config = config_of(
        replay={"kind": "prioritised", "capacity": 9, "warm_up_steps": 4},
        optimisation={"batch_size": 4},
    )
    replay = replay_for(config)

    def overwrite(rewards: torch.Tensor) -> torch.Tensor:
        write_episode(replay, [0.0] * 9, rewards=[7.0] * 8)
        return 100.0 * rewards

    shaping = RewardShapingPipeline([Doing(overwrite, 2, 3)])
    parts = learning_parts(config, replay=replay, shaping=shaping)
    write_episode(replay, [0.0] * 9, rewards=[1.0] * 8, terminated=True)
    assert parts.learner.step(5)
    assert parts.learner.total_skipped_updates == 0
    assert parts.learner.step(6)
    assert (parts.learner.iterations, parts.learner.total_skipped_updates) == (2, 4)
    assert parts.learner.runtime_state.total_skipped_updates == 4
    assert parts.learner.step(7)
    assert parts.learner.total_skipped_updates == 8
    # All new items have the priority that they came in with, and it is the same for all.
    batch = replay.sample(8, generator=np.random.default_rng(0))
    assert batch.probabilities is not None
    assert set(batch.rewards.flatten().tolist()) == {7.0}
    assert batch.probabilities.tolist() == pytest.approx([1 / 8] * 8)


def test_a_uniform_replay_has_no_priorities_to_skip() -> None:
    parts = learning_parts(config_of())
    fill(parts)
    assert parts.learner.step(9)
    assert (parts.learner.total_skipped_updates, parts.learner.refused_priorities) == (0, 0)


def test_the_exponent_of_importance_follows_its_schedule() -> None:
    rising = linear(0.0, 1.0, steps=1_000)
    parts = prioritised(importance_exponent=rising, priority_epsilon=1.0)
    for step in range(100):
        assert parts.learner.step(5 + step)
    for step in range(100):
        assert parts.learner.step(10_000 + step)
    early, late = parts.outlets.series(names.IMPORTANCE_WEIGHT_MEAN)
    # Priorities are 4, 2 and 1: weights are at least 0.25^0.104, and later 0.25, 0.5 and 1.
    assert late < 0.6 < 0.85 < early
