"""Named values: each belongs to the observation it is handed out beside."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.errors import UnsupportedEnvironmentError
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.envs.vector import VectorEnvironment
from tests.envs.counting import Counting


class Valued(Counting):
    """Has the value `count`, which is its observation, and `half` of it."""

    @property
    def values(self) -> Mapping[str, float]:
        return {"count": self._count, "half": self._count / 2}


def valued(*names: str, mode: AutoresetMode, env: type[Counting] = Valued) -> VectorEnvironment:
    makers: list[Any] = [partial(env, length) for length in (3, 1)]
    return VectorEnvironment(SyncVectorEnv(makers, autoreset_mode=mode), value_names=names)


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP])
def test_values_are_those_of_the_true_next_observation_and_of_the_one_to_act_on(
    mode: AutoresetMode,
) -> None:
    environment = valued("half", "count", mode=mode)
    environment.reset([0, 1])
    for _ in range(12):
        step = environment.step(np.zeros(2, dtype=np.int64))
        assert isinstance(step.next_observations, np.ndarray)
        assert isinstance(environment.observations, np.ndarray)
        seen = step.next_observations[:, 0]
        np.testing.assert_array_equal(step.next_values["count"], seen)
        np.testing.assert_array_equal(step.next_values["half"], seen / 2)
        np.testing.assert_array_equal(
            environment.values_now["count"], environment.observations[:, 0]
        )


def test_values_that_nobody_asked_for_are_not_read() -> None:
    environment = valued(mode=AutoresetMode.SAME_STEP)
    environment.reset([0, 1])
    assert environment.step(np.zeros(2, dtype=np.int64)).next_values == {}
    assert environment.values_now == {}


def test_a_value_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnsupportedEnvironmentError, match="no named value 'hight'; it has count"):
        valued("hight", mode=AutoresetMode.DISABLED)
    with pytest.raises(UnsupportedEnvironmentError, match="no named value 'count'; it has none"):
        valued("count", mode=AutoresetMode.DISABLED, env=Counting)


def test_values_of_an_end_that_is_gone_are_refused() -> None:
    with pytest.raises(UnsupportedEnvironmentError, match="resets itself within a step"):
        valued("count", mode=AutoresetMode.SAME_STEP)


def test_a_game_has_the_values_of_its_definition() -> None:
    environment = make_vector_environment(
        EnvironmentOptions(id="acorns"), count=2, value_names=["lives", "basket"]
    )
    try:
        environment.reset([0, 1])
        step = environment.step(np.array([0, 1]))
        np.testing.assert_array_equal(step.next_values["lives"], [5.0, 5.0])
        assert step.next_values["basket"][0] == environment.values(0)["basket"]
    finally:
        environment.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_the_beginnings_of_episodes_are_marked(mode: AutoresetMode) -> None:
    environment = valued(mode=mode)
    environment.reset([0, 1])
    for _ in range(12):
        step = environment.step(np.zeros(2, dtype=np.int64))
        assert isinstance(environment.observations, np.ndarray)
        np.testing.assert_array_equal(step.began, environment.observations[:, 0] == 0)
