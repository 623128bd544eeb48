"""Actor and learner together: in two threads, and in one."""

import threading
from typing import Any

import pytest
import torch

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.supervision import Supervisor
from tests.training.parts import Parts, acting_parts, configuration

ROLLOUTS = 12


def cart_pole(**optimisation: Any) -> Parts:
    """Twelve rollouts of CartPole."""
    config = configuration(
        environment={"id": "CartPole-v1", "count": 4},
        rollout={"steps": 16},
        optimisation={"minibatch_size": 32, "ppo_epochs": 2} | optimisation,
        run={"total_steps": ROLLOUTS * 64, "seed": 1},
    )
    return acting_parts(config, make_vector_environment(config.environment, count=4))


def train(parts: Parts, *, lockstep: bool) -> list[int]:
    """Train to the end; returns the steps at which the run was saved."""
    saved: list[int] = []
    stop = parts.context.stop_event
    handshake = RolloutHandshake(producer=parts.acting.produce if lockstep else None)
    policy = CheckpointPolicy(save=saved.append, every_steps=64)
    with Supervisor(stop) as supervisor:
        if not lockstep:
            supervisor.start("actor", lambda: parts.acting.run(handshake))
        supervisor.start(
            "learner",
            lambda: parts.learner.run(stop, lambda: parts.acting.env_steps, handshake, policy),
        )
        supervisor.watch(until="learner")
    left = {thread.name for thread in threading.enumerate()}
    assert left.isdisjoint({"actor", "learner"})
    return saved


@pytest.mark.parametrize("lockstep", [False, True])
def test_every_rollout_is_collected_learned_from_and_saved_at_a_step_of_its_own(
    lockstep: bool,
) -> None:
    parts = cart_pole()
    saved = train(parts, lockstep=lockstep)
    assert parts.acting.env_steps == ROLLOUTS * 64
    assert parts.learner.rollouts_collected + parts.learner.dropped_rollouts == ROLLOUTS
    assert parts.learner.iterations == 4 * parts.learner.rollouts_collected
    assert saved == [*range(64, 64 * ROLLOUTS + 1, 64), 64 * ROLLOUTS]


def test_in_one_thread_the_same_seed_makes_the_same_weights() -> None:
    weights = []
    for _ in range(2):
        parts = cart_pole()
        train(parts, lockstep=True)
        assert parts.learner.dropped_rollouts == 0
        weights.append(torch.cat([each.flatten() for each in parts.model.model.parameters()]))
    assert torch.equal(weights[0], weights[1])


@pytest.mark.parametrize("lockstep", [False, True])
def test_a_learner_that_diverges_ends_the_actor_too(lockstep: bool) -> None:
    parts = cart_pole(max_bad_updates=3)
    parts.model.model.value_head.bias.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(DivergenceError, match="3 updates in a row") as raised:
        train(parts, lockstep=lockstep)
    assert raised.value.__notes__ == ["raised in the learner thread"]
