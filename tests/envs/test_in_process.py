"""Environments in this process whose returns are odd, and still mean something."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from oakemu_rl.envs.in_process import InProcessEnvironments
from oakemu_rl.envs.vector import VectorEnvironment


class Odd(gymnasium.Env[Any, Any]):
    """Gives its reward as an array of one, and arrays of changing size in its info."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._steps = seed or 0
        return np.zeros(2, np.float32), {"seen": np.zeros(self._steps)}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._steps += 1
        reward = np.array([0.5 * self._steps])
        return np.zeros(2, np.float32), reward, False, False, {"seen": np.zeros(self._steps)}


class Untidy(gymnasium.Env[Any, Any]):
    """Gives what it is told to as its observation, in a space of two floats."""

    def __init__(self, observation: Any) -> None:
        self.observation_space = spaces.Box(0.0, 9.0, (2,), np.float32)
        self.action_space = spaces.Discrete(2)
        self._observation = observation

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        return self._observation, {}


@pytest.mark.parametrize(
    "observation", [np.array([1.0, 2.0], np.float32), np.array([1.0, 2.0]), [1, 2], (1.0, 2.0)]
)
def test_observations_of_another_kind_become_what_the_space_says(observation: Any) -> None:
    batch, _ = InProcessEnvironments([Untidy(observation), Untidy(observation)]).reset()
    assert batch.dtype == np.float32
    assert batch.tolist() == [[1.0, 2.0], [1.0, 2.0]]


@pytest.mark.parametrize("observation", [np.ones(1, np.float32), np.ones((2, 1), np.float32), 1.0])
def test_an_observation_of_another_shape_is_refused(observation: Any) -> None:
    with pytest.raises(ValueError, match=r"shape|dimension"):
        InProcessEnvironments([Untidy(observation)]).reset()


def test_a_reward_that_is_an_array_of_one_is_its_number() -> None:
    environments = VectorEnvironment(InProcessEnvironments([Odd(), Odd()]))
    environments.reset([1, 3])
    step = environments.step(np.array([0, 1]))
    assert step.rewards.tolist() == [1.0, 2.0]
    assert step.rewards.dtype == np.float32
