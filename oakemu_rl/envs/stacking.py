"""Stacking the latest observations of one environment, on Gymnasium's own wrapper."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import Env, Space, spaces
from gymnasium.wrappers import FrameStackObservation

from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.envs.spaces import Array, Batch, map_batch, observation_conversion, ready_box


def stack_frames(env: Env[Any, Any], frames: int, *, environment: str) -> Env[Any, Any]:
    """`env` with its latest `frames` observations as one, the oldest first.

    Images become [frames * C, H, W], vectors [frames * F]. After a reset the first observation
    fills the stack, and an end's last observation keeps its history. Each stack is an array of its
    own.

    Raises:
        UnsupportedEnvironmentError: the observation space is of a kind that cannot be trained on.
    """
    single = _SingleObservations(env, environment=environment)
    return _FoldedStack(FrameStackObservation(single, frames))


class _SingleObservations(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Observations as the model takes them, in arrays that the environment does not reuse."""

    def __init__(self, env: Env[Any, Any], *, environment: str) -> None:
        super().__init__(env)
        self._conversion = observation_conversion(env.observation_space, environment=environment)
        spec = self._conversion.spec
        if isinstance(spec, TensorSpec):
            self.observation_space = ready_box(spec)
        else:
            self.observation_space = spaces.Dict({name: ready_box(spec[name]) for name in spec})

    def observation(self, observation: Any) -> Batch:
        batch = self._conversion.convert(map_batch(_batch_of_one, observation))
        return map_batch(_only_row, batch)


class _FoldedStack(gymnasium.ObservationWrapper[Any, Any, Any]):
    """Stacks [S, C, H, W] and [S, F] folded to [S * C, H, W] and [S * F]."""

    def __init__(self, env: Env[Any, Any]) -> None:
        super().__init__(env)
        stacked = env.observation_space
        if isinstance(stacked, spaces.Dict):
            self.observation_space = spaces.Dict(
                {name: _folded_box(part) for name, part in stacked.spaces.items()}
            )
        else:
            self.observation_space = _folded_box(stacked)

    def observation(self, observation: Any) -> Batch:
        return map_batch(_folded, observation)


def _folded_box(stack: Space[Any]) -> spaces.Box:
    assert isinstance(stack, spaces.Box)
    return ready_box(TensorSpec(shape=_folded(stack.low).shape, dtype=stack.dtype.name))


def _batch_of_one(observation: Any) -> Array:
    return np.asarray(observation)[np.newaxis]


def _only_row(batch: Array) -> Array:
    row: Array = batch[0]
    return row


def _folded(stack: Array) -> Array:
    return stack.reshape(-1, *stack.shape[2:])
