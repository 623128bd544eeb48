"""An environment that goes wrong at a known step; importing this module registers `Faulty-v0`."""

import signal
import threading
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

ID = "tests.experiments.faulty:Faulty-v0"
EPISODE_STEPS = 20
ACTIONS = 3
HANGING = "the environment hangs now"


class Faulty(gymnasium.Env[Any, Any]):
    """Observes how far its episode of 20 steps is; the reward is 1 for the action 1, else 0.

    An environment that was reset with the seed `seed` does `fault` in its step number `at` from
    there, counted over episodes; every other one is faultless. All print where `prints`.
    """

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Discrete(ACTIONS)

    def __init__(
        self, *, fault: str = "none", seed: int = -1, at: int = 5, prints: bool = False
    ) -> None:
        self._fault = fault
        self._seed = seed
        self._at = at
        self._prints = prints
        self._chosen = False
        self._steps = 0
        self._in_episode = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed == self._seed:
            self._chosen = True
            self._steps = 0
        self._in_episode = 0
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self._prints:
            print("chatter")  # noqa: T201
        self._steps += 1
        self._in_episode += 1
        reward = float(action == 1)
        observation = self._observation()
        if self._is_due("raise"):
            raise ValueError("boom")
        if self._is_due("hang"):
            print(HANGING, flush=True)  # noqa: T201
            threading.Event().wait()
        if self._is_due("interrupt"):
            signal.raise_signal(signal.SIGINT)
        if self._is_due("reward"):
            reward = float("nan")
        if self._is_due("observation"):
            observation[1] = np.inf
        ended = self._in_episode == EPISODE_STEPS
        info = self._info() | ({"is_success": action == 1} if ended else {})
        return observation, reward, ended, False, info

    def action_masks(self) -> np.ndarray[Any, Any]:
        return self._mask(empty="no legal action", misshapen="mask of a wrong shape")

    def _info(self) -> dict[str, Any]:
        if not self._fault.startswith("info"):
            return {}
        mask = self._mask(empty="info without legal action", misshapen="info mask of a wrong shape")
        return {"action_mask": mask}

    def _mask(self, *, empty: str, misshapen: str) -> np.ndarray[Any, Any]:
        if self._is_due(empty):
            return np.zeros(ACTIONS, dtype=np.int8)
        if self._is_due("first alone"):
            return np.array([1, 0, 0], dtype=np.int8)
        return np.ones(ACTIONS + self._is_due(misshapen), dtype=np.int8)

    def _observation(self) -> np.ndarray[Any, Any]:
        return np.array([self._in_episode / EPISODE_STEPS, 1.0], dtype=np.float32)

    def _is_due(self, fault: str) -> bool:
        return self._chosen and self._fault == fault and self._steps == self._at


gymnasium.register("Faulty-v0", entry_point=Faulty)
