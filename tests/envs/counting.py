"""A small environment for the tests of this folder, and a way to see all its transitions."""

from collections.abc import Callable, Sequence
from typing import Any

import attrs
import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from oakemu_rl.envs.vector import VectorEnvironment

MODES = list(AutoresetMode)


class Counting(gymnasium.Env[Any, Any]):
    """Counts its steps from 0 and ends at `length`; the reward is the count that was reached.

    `terminates` says which of the two ends it is; `reuses_array` hands out one array, changed in
    place. The mask forbids the action `count % 3`, in the info or by the method, as `masks` says.
    """

    def __init__(
        self,
        length: int = 3,
        *,
        terminates: bool = False,
        reuses_array: bool = False,
        masks: str = "",
        space: spaces.Space[Any] | None = None,
    ) -> None:
        self.observation_space = space or spaces.Box(-np.inf, np.inf, (1,), np.float32)
        self.action_space = spaces.Discrete(3)
        self._length = length
        self._terminates = terminates
        self._reuses_array = reuses_array
        self._array = np.zeros(1, dtype=np.float32)
        self._count = 0
        self._masks = masks
        if masks == "method":
            self.action_masks = self._mask

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._count = 0
        return self._observe(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._count += 1
        over = self._count == self._length
        ended = over and self._terminates, over and not self._terminates
        return self._observe(), float(self._count), *ended, self._info()

    def render(self) -> Any:
        return None

    def _observe(self) -> Any:
        if isinstance(self.observation_space, spaces.Dict):
            return {"count": np.full(1, self._count, np.float32), "parity": self._count % 2}
        self._array[0] = self._count
        return self._array if self._reuses_array else self._array.copy()

    def _mask(self) -> np.ndarray[Any, Any]:
        return np.arange(3) != self._count % 3

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask()} if self._masks == "info" else {}


def vectorised(
    *makers: Callable[[], gymnasium.Env[Any, Any]],
    mode: AutoresetMode = AutoresetMode.DISABLED,
    copy: bool = True,
) -> VectorEnvironment:
    """The adapter over these environments in this mode."""
    return VectorEnvironment(SyncVectorEnv(makers, copy=copy, autoreset_mode=mode))


@attrs.frozen
class Transition:
    """One valid step of one environment."""

    observation: float
    action: int
    reward: float
    next_observation: float
    terminated: bool
    truncated: bool


def transitions(
    environment: VectorEnvironment, calls: int, actions: Sequence[int] = (0,)
) -> list[list[Transition]]:
    """All valid steps of `calls` calls, by environment. Arrays are read after the last call only.

    An environment takes the actions in turn, one a valid step.
    """
    environment.reset(range(environment.count))
    taken = [0] * environment.count
    held = []
    for _ in range(calls):
        observations = environment.observations
        chosen = np.array([actions[count % len(actions)] for count in taken])
        step = environment.step(chosen)
        taken = [count + int(valid) for count, valid in zip(taken, step.valid, strict=True)]
        held.append((observations, chosen, step))
    return [
        [
            Transition(
                observation=float(np.ravel(observations[row])[0]),
                action=int(chosen[row]),
                reward=float(step.rewards[row]),
                next_observation=float(np.ravel(step.next_observations[row])[0]),
                terminated=bool(step.terminated[row]),
                truncated=bool(step.truncated[row]),
            )
            for observations, chosen, step in held
            if step.valid[row]
        ]
        for row in range(environment.count)
    ]
