"""The learner: how many updates a rollout gets and of which kind, what is counted, when it ends."""

import inspect
import math
import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from oakemu_rl.buffers.slots import RolloutStep
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.core.masks import action_log_probs, combine_masks, masked_log_probs, sample_actions
from oakemu_rl.core.minibatches import BehaviorCloningMinibatch, PPOLearnerRuntimeState
from oakemu_rl.core.schedules import linear
from oakemu_rl.metrics import names
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.training.ppo.learner import PPOLearner
from tests.training.parts import Parts, configuration, learning_parts, small_model

STEPS, ENVIRONMENTS = 8, 2
ROWS = STEPS * ENVIRONMENTS


def config_of(**options: Any) -> Any:
    """16 rows a rollout, in minibatches of 4, for 3 epochs, unless told otherwise."""
    defaults: dict[str, dict[str, Any]] = {
        "rollout": {"steps": STEPS},
        "optimisation": {"minibatch_size": 4, "ppo_epochs": 3},
        "cloning": {"minibatch_size": 4},
    }
    merged = {name: defaults.get(name, {}) | options.get(name, {}) for name in defaults | options}
    return configuration(**merged)


def collect(
    parts: Parts,
    slot: int = 0,
    *,
    seed: int = 0,
    replayed: Tensor | None = None,
    valid: Tensor | None = None,
    masks: Tensor | None = None,
    unrecorded_mask: Tensor | None = None,
    version: int | None = None,
    env_steps: int = 0,
) -> None:
    """Fill a slot with what the shared model does at random observations."""
    buffer, model = parts.buffer, parts.model.model
    generator = torch.Generator().manual_seed(seed)
    shape = (buffer.steps, buffer.environments)
    buffer.begin(slot, version=parts.model.version if version is None else version)
    none = torch.zeros(shape, dtype=torch.bool)
    for t in range(buffer.steps):
        observations = torch.randn(buffer.environments, 1, generator=generator)
        recorded = None if masks is None else masks[t]
        mask = combine_masks(unrecorded_mask, recorded)
        with torch.no_grad():
            output = model(observations)
        actions = sample_actions(logits=output.logits, mask=mask, generator=generator)
        log_probs = masked_log_probs(logits=output.logits, mask=mask)
        step = RolloutStep(
            observations=observations,
            actions=actions,
            log_probs=action_log_probs(log_probs=log_probs, actions=actions),
            values=output.values,
            final_values=torch.zeros(buffer.environments),
            rewards=torch.randn(buffer.environments, generator=generator),
            terminated=none[t],
            truncated=none[t],
            valid=(~none if valid is None else valid)[t],
            replayed=None if replayed is None else replayed[t],
            action_masks=recorded,
        )
        buffer.write(slot, step)
    buffer.finalise(
        slot,
        last_values=torch.zeros(buffer.environments),
        gamma=0.99,
        gae_lambda=0.95,
        env_steps=env_steps,
    )


def replayed_rows(count: int) -> Tensor:
    """The first `count` rows, [T, N]."""
    return (torch.arange(ROWS) < count).reshape(STEPS, ENVIRONMENTS)


def part_bits(parts: Parts) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {}
    for name, tensor in parts.model.model.state_dict().items():
        found.setdefault(name.split(".")[0], []).append(tensor.clone())
    return found


def moved(parts: Parts, before: dict[str, list[Tensor]]) -> set[str]:
    after = part_bits(parts)
    return {
        name for name, tensors in before.items() if not all(map(torch.equal, tensors, after[name]))
    }


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


def test_bad_updates_are_counted_and_named_and_the_next_good_one_trains() -> None:
    parts = learning_parts(config_of(optimisation={"ppo_epochs": 1}))
    bias, bad = parts.model.model.value_head.bias, [True, False, True, False]
    bias.register_hook(lambda gradient: gradient * math.nan if bad.pop(0) else gradient)
    collect(parts)
    parts.learner.step(16)
    assert (parts.learner.iterations, parts.learner.skipped_updates) == (2, 2)
    assert parts.outlets.series(names.SKIPPED_UPDATES) == [2]
    assert parts.outlets.events == [
        (
            "update_skipped",
            16,
            {"cause": "non_finite_gradient", "update": f"minibatch {number} of rollout 1"},
        )
        for number in (1, 3)
    ]
    assert all(math.isfinite(value) for value in parts.outlets.records[0][1].values())
    assert all(bool(each.isfinite().all()) for each in parts.model.model.state_dict().values())


def test_too_many_bad_updates_in_a_row_end_the_run_with_weights_unharmed() -> None:
    parts = learning_parts(config_of(optimisation={"max_bad_updates": 5}))
    parts.model.model.value_head.bias.register_hook(lambda gradient: gradient * math.nan)
    collect(parts)
    before = part_bits(parts)
    with pytest.raises(
        DivergenceError, match=r"5 updates in a row, up to minibatch 5 of rollout 1"
    ):
        parts.learner.step(16)
    assert moved(parts, before) == set()
    assert parts.learner.skipped_updates == 5


def test_back_offs_of_the_scaler_are_counted_apart_and_never_end_the_run() -> None:
    optimisation = {"precision": "float16", "max_bad_updates": 1, "ppo_epochs": 1}
    parts = learning_parts(config_of(optimisation=optimisation))
    collect(parts)
    before = part_bits(parts)
    scale = parts.learner.scaler.get_scale()
    bias = parts.model.model.value_head.bias
    bias.register_hook(lambda gradient: gradient * math.inf)
    parts.learner.step(16)
    assert (parts.learner.iterations, parts.learner.scaler_backoffs) == (0, 4)
    assert parts.learner.skipped_updates == 0
    assert parts.learner.scaler.get_scale() == scale / 16
    assert parts.outlets.events == []
    assert moved(parts, before) == set()


class Run:
    """`PPOLearner.run` on rollouts that are published already, with what it asks of the policy."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.handshake = RolloutHandshake()
        self.stop = parts.context.stop_event
        self.saved: list[int] = []
        self.notified: list[int] = []
        self.policy = CheckpointPolicy(save=self.saved.append, every_steps=20, tester=self)

    def notify(self, *, env_steps: int) -> None:
        self.notified.append(env_steps)

    def publish(self, *, env_steps: int, version: int | None = None) -> None:
        slot = self.handshake.begin_filling(self.stop)
        assert slot is not None
        collect(self.parts, slot, env_steps=env_steps, version=version, seed=env_steps)
        self.handshake.publish(slot)

    def run(self, current_step: int) -> None:
        self.parts.learner.run(self.stop, lambda: current_step, self.handshake, self.policy)


def test_the_loop_takes_every_published_rollout_and_ends_with_one_last_save() -> None:
    run = Run(learning_parts(config_of()))
    run.publish(env_steps=16)
    run.publish(env_steps=32)
    run.handshake.close()
    run.run(current_step=35)
    assert run.parts.learner.rollouts_collected == 2
    assert run.notified == [16, 32]
    assert run.saved == [32, 35]
    assert [steps for steps, _ in run.parts.outlets.records] == [16, 32]
    assert set(run.handshake.phases) == {"free"}


def test_the_loop_ends_when_the_run_stops() -> None:
    run = Run(learning_parts(config_of()))
    run.publish(env_steps=16)
    run.stop.set()
    run.run(current_step=16)
    assert run.parts.learner.rollouts_collected == 0
    assert (run.notified, run.saved) == ([], [16])


def test_a_rollout_of_a_policy_that_is_too_old_is_dropped_and_counted() -> None:
    run = Run(learning_parts(config_of(rollout={"max_staleness": 1})))
    run.publish(env_steps=16, version=0)
    for _ in range(2):
        run.parts.model.publish()
    run.publish(env_steps=32, version=1)
    run.handshake.close()
    before = run.parts.model.version
    run.run(current_step=32)
    assert (run.parts.learner.dropped_rollouts, run.parts.learner.rollouts_collected) == (1, 1)
    assert run.parts.outlets.events == [
        ("rollout_dropped", 16, {"versions_behind": 2, "allowed": 1})
    ]
    assert run.parts.outlets.series(names.STALENESS) == [1]
    assert run.parts.outlets.series(names.DROPPED_ROLLOUTS) == [1]
    assert run.parts.model.version == before + 1
    assert set(run.handshake.phases) == {"free"}


def test_a_slot_is_free_again_when_an_update_fails() -> None:
    run = Run(learning_parts(config_of(optimisation={"max_bad_updates": 1})))
    run.parts.model.model.value_head.bias.register_hook(lambda gradient: gradient * math.nan)
    run.publish(env_steps=16)
    with pytest.raises(DivergenceError):
        run.run(current_step=16)
    assert set(run.handshake.phases) == {"free"}
    assert run.saved == []
