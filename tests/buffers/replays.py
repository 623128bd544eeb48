"""Replays of a single environment or a few, whose observations are plain numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.core.transitions import TransitionBatch

NUMBER = TensorSpec(shape=(1,), dtype="float32")


def layout(capacity: int, environments: int = 1, **changes: Any) -> dict[str, Any]:
    fields = {
        "capacity": capacity,
        "environments": environments,
        "observation_spec": NUMBER,
        "action_count": 3,
    }
    return fields | changes


def replay_of(capacity: int, environments: int = 1, **changes: Any) -> ReplayBuffer:
    return ReplayBuffer(**layout(capacity, environments, **changes))


def prioritised_of(
    capacity: int, *, alpha: float = 1.0, epsilon: float = 1e-9, **changes: Any
) -> PrioritizedReplayBuffer:
    return PrioritizedReplayBuffer(alpha=alpha, epsilon=epsilon, **layout(capacity, **changes))


def numbers(values: Sequence[float]) -> np.ndarray:
    """Observations [N, 1]."""
    return np.array(values, dtype=np.float32)[:, np.newaxis]


def step_of(values: Sequence[float], **changes: Any) -> ReplayStep:
    """A step of all environments that leads to the observations `values`, of reward 1."""
    flags = np.zeros(len(values), dtype=np.bool_)
    fields: dict[str, Any] = {
        "actions": np.zeros(len(values), dtype=np.int64),
        "rewards": np.ones(len(values), dtype=np.float32),
        "terminated": flags,
        "truncated": flags,
        "valid": ~flags,
        "next_observations": numbers(values),
    }
    return ReplayStep(**(fields | changes))


def play(replay: ReplayBuffer, frames: Sequence[float], *, end: str = "", **changes: Any) -> None:
    """An episode of one environment through these observations; the last step may end it."""
    replay.begin(observations=numbers(frames[:1]))
    for frame in frames[1:-1]:
        replay.add(step_of([frame], **changes))
    ended = {} if not end else {end: np.ones(1, dtype=np.bool_)}
    replay.add(step_of(frames[-1:], **ended, **changes))


def sampled(replay: ReplayBuffer, count: int | None = None, seed: int = 0) -> TransitionBatch:
    """A batch, by default of as many rows as there are items."""
    generator = np.random.default_rng(seed)
    return replay.sample(len(replay) if count is None else count, generator=generator)


def rows_of(replay: ReplayBuffer, draws: int = 50) -> dict[float, dict[str, Any]]:
    """The row of each item, as plain numbers, by the newest number of its observation."""
    found: dict[float, dict[str, Any]] = {}
    for seed in range(draws):
        batch = sampled(replay, seed=seed)
        seen, following = batch.observations, batch.next_observations
        assert isinstance(seen, Tensor)
        assert isinstance(following, Tensor)
        for row in range(len(batch.indices)):
            found[float(seen[row, -1])] = {
                "stack": seen[row].tolist(),
                "next": following[row].tolist(),
                "rewards": batch.rewards[row].tolist(),
                "length": int(batch.lengths[row]),
                "terminated": bool(batch.terminated[row]),
            }
    return found
