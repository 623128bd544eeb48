"""The vector adapter: what it refuses, and which environment it blames."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from oakemu_rl.core.errors import EnvironmentFaultError, UnsupportedEnvironmentError
from oakemu_rl.envs.vector import VectorEnvironment
from tests.envs.counting import MODES, Counting, vectorised


class Undeclared(SyncVectorEnv):
    """Says what it is told to of its autoreset mode."""

    def __init__(self, declared: object) -> None:
        super().__init__([Counting])
        self.metadata = {} if declared is None else {"autoreset_mode": declared}


@pytest.mark.parametrize("declared", [None, "sometimes", 3])
def test_an_absent_or_unknown_mode_is_refused_at_construction(declared: object) -> None:
    with pytest.raises(
        UnsupportedEnvironmentError, match=r"'Counting'.*allowed.*NEXT_STEP"
    ) as told:
        VectorEnvironment(Undeclared(declared))
    assert repr(declared) in str(told.value)


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_may_be_declared_by_its_value(mode: AutoresetMode) -> None:
    assert VectorEnvironment(Undeclared(mode.value)).count == 1


class SilentEnds(SyncVectorEnv):
    """Declares SAME_STEP but keeps the last observations to itself."""

    def step(self, actions: Any) -> Any:
        *results, infos = super().step(actions)
        infos.pop("final_obs", None)
        return (*results, infos)


def test_a_missing_last_observation_is_a_fault() -> None:
    envs = SilentEnds([partial(Counting, 1)], autoreset_mode=AutoresetMode.SAME_STEP)
    environment = VectorEnvironment(envs)
    environment.reset([0])
    with pytest.raises(EnvironmentFaultError, match=r"'Counting'.*final_obs.*SAME_STEP"):
        environment.step(np.array([0]))


class Faulty(Counting):
    """Gives NaN where it is told to, on its second step."""

    def __init__(self, where: str, value: float) -> None:
        super().__init__()
        self._where = where
        self._value = value

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        if self._count == 2 and self._where == "reward":
            reward = self._value
        if self._count == 2 and self._where == "observation":
            observation[0] = self._value
        return observation, reward, *rest


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("where", ["reward", "observation"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_numbers_that_are_not_finite_are_a_fault_with_place_and_step(
    mode: AutoresetMode, where: str, value: float
) -> None:
    if where == "observation" and value == 1e300:
        value = np.inf
    environment = vectorised(Counting, partial(Faulty, where, value), mode=mode)
    environment.reset([0, 1])
    environment.step(np.array([0, 0]))
    with pytest.raises(
        EnvironmentFaultError, match=rf"environment 1 of 'Counting'.*{where}.*at step 2"
    ):
        environment.step(np.array([0, 0]))


def test_a_float64_observation_beyond_float32_is_a_fault() -> None:
    space = spaces.Box(-np.inf, np.inf, (1,), np.float64)

    class Huge(Counting):
        def _observe(self) -> Any:
            return np.array([1e300])

    environment = vectorised(partial(Huge, space=space))
    with pytest.raises(EnvironmentFaultError, match="NaN or an infinite number"):
        environment.reset([0])


class FaultyEnd(Counting):
    """Ends with NaN."""

    def _observe(self) -> Any:
        observation = super()._observe()
        return np.full(1, np.nan, np.float32) if self._count == self._length else observation


def test_the_fault_of_a_last_observation_names_its_environment() -> None:
    environment = vectorised(
        partial(Counting, 2),
        partial(Counting, 5),
        partial(FaultyEnd, 2),
        mode=AutoresetMode.SAME_STEP,
    )
    environment.reset([0, 1, 2])
    environment.step(np.zeros(3, dtype=np.int64))
    with pytest.raises(EnvironmentFaultError, match="environment 2 of"):
        environment.step(np.zeros(3, dtype=np.int64))


@pytest.mark.parametrize(
    "actions", [np.array([0]), np.array([[0, 0]]), np.array([0.0, 0.0]), np.array([True, False])]
)
def test_other_actions_are_refused(actions: np.ndarray[Any, Any]) -> None:
    environment = vectorised(Counting, Counting)
    environment.reset([0, 1])
    with pytest.raises(ValueError, match="actions: expected 2 integers"):
        environment.step(actions)


def test_a_missing_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="seeds: expected 2, one an environment, got 1"):
        vectorised(Counting, Counting).reset([0])


def test_observations_before_the_first_reset_are_refused() -> None:
    with pytest.raises(RuntimeError, match=r"reset\(\) must be called"):
        _ = vectorised(Counting).observations
