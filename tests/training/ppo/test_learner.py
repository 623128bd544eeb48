"""The learner: how many updates a rollout gets, and of which kind."""

import inspect
import threading

import pytest
import torch

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.minibatches import BehaviorCloningMinibatch, PPOLearnerRuntimeState
from oakemu_rl.core.schedules import linear
from oakemu_rl.metrics import names
from oakemu_rl.training.ppo.learner import PPOLearner
from tests.training.parts import learning_parts, small_model
from tests.training.rollouts import (
    ENVIRONMENTS,
    ROWS,
    STEPS,
    collect,
    config_of,
    moved,
    part_bits,
    replayed_rows,
)


class Demonstrations:
    """A sampler that has `supply` minibatches to give, and counts how often it is asked."""

    def __init__(self, supply: int = 1_000) -> None:
        self.supply = supply
        self.asked: list[int] = []

    def sample(self, rows: int, *, generator: torch.Generator) -> BehaviorCloningMinibatch | None:
        self.asked.append(rows)
        if len(self.asked) > self.supply:
            return None
        observations = torch.randn(rows, 1, generator=generator)
        actions = torch.zeros(rows, dtype=torch.int64)
        return BehaviorCloningMinibatch(observations=observations, actions=actions)


def test_the_constructor_takes_its_parts_in_the_order_of_the_contract() -> None:
    parameters = inspect.signature(PPOLearner).parameters
    assert list(parameters) == [
        "context",
        "learner_model",
        "rollout_buffer",
        "optimizer",
        "lr_schedule",
        "action_mask",
        "bc_sampler",
    ]
    assert [parameters[name].default for name in ("action_mask", "bc_sampler")] == [None, None]
    expected = ["self", "stop_event", "current_step", "rollout_handshake", "policy"]
    assert list(inspect.signature(PPOLearner.run).parameters) == expected
    assert list(inspect.signature(PPOLearner.step).parameters) == ["self", "actor_steps"]
    assert list(inspect.signature(PPOLearner.restore_state).parameters) == ["self", "state"]


def test_an_on_policy_rollout_gets_every_minibatch_of_every_epoch() -> None:
    parts = learning_parts(config_of())
    steps = []
    parts.optimizer.register_step_post_hook(lambda *_: steps.append(True))
    collect(parts)
    before = part_bits(parts)
    parts.learner.step(16)
    assert len(steps) == 12
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (12, 1)
    assert moved(parts, before) == {"trunk", "policy_head", "value_head"}
    collect(parts, seed=1)
    parts.learner.step(32)
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (24, 2)
    assert parts.learner.runtime_state == PPOLearnerRuntimeState(
        iterations=24, rollouts_collected=2
    )


def test_65_rows_in_minibatches_of_64_make_two_updates_and_finite_weights() -> None:
    config = config_of(rollout={"steps": 65}, optimisation={"minibatch_size": 64, "ppo_epochs": 1})
    parts = learning_parts(config, environments=1)
    collect(parts)
    parts.learner.step(65)
    assert parts.learner.iterations == 2
    assert all(bool(each.isfinite().all()) for each in parts.model.model.state_dict().values())


@pytest.mark.parametrize("bootstrap_steps", [0, 1_000])
def test_a_replay_only_rollout_gets_one_epoch_of_cloning(bootstrap_steps: int) -> None:
    config = config_of(cloning={"weight": 0.5, "bootstrap_steps": bootstrap_steps})
    parts = learning_parts(config)
    collect(parts, replayed=replayed_rows(ROWS))
    before = part_bits(parts)
    parts.learner.step(16)
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (4, 1)
    assert moved(parts, before) == {"trunk", "policy_head"}
    assert parts.outlets.series(names.BEHAVIOUR_CLONING_LOSS)[0] > 0.0


def test_replayed_rows_that_have_no_weight_are_not_learned_from() -> None:
    parts = learning_parts(config_of(), bc_sampler=Demonstrations())
    collect(parts, replayed=replayed_rows(ROWS))
    before = part_bits(parts)
    parts.learner.step(16)
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (0, 1)
    assert moved(parts, before) == set()


def test_a_mixed_rollout_learns_from_its_own_rows_and_clones_the_replayed_beside_them() -> None:
    parts = learning_parts(config_of(cloning={"weight": 0.5}))
    collect(parts, replayed=replayed_rows(6))
    parts.learner.step(16)
    # 10 rows of its own: 3 minibatches in each of 3 epochs, none for the replayed rows alone.
    assert parts.learner.iterations == 9
    assert parts.outlets.series(names.BEHAVIOUR_CLONING_LOSS)[0] > 0.0
    assert parts.outlets.series(names.VALUE_LOSS)[0] > 0.0


def test_the_bootstrap_calibrates_values_and_leaves_the_policy_alone() -> None:
    parts = learning_parts(config_of(cloning={"bootstrap_steps": 1_000}))
    collect(parts)
    before = part_bits(parts)
    parts.learner.step(999)
    assert parts.learner.iterations == 12
    assert moved(parts, before) == {"value_head"}
    parts.learner.step(1_000)
    assert moved(parts, before) == {"trunk", "policy_head", "value_head"}


def test_the_bootstrap_calibrates_on_own_rows_and_clones_the_replayed_for_one_epoch() -> None:
    parts = learning_parts(config_of(cloning={"bootstrap_steps": 1_000}))
    collect(parts, replayed=replayed_rows(6))
    before = part_bits(parts)
    parts.learner.step(16)
    assert parts.learner.iterations == 9 + 2
    assert moved(parts, before) == {"trunk", "policy_head", "value_head"}


def test_the_sampler_gives_a_companion_to_each_minibatch() -> None:
    sampler = Demonstrations()
    parts = learning_parts(config_of(cloning={"weight": 0.5}), bc_sampler=sampler)
    collect(parts)
    parts.learner.step(16)
    assert sampler.asked == [4] * 12
    assert parts.learner.iterations == 12
    assert parts.outlets.series(names.BEHAVIOUR_CLONING_LOSS)[0] > 0.0


def test_a_sampler_that_runs_dry_is_asked_no_more_and_stops_nothing() -> None:
    sampler = Demonstrations(supply=2)
    parts = learning_parts(config_of(cloning={"weight": 0.5}), bc_sampler=sampler)
    collect(parts)
    parts.learner.step(16)
    assert (len(sampler.asked), parts.learner.iterations) == (3, 12)


def test_the_bootstrap_clones_as_many_sampled_minibatches_as_it_calibrated() -> None:
    sampler = Demonstrations()
    parts = learning_parts(config_of(cloning={"bootstrap_steps": 1_000}), bc_sampler=sampler)
    collect(parts)
    parts.learner.step(16)
    assert (len(sampler.asked), parts.learner.iterations) == (12, 24)


def test_the_rollouts_own_demonstrations_come_before_the_samplers() -> None:
    sampler = Demonstrations()
    parts = learning_parts(config_of(cloning={"weight": 0.5}), bc_sampler=sampler)
    collect(parts, replayed=replayed_rows(6))
    parts.learner.step(16)
    assert sampler.asked == []


def test_the_sampler_is_left_alone_where_cloning_has_no_weight() -> None:
    sampler = Demonstrations()
    cloning = {"weight": linear(1.0, 0.0, 100)}
    parts = learning_parts(config_of(cloning=cloning), bc_sampler=sampler)
    collect(parts)
    parts.learner.step(100)
    assert sampler.asked == []
    assert parts.outlets.series(names.BEHAVIOUR_CLONING_LOSS) == []


def test_the_learning_rate_follows_its_schedule() -> None:
    config = config_of(optimisation={"learning_rate": linear(1e-3, 0.0, 100)})
    parts = learning_parts(config)
    for steps, rate in ((0, 1e-3), (25, 7.5e-4), (100, 0.0), (500, 0.0)):
        collect(parts)
        parts.learner.step(steps)
        assert [group["lr"] for group in parts.optimizer.param_groups] == [pytest.approx(rate)]
    assert parts.outlets.series(names.LEARNING_RATE) == pytest.approx([1e-3, 7.5e-4, 0.0, 0.0])


def test_each_step_publishes_the_weights_it_made() -> None:
    parts = learning_parts(config_of())
    for version in (1, 2):
        collect(parts)
        parts.learner.step(16)
        snapshot = parts.model.snapshot()
        assert snapshot.version == version
        for name, tensor in parts.model.model.state_dict().items():
            assert torch.equal(snapshot.tensors[name], tensor)


@pytest.mark.parametrize("where", ["beside the rows", "for all states"])
def test_the_first_look_at_masked_rows_finds_the_policy_that_collected_them(where: str) -> None:
    config = config_of(optimisation={"minibatch_size": 64, "ppo_epochs": 1})
    static = torch.tensor([True, False, True])
    for_all = where == "for all states"
    parts = learning_parts(config, action_mask=static if for_all else None)
    masks = static.expand(STEPS, ENVIRONMENTS, 3)
    collect(parts, masks=None if for_all else masks, unrecorded_mask=static)
    parts.learner.step(16)
    assert parts.outlets.series(names.APPROX_KL)[0] == pytest.approx(0.0, abs=1e-9)
    assert parts.outlets.series(names.CLIP_FRACTION) == [0.0]
    blind = learning_parts(config)
    collect(blind, unrecorded_mask=static)
    blind.learner.step(16)
    assert blind.outlets.series(names.APPROX_KL)[0] > 0.01


def test_rows_that_only_reset_an_environment_are_not_learned_from() -> None:
    valid = ~replayed_rows(6)
    model = small_model(options=ModelOptions(hidden_sizes=(8,), normalize_observations=True))
    parts = learning_parts(config_of(), model=model)
    collect(parts, valid=valid)
    parts.learner.step(10)
    assert parts.learner.iterations == 9
    count = parts.model.model.state_dict()["trunk.encoders.0.normalizer.count"]
    assert int(count) == 10


def test_a_rollout_of_resets_alone_changes_nothing_and_stops_nothing() -> None:
    model = small_model(options=ModelOptions(hidden_sizes=(8,), normalize_observations=True))
    parts = learning_parts(config_of(), model=model)
    collect(parts, valid=torch.zeros(STEPS, ENVIRONMENTS, dtype=torch.bool))
    before = part_bits(parts)
    parts.learner.step(0)
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (0, 1)
    assert moved(parts, before) == set()


def test_the_seed_decides_the_order_of_minibatches() -> None:
    weights = []
    for seed in (3, 3, 4):
        parts = learning_parts(config_of(run={"seed": seed}))
        collect(parts)
        parts.learner.step(16)
        weights.append(torch.cat([each.flatten() for each in parts.model.model.parameters()]))
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[0], weights[2])


def test_a_large_change_of_the_policy_leaves_the_remaining_updates_out() -> None:
    parts = learning_parts(config_of(optimisation={"target_kl": 1e-12}))
    collect(parts)
    parts.learner.step(16)
    # The first minibatch sees no change yet, the second sees that of the first.
    assert parts.learner.iterations == 2


def test_a_stop_ends_the_updates_after_the_present_one() -> None:
    stop = threading.Event()
    parts = learning_parts(config_of(), stop_event=stop)
    parts.optimizer.register_step_post_hook(lambda *_: stop.set())
    collect(parts)
    parts.learner.step(16)
    assert parts.learner.iterations == 1
    assert parts.model.version == 1


def test_counters_come_back_from_a_checkpoint_and_go_on() -> None:
    parts = learning_parts(config_of())
    parts.learner.restore_state(PPOLearnerRuntimeState(iterations=100, rollouts_collected=7))
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (100, 7)
    collect(parts)
    parts.learner.step(16)
    assert (parts.learner.iterations, parts.learner.rollouts_collected) == (112, 8)
