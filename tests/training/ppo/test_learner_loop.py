"""The learner's loop: what it takes, what it counts, and when it ends."""

import math

import pytest

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.metrics import names
from oakemu_rl.runtime.handshake import RolloutHandshake
from tests.runtime.background import Background
from tests.training.parts import Parts, learning_parts
from tests.training.rollouts import collect, config_of, moved, part_bits


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


def test_steps_that_the_actor_takes_while_it_stops_are_in_the_last_save() -> None:
    run = Run(learning_parts(config_of()))
    slot = run.handshake.begin_filling(run.stop)
    assert slot is not None
    run.stop.set()
    phases: list[tuple[str, ...]] = []
    learner = Background(
        lambda: run.parts.learner.run(
            run.stop,
            lambda: (phases.append(run.handshake.phases), 20)[1],
            run.handshake,
            run.policy,
        )
    )
    run.handshake.abandon(slot)
    learner.result()
    assert phases == [("free", "free")]
    assert run.saved == [20]


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
