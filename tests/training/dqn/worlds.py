"""Environments that do what is written down, for tests of what becomes of it."""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class Scripted(gymnasium.Env[Any, Any]):
    """Gives the rewards of these episodes, one after the other, and from the first one again.

    The observation is 1 at an episode's end and 0.25 before. `ends` says how episodes end: both
    flags, or the one that is named.
    """

    def __init__(self, *episodes: Sequence[float], ends: str = "truncated") -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (1,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._episodes = episodes
        self._flags = (ends in ("terminated", "both"), ends in ("truncated", "both"))
        self._episode = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._episode = (self._episode + 1) % len(self._episodes)
        self._step = 0
        return np.full(1, 0.25, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        rewards = self._episodes[self._episode]
        self._step += 1
        last = self._step == len(rewards)
        terminated, truncated = (last and flag for flag in self._flags)
        observation = np.full(1, 1.0 if last else 0.25, np.float32)
        return observation, rewards[self._step - 1], terminated, truncated, {}
