"""The learner: when it takes a step, what it counts, and how the target follows."""

import inspect
import math
from typing import Any

import pytest
import torch

from oakemu_rl.core.minibatches import DQNLearnerRuntimeState
from oakemu_rl.core.observations import ActionSpec
from oakemu_rl.core.schedules import linear
from oakemu_rl.metrics import names
from oakemu_rl.models.flat import FlatAdam
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.dqn.learner import REPORT_UPDATES, Learner
from tests.training.dqn.parts import (
    Parts,
    bits_of,
    config_of,
    fill,
    learning_parts,
    same_weights,
    small_model,
)
from tests.training.parts import same_bits

WARM_UP = 8


def learning(*, updates: int, seed: int = 0, **options: Any) -> Parts:
    """A learner that has made so many updates, one an environment step."""
    parts = learning_parts(config_of(**options))
    fill(parts, seed=seed)
    for step in range(1, updates + 1):
        assert parts.learner.step(WARM_UP + step)
    return parts


def test_the_signatures_are_those_of_the_contract() -> None:
    parameters = inspect.signature(Learner).parameters
    assert list(parameters) == [
        "context",
        "learner_model",
        "target_model",
        "replay_buffer",
        "optimizer",
        "lr_schedule",
        "action_masker",
        "reward_shaping",
    ]
    optional = [name for name in parameters if parameters[name].default is None]
    assert optional == ["action_masker", "reward_shaping"]
    of = {name: list(inspect.signature(getattr(Learner, name)).parameters)[1:] for name in METHODS}
    assert of == METHODS


METHODS = {
    "run": ["stop_event", "current_step", "policy"],
    "step": ["env_steps"],
    "restore_state": ["state"],
    "replace_replay_buffer": ["replay_buffer"],
}


def test_it_gives_back_the_parts_it_was_made_of_and_begins_at_0() -> None:
    masker = ActionMasker(ActionSpec(names=("left", "stay", "right")))
    parts = learning_parts(config_of(), masker=masker)
    learner = parts.learner
    assert learner.action_masker is masker
    assert learner.config is parts.context.config
    assert learner.replay_buffer is parts.replay
    counters = (learner.iterations, learner.target_updates, learner.total_skipped_updates)
    assert counters == (0, 0, 0)
    assert learning_parts(config_of()).learner.action_masker is None


def test_there_is_no_step_before_the_warm_up_nor_beyond_what_is_due() -> None:
    parts = learning_parts(config_of(optimisation={"steps_per_update": 4.0}))
    fill(parts)
    before = bits_of(parts.model.model)
    assert not any(parts.learner.step(env_steps) for env_steps in range(WARM_UP + 4))
    assert same_bits(bits_of(parts.model.model), before)
    assert [parts.learner.step(env_steps) for env_steps in (12, 12, 15, 16, 24, 24, 24)] == [
        True, False, False, True, True, True, False,
    ]  # fmt: skip
    assert parts.learner.iterations == 4
    assert not same_bits(bits_of(parts.model.model), before)


def test_several_updates_may_be_due_at_one_step() -> None:
    parts = learning_parts(config_of(optimisation={"steps_per_update": 0.5}))
    fill(parts)
    assert [parts.learner.step(9) for _ in range(3)] == [True, True, False]


def test_there_is_no_step_with_too_little_data() -> None:
    parts = learning_parts(config_of())
    fill(parts, steps=7)
    assert not parts.learner.step(1_000)
    assert parts.learner.iterations == 0
    fill(parts, steps=1)
    assert parts.learner.step(1_000)


def test_a_hard_update_copies_the_weights_when_it_is_due_and_at_no_other_time() -> None:
    parts = learning_parts(config_of(optimisation={"target_update_every": 4}))
    fill(parts)
    for iteration in range(1, 11):
        held = bits_of(parts.target)
        assert parts.learner.step(WARM_UP + iteration)
        assert not same_bits(bits_of(parts.model.model), held)
        if iteration % 4 == 0:
            assert same_weights(parts.target, parts.model.model)
        else:
            assert same_bits(bits_of(parts.target), held)
    assert (parts.learner.iterations, parts.learner.target_updates) == (10, 2)


def test_polyak_updates_move_the_target_by_its_share_of_the_way() -> None:
    options = {"target_update_every": 2, "target_update_rate": 0.25}
    parts = learning_parts(config_of(optimisation=options))
    fill(parts)
    for iteration in range(1, 5):
        held = bits_of(parts.target)
        parts.learner.step(WARM_UP + iteration)
        share = 0.25 if iteration % 2 == 0 else 0.0
        online = bits_of(parts.model.model)
        for name, tensor in bits_of(parts.target).items():
            wanted = held[name] + share * (online[name] - held[name])
            torch.testing.assert_close(tensor, wanted, rtol=1e-6, atol=1e-7)
    assert parts.learner.target_updates == 2


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_the_target_takes_the_normalisers_statistics_whole(rate: float) -> None:
    options = {"target_update_every": 3, "target_update_rate": rate}
    model = {"hidden_sizes": (8,), "normalize_observations": True}
    parts = learning_parts(config_of(optimisation=options, model=model))
    assert parts.model.model.keeps_statistics
    fill(parts)
    for iteration in range(1, 4):
        parts.learner.step(WARM_UP + iteration)
    statistics = dict(parts.model.model.named_buffers())
    assert statistics
    for name, buffer in parts.target.named_buffers():
        torch.testing.assert_close(buffer, statistics[name], rtol=0.0, atol=0.0)
    assert same_weights(parts.target, parts.model.model) == (rate == 1.0)


def test_the_learning_rate_follows_its_schedule_over_environment_steps() -> None:
    rate = linear(1e-3, 0.0, steps=100)
    parts = learning_parts(config_of(optimisation={"learning_rate": rate}))
    fill(parts)
    for env_steps, wanted in [(20, 8e-4), (50, 5e-4), (75, 2.5e-4)]:
        parts.learner.step(env_steps)
        assert parts.optimizer.param_groups[0]["lr"] == pytest.approx(wanted)
    held = bits_of(parts.model.model)
    assert parts.learner.step(100)
    assert same_bits(bits_of(parts.model.model), held)


def test_counters_are_restored_and_go_on() -> None:
    state = DQNLearnerRuntimeState(iterations=7, target_updates=1, total_skipped_updates=3)
    parts = learning_parts(config_of())
    fill(parts)
    parts.learner.restore_state(state)
    learner = parts.learner
    assert learner.runtime_state == state
    assert (learner.iterations, learner.target_updates) == (7, 1)
    assert learner.total_skipped_updates == 3
    # As many updates as were made before are not due again.
    assert not learner.step(WARM_UP + 7)
    assert learner.step(WARM_UP + 8)
    assert (learner.iterations, learner.target_updates) == (8, 2)
    assert learner.total_skipped_updates == 3


def test_every_so_many_updates_what_was_measured_is_written() -> None:
    parts = learning(updates=2 * REPORT_UPDATES + 1)
    assert [steps for steps, _ in parts.outlets.records] == [108, 208]
    assert parts.outlets.series(names.UPDATES) == [100, 200]
    assert parts.outlets.series(names.TARGET_UPDATES) == [25, 50]
    assert parts.outlets.series(names.LEARNING_RATE) == [1e-4, 1e-4]
    _, values = parts.outlets.records[0]
    for name in (names.LOSS, names.Q_MEAN, names.TARGET_MEAN, names.ERROR_MEAN, names.ERROR_MAX):
        assert math.isfinite(values[name])
    assert values[names.ERROR_MAX] >= values[names.ERROR_MEAN] > 0.0
    assert values[names.RAW_RETURN_MEAN] == values[names.SHAPED_RETURN_MEAN] != 0.0
    assert values[names.GRADIENT_NORM] > 0.0
    # There is nothing to tell of priorities or distributions, where there are none.
    assert names.IMPORTANCE_WEIGHT_MEAN not in values
    assert names.OUTSIDE_SUPPORT not in values
    assert parts.outlets.events == []


@pytest.mark.parametrize("kind", ["uniform", "prioritised"])
def test_the_same_seed_draws_the_same_rows_and_makes_the_same_weights(kind: str) -> None:
    runs = [learning(updates=20, replay={"kind": kind}, run={"seed": seed}) for seed in (3, 3, 4)]
    assert same_weights(runs[0].model.model, runs[1].model.model)
    assert not same_weights(runs[0].model.model, runs[2].model.model)


def test_an_optimizer_of_single_parameters_makes_nearly_the_same_weights() -> None:
    def adam(model: torch.nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-8, fused=True)

    made = []
    for optimizer in (None, adam):
        parts = learning_parts(config_of(), optimizer=optimizer)
        assert isinstance(parts.optimizer, FlatAdam) == (optimizer is None)
        fill(parts)
        for step in range(1, 11):
            assert parts.learner.step(WARM_UP + step)
        assert parts.learner.target_updates == 2
        assert not same_weights(parts.model.model, small_model())
        made.append(parts)
    for part in ("model", "target"):
        one, other = (getattr(parts, part) for parts in made)
        one, other = (getattr(each, "model", each) for each in (one, other))
        for left, right in zip(one.parameters(), other.parameters(), strict=True):
            torch.testing.assert_close(left, right, rtol=1e-4, atol=1e-6)


def test_what_a_step_learned_is_seen_by_who_refreshes_a_copy() -> None:
    parts = learning_parts(config_of())
    fill(parts)
    copy = small_model()
    known = parts.model.refresh(copy, known=None)
    assert same_weights(copy, parts.model.model)
    parts.learner.step(9)
    assert not same_weights(copy, parts.model.model)
    assert parts.model.refresh(copy, known=known) != known
    assert same_weights(copy, parts.model.model)
