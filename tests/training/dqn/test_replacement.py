"""A replay that is replaced while actor and learner run."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.runtime.supervision import Supervisor
from tests.envs.counting import MODES, Counting, vectorised
from tests.runtime.background import LIMIT_SECONDS
from tests.training.dqn.parts import (
    acting_parts,
    config_of,
    fill,
    learning_parts,
    replay_for,
)
from tests.training.worlds import Calling


def everything(replay: ReplayBuffer) -> TransitionBatch:
    """Rows enough to hold each item."""
    return replay.sample(len(replay), generator=np.random.default_rng(0))


def items(replay: ReplayBuffer, *, draws: int = 50) -> set[tuple[float, float, float]]:
    """Observation, reward and next observation of all that can be drawn."""
    found = set()
    for seed in range(draws):
        batch = replay.sample(len(replay), generator=np.random.default_rng(seed))
        assert isinstance(batch.observations, torch.Tensor)
        assert isinstance(batch.next_observations, torch.Tensor)
        rows = (batch.observations[:, 0], batch.rewards[:, 0], batch.next_observations[:, 0])
        found |= set(zip(*(each.tolist() for each in rows), strict=True))
    return found


def test_the_learner_samples_from_the_new_buffer_from_the_next_step_on() -> None:
    parts = learning_parts(config_of())
    fill(parts)
    assert parts.learner.step(9)
    fresh = replay_for(parts.learner.config)
    parts.learner.replace_replay_buffer(fresh)
    assert parts.learner.replay_buffer is fresh
    assert not parts.learner.step(1_000)
    parts.replay = fresh
    fill(parts, steps=8)
    assert parts.learner.step(1_000)


@pytest.mark.parametrize("mode", MODES)
def test_the_actor_writes_to_a_new_buffer_from_each_next_episode_on(mode: AutoresetMode) -> None:
    makers: list[Callable[[], Counting]] = [lambda: Counting(6), lambda: Counting(4)]
    parts = acting_parts(config_of(), vectorised(*makers, mode=mode))
    for _ in range(2):
        parts.acting.step()
    fresh = replay_for(parts.learner.config, environments=2)
    parts.learner.replace_replay_buffer(fresh)
    lengths = []
    for _ in range(10):
        parts.acting.step()
        lengths.append(len(fresh))
    # The episodes of 6 and 4 steps are in their third; NEXT_STEP takes a call for each reset.
    if mode is AutoresetMode.NEXT_STEP:
        assert lengths == [0, 0, 0, 1, 2, 4, 6, 7, 9, 11]
    else:
        assert lengths == [0, 0, 1, 2, 4, 6, 8, 10, 12, 14]
    # Each step of an episode from its first one on; nothing of those that were cut in two.
    assert items(fresh) <= {(float(n), n + 1.0, n + 1.0) for n in range(6)}
    assert len(parts.replay) == 4


def test_a_buffer_that_comes_back_holds_what_it_held_and_no_window_across_the_gap() -> None:
    config = config_of(replay={"n_step": 3})
    parts = acting_parts(config, vectorised(lambda: Counting(5)))
    first, second = parts.replay, replay_for(config)
    for _ in range(3):
        parts.acting.step()
    parts.learner.replace_replay_buffer(second)
    for _ in range(4):
        parts.acting.step()
    parts.learner.replace_replay_buffer(first)
    for _ in range(8):
        parts.acting.step()
    # Steps 1 to 3; then one whole episode, from step 11 on.
    assert (len(first), len(second)) == (3 + 5, 2)
    batch = everything(first)
    assert isinstance(batch.observations, torch.Tensor)
    start = batch.observations[:, 0]
    returns = batch.rewards.sum(dim=1)
    lengths = batch.lengths
    # Rewards count up: k steps from n on give k * n + k * (k + 1) / 2.
    assert torch.equal(returns, lengths * start + lengths * (lengths + 1) / 2)


class Ending(Calling):
    """An episode has ten steps; observation and reward are the steps taken in it."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        self._in_episode = 0
        return super().reset(seed=seed)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        super().step(action)
        self._in_episode += 1
        observation = np.full(1, self._in_episode, np.float32)
        return observation, float(self._in_episode), self._in_episode == 10, False, {}


def test_it_may_be_replaced_again_and_again_while_both_threads_run() -> None:
    config = config_of(
        replay={"capacity": 4_096, "warm_up_steps": 64},
        optimisation={"batch_size": 32, "target_update_every": 50},
        run={"total_steps": 1_000_000},
    )
    buffers = [replay_for(config) for _ in range(5)]
    filled = [threading.Event() for _ in buffers]

    def at_step(_: int) -> None:
        for buffer, event in zip(buffers, filled, strict=True):
            if len(buffer) >= 100:
                event.set()

    parts = acting_parts(config, vectorised(lambda: Ending(at_step)), in_one_thread=False)
    stop = parts.context.stop_event
    policy = CheckpointPolicy(save=lambda _: None, every_steps=1_000_000)
    with Supervisor(stop) as supervisor:
        supervisor.start("actor", parts.acting.run)
        supervisor.start(
            "learner", lambda: parts.learner.run(stop, lambda: parts.acting.env_steps, policy)
        )
        for buffer, event in zip(buffers, filled, strict=True):
            parts.learner.replace_replay_buffer(buffer)
            assert event.wait(LIMIT_SECONDS)
    assert parts.learner.iterations > 100
    for buffer in buffers:
        # Rewards tell the step in the episode, observations as well: no half histories.
        assert items(buffer, draws=3) <= {(float(n), n + 1.0, n + 1.0) for n in range(10)}
