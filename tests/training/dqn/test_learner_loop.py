"""The learner's loop: what it asks of the policy, and when it ends."""

import math
import threading
from typing import Any

import pytest

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.envs.vector import VectorEnvironment
from tests.envs.counting import vectorised
from tests.runtime.background import LIMIT_SECONDS, Background
from tests.training.dqn.parts import Parts, acting_parts, config_of, fill, learning_parts
from tests.training.worlds import Calling


class Run:
    """`Learner.run` with all that it asks of the policy, in order; the actor's steps are counted
    up by one each time that the learner looks."""

    def __init__(self, parts: Parts, *, every_steps: int = 1_000) -> None:
        self.parts = parts
        self.stop = parts.context.stop_event
        self.calls: list[tuple[str, int]] = []
        self.policy = CheckpointPolicy(save=self.save, every_steps=every_steps, tester=self)
        self.env_steps = 0

    def notify(self, *, env_steps: int) -> None:
        self.calls.append(("notify", env_steps))

    def save(self, env_steps: int) -> None:
        self.calls.append(("save", env_steps))

    def next_step(self) -> int:
        self.env_steps = min(self.env_steps + 1, self.parts.learner.config.run.total_steps)
        return self.env_steps

    def run(self) -> None:
        self.parts.learner.run(self.stop, self.next_step, self.policy)


def a_run(*, total_steps: int, every_steps: int = 1_000, **options: Any) -> Run:
    parts = learning_parts(config_of(run={"total_steps": total_steps}, **options))
    fill(parts)
    return Run(parts, every_steps=every_steps)


def test_the_tester_is_told_of_target_updates_and_of_nothing_else() -> None:
    run = a_run(total_steps=20)
    run.run()
    # The first update is made at step 9, the target follows every fourth.
    assert run.parts.learner.iterations == 12
    assert run.calls == [("notify", 12), ("notify", 16), ("notify", 20), ("save", 20)]


def test_checkpoints_come_by_environment_steps_however_often_updates_come() -> None:
    for steps_per_update in (0.5, 1.0, 4.0):
        run = a_run(
            total_steps=48,
            every_steps=16,
            optimisation={"steps_per_update": steps_per_update, "target_update_every": 1_000},
        )
        run.run()
        assert run.calls == [("save", 16), ("save", 32), ("save", 48), ("save", 48)]


def test_the_run_ends_when_all_steps_are_taken_and_no_update_is_due() -> None:
    run = a_run(total_steps=20, optimisation={"steps_per_update": 0.5})
    run.env_steps = 19
    run.run()
    assert run.parts.learner.iterations == 24
    assert run.calls[-1] == ("save", 20)
    # Whose event it is, decides when others stop.
    assert not run.stop.is_set()


def test_a_run_without_enough_data_ends_too() -> None:
    parts = learning_parts(config_of(run={"total_steps": 20}))
    run = Run(parts)
    run.run()
    assert run.parts.learner.iterations == 0
    assert run.calls == [("save", 20)]


def test_a_stop_ends_the_loop_between_two_updates_with_a_last_save() -> None:
    run = a_run(total_steps=1_000, optimisation={"target_update_every": 1})
    weight = next(run.parts.model.model.action_head.parameters())
    weight.register_hook(lambda _: run.stop.set() if run.parts.learner.iterations == 2 else None)
    run.env_steps = 500
    run.run()
    assert run.parts.learner.iterations == 3
    assert run.calls == [("notify", 501), ("save", 502)]


def test_what_is_tested_and_saved_at_a_step_has_all_of_its_updates() -> None:
    run = a_run(
        total_steps=16,
        every_steps=2,
        optimisation={"steps_per_update": 0.25, "target_update_every": 3},
    )
    seen: list[tuple[int, int]] = []
    save = run.save

    def saving(env_steps: int) -> None:
        seen.append((env_steps, run.parts.learner.iterations))
        save(env_steps)

    run.policy = CheckpointPolicy(save=saving, every_steps=2, tester=run)
    run.run()
    # The first updates come at step 9, four of them, and four with each step after it.
    assert seen[-4:] == [(12, 16), (14, 24), (16, 32), (16, 32)]
    told = [step for kind, step in run.calls if kind == "notify"]
    assert told == sorted(set(told))


def test_a_run_that_was_stopped_before_saves_and_learns_nothing() -> None:
    run = a_run(total_steps=1_000)
    run.stop.set()
    run.run()
    assert run.parts.learner.iterations == 0
    assert run.calls == [("save", 1)]


def test_a_learner_that_diverges_saves_nothing() -> None:
    run = a_run(total_steps=100, optimisation={"max_bad_updates": 3})
    weight = next(run.parts.model.model.action_head.parameters())
    weight.register_hook(lambda gradient: gradient * math.nan)
    with pytest.raises(DivergenceError, match=r"3 updates in a row, up to update 1 at 9 env"):
        run.run()
    assert run.calls == []


class Gate:
    """Holds an environment inside its step number `at` until it is opened."""

    def __init__(self, at: int) -> None:
        self._at = at
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, step: int) -> None:
        if step == self._at:
            self.reached.set()
            assert self.opened.wait(LIMIT_SECONDS)

    def environments(self) -> VectorEnvironment:
        return vectorised(lambda: Calling(self))


def test_a_step_that_is_taken_while_the_run_stops_is_waited_for_and_counted() -> None:
    gate = Gate(at=13)
    parts = acting_parts(
        config_of(run={"total_steps": 1_000}), gate.environments(), in_one_thread=False
    )
    run, acting = Run(parts), parts.acting
    asked = threading.Event()

    def current_step() -> int:
        if run.stop.is_set():
            asked.set()
            acting.settle(seconds=LIMIT_SECONDS)
        return acting.env_steps

    actor = Background(acting.run)
    learner = Background(lambda: parts.learner.run(run.stop, current_step, run.policy))
    assert gate.reached.wait(LIMIT_SECONDS)
    run.stop.set()
    assert asked.wait(LIMIT_SECONDS)
    gate.opened.set()
    learner.result()
    actor.result()
    assert acting.env_steps == 13
    assert run.calls[-1] == ("save", 13)
    assert len(parts.replay) == 13


def test_a_step_that_never_returns_is_not_waited_for_for_ever() -> None:
    gate = Gate(at=3)
    parts = acting_parts(config_of(), gate.environments(), in_one_thread=False)
    actor = Background(parts.acting.run)
    assert gate.reached.wait(LIMIT_SECONDS)
    parts.context.stop_event.set()
    Background(lambda: parts.acting.settle(seconds=0.05)).result()
    assert parts.acting.env_steps == 2
    gate.opened.set()
    actor.result()
    assert parts.acting.env_steps == 3
