"""Small environments for the tests of training. `Counting` is that of the environments' tests."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

MASKED_ID = "oakemu-tests/Masked-v0"
ACTIONS = 5


class Masked(gymnasium.Env[Any, Any]):
    """Allows some of five actions at random, anew in each state; an illegal one raises.

    The observation is the mask and a random number; the reward is the action. An episode has
    `length` steps and is a success if its last action is even. All chance comes from the seed.
    """

    def __init__(self, length: int = 20) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (ACTIONS + 1,), np.float32)
        self.action_space = spaces.Discrete(ACTIONS)
        self._length = length
        self._count = 0
        self._mask = np.ones(ACTIONS, dtype=np.bool_)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._count = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self._mask[action]:
            raise ValueError(f"action {action} is illegal, legal are {np.flatnonzero(self._mask)}")
        self._count += 1
        ended = self._count == self._length
        info = {"is_success": action % 2 == 0} if ended else {}
        return self._observe(), float(action), ended, False, info

    def action_masks(self) -> np.ndarray[Any, Any]:
        return self._mask

    def _observe(self) -> Any:
        self._mask = self.np_random.random(ACTIONS) < 0.4
        self._mask[self.np_random.integers(ACTIONS)] = True
        return np.append(self._mask, self.np_random.random()).astype(np.float32)


class Calling(gymnasium.Env[Any, Any]):
    """Never ends; calls `at_step` with the number of each step, from 1."""

    def __init__(self, at_step: Callable[[int], None] = lambda _: None) -> None:
        self.observation_space = spaces.Box(0.0, np.inf, (1,), np.float32)
        self.action_space = spaces.Discrete(3)
        self._at_step = at_step
        self._count = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._count += 1
        self._at_step(self._count)
        observation = np.full(1, self._count % 4, np.float32)
        return observation, np.float64(1.1), False, False, {}


if MASKED_ID not in gymnasium.registry:
    gymnasium.register(MASKED_ID, entry_point=Masked)
