"""Actor and learner together: in two threads, and in one."""

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pytest

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.core.errors import DivergenceError, WorkerError
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.runtime.supervision import Supervisor
from tests.envs.counting import vectorised
from tests.runtime.background import LIMIT_SECONDS
from tests.training.dqn.parts import Parts, acting_parts, config_of, noise_of
from tests.training.worlds import Calling

STEPS = 600
RAINBOW: dict[str, dict[str, Any]] = {
    "model": {"dueling": True, "noisy": True, "atoms": 11},
    "replay": {"kind": "prioritised", "n_step": 3},
}


def merged(options: dict[str, dict[str, Any]], **more: dict[str, Any]) -> dict[str, Any]:
    return {name: {**options.get(name, {}), **more.get(name, {})} for name in options | more}


def cart_pole(*, lockstep: bool, options: dict[str, dict[str, Any]] | None = None) -> Parts:
    """600 steps of four CartPoles, and an update for every four of them."""
    config = config_of(
        **merged(
            options or {},
            environment={"id": "CartPole-v1", "count": 4},
            replay={"capacity": 512, "warm_up_steps": 100},
            optimisation={"steps_per_update": 4.0, "target_update_every": 20},
            run={"total_steps": STEPS, "seed": 1},
        )
    )
    environments = make_vector_environment(config.environment, count=4)
    return acting_parts(config, environments, in_one_thread=lockstep)


def calling(at_step: Callable[[int], None]) -> Parts:
    """Endless, in two threads."""
    config = config_of(run={"total_steps": 1_000_000_000})
    return acting_parts(config, vectorised(lambda: Calling(at_step)), in_one_thread=False)


def train(parts: Parts, *, lockstep: bool, patience: float = LIMIT_SECONDS) -> list[int]:
    """Train to the end; returns the steps at which the run was saved."""
    saved: list[int] = []
    stop, acting = parts.context.stop_event, parts.acting
    policy = CheckpointPolicy(save=saved.append, every_steps=200)

    def step_and_count() -> int:
        if not (acting.finished or stop.is_set()):
            acting.step()
        return acting.env_steps

    current_step = step_and_count if lockstep else lambda: acting.env_steps
    with Supervisor(stop, heartbeat_seconds=patience, grace_seconds=patience) as supervisor:
        if not lockstep:
            supervisor.start("actor", acting.run)
        supervisor.start("learner", lambda: parts.learner.run(stop, current_step, policy))
        supervisor.watch(until="learner")
    left = {thread.name for thread in threading.enumerate()}
    assert left.isdisjoint({"actor", "learner"})
    return saved


@pytest.mark.parametrize("lockstep", [False, True])
@pytest.mark.parametrize("options", [{}, RAINBOW], ids=["plain", "rainbow"])
def test_all_steps_are_taken_all_updates_made_and_the_last_one_is_saved(
    options: dict[str, dict[str, Any]], lockstep: bool
) -> None:
    parts = cart_pole(lockstep=lockstep, options=options)
    saved = train(parts, lockstep=lockstep)
    assert parts.acting.env_steps == STEPS
    assert parts.learner.iterations == (STEPS - 100) // 4
    assert parts.learner.target_updates == parts.learner.iterations // 20
    assert saved[-1] == STEPS
    if lockstep:
        assert saved == [200, 400, 600, 600]


@pytest.mark.parametrize("lockstep", [False, True])
def test_a_learner_that_diverges_ends_the_actor_too(lockstep: bool) -> None:
    parts = cart_pole(lockstep=lockstep, options={"optimisation": {"max_bad_updates": 3}})
    weight = next(parts.model.model.action_head.parameters())
    weight.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(DivergenceError, match="3 updates in a row") as raised:
        train(parts, lockstep=lockstep)
    assert raised.value.__notes__ == ["raised in the learner thread"]


def test_what_the_environment_raises_ends_the_learner_too() -> None:
    def boom(step: int) -> None:
        if step == 50:
            raise ValueError("boom")

    with pytest.raises(ValueError, match=r"^boom") as raised:
        train(calling(boom), lockstep=False)
    notes = "\n".join(raised.value.__notes__)
    assert "raised in the actor thread" in notes
    assert "raised in environment 0 of " in notes


def test_what_the_learner_raises_ends_the_actor_too() -> None:
    parts = calling(lambda _: None)

    def boom(*_: Any) -> None:
        raise ValueError("boom")

    parts.model.model.register_forward_pre_hook(boom)
    with pytest.raises(ValueError, match=r"^boom") as raised:
        train(parts, lockstep=False)
    assert raised.value.__notes__ == ["raised in the learner thread"]


def test_an_environment_that_hangs_is_named() -> None:
    opened = threading.Event()

    def hang(step: int) -> None:
        if step == 50:
            assert opened.wait(4 * LIMIT_SECONDS)

    told = r"^actor: silent for .* it hangs and was left behind"
    with ExitStack() as at_the_end:
        at_the_end.callback(opened.set)
        with pytest.raises(WorkerError, match=told):
            train(calling(hang), lockstep=False, patience=0.5)


def test_noisy_weights_are_learned_from_under_noise_and_acted_by_under_other_noise() -> None:
    parts = cart_pole(lockstep=False, options={"model": {"noisy": True}})
    train(parts, lockstep=False)
    found = [noise_of(model) for model in (parts.model.model, parts.target, parts.acting_model)]
    assert all(bool(each.any()) for each in found)
    assert len({tuple(each.tolist()) for each in found}) == 3
