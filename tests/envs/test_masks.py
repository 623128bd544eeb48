"""Masks: each belongs to the observation it is handed out beside."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from oakemu_rl.core.errors import EnvironmentFaultError
from tests.envs.counting import MODES, Counting, vectorised

SOURCES = ["info", "method"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", SOURCES)
def test_the_mask_is_that_of_the_observation_also_after_resets(
    mode: AutoresetMode, source: str
) -> None:
    makers = [partial(Counting, length, masks=source) for length in (3, 4, 1)]
    environment = vectorised(*makers, mode=mode)
    environment.reset([0, 1, 2])
    ended = np.zeros(3, dtype=np.bool_)
    for _ in range(24):
        assert isinstance(environment.observations, np.ndarray)
        counts = environment.observations[:, 0]
        expected = np.arange(3)[None, :] != counts[:, None] % 3
        if mode is AutoresetMode.NEXT_STEP:
            expected |= ended[:, None]
        np.testing.assert_array_equal(environment.action_masks, expected)
        step = environment.step(np.zeros(3, dtype=np.int64))
        ended = step.terminated | step.truncated


def test_without_masks_there_are_none() -> None:
    environment = vectorised(Counting)
    environment.reset([0])
    environment.step(np.array([0]))
    assert environment.action_masks is None


def test_masks_of_integers_are_taken_as_taxi_gives_them() -> None:
    environment = vectorised(partial(gymnasium.make, "Taxi-v4"))
    environment.reset([0])
    rng = np.random.default_rng(0)
    for _ in range(250):
        masks = environment.action_masks
        assert masks is not None
        assert masks.dtype == np.bool_
        before = environment.observations
        action = int(rng.choice(np.flatnonzero(masks[0])))
        step = environment.step(np.array([action]))
        assert not np.array_equal(before, step.next_observations)


class Giving(Counting):
    """Gives `given` in turn, the first with the reset; None gives nothing."""

    def __init__(self, *given: Any, by_method: bool = False) -> None:
        super().__init__(length=100, masks="")
        self._given = given
        if by_method:
            self.action_masks = lambda: given[self._count]

    def _info(self) -> dict[str, Any]:
        given = self._given[self._count]
        return {} if given is None or hasattr(self, "action_masks") else {"action_mask": given}


LEGAL = np.array([True, True, False])
WRONG = [
    (np.array([True, False]), "shape"),
    (np.array([[True, True, True]]), "shape"),
    (np.array([0.5, 1.0, 0.0]), "bools, or integers 0 and 1"),
    (np.array([2, 1, 0]), "bools, or integers 0 and 1"),
    (np.array([False, False, False]), "allows no action"),
]


@pytest.mark.parametrize(("mask", "told"), WRONG)
@pytest.mark.parametrize("by_method", [False, True])
def test_a_wrong_mask_is_a_fault_that_names_the_environment(
    mask: np.ndarray[Any, Any], told: str, by_method: bool
) -> None:
    environment = vectorised(partial(Giving, mask, by_method=by_method))
    with pytest.raises(EnvironmentFaultError, match=rf"environment 0 of 'Giving' gave.*{told}"):
        environment.reset([0])


def test_a_mask_that_stops_coming_is_a_fault() -> None:
    environment = vectorised(partial(Giving, LEGAL, LEGAL), partial(Giving, LEGAL, None))
    environment.reset([0, 1])
    with pytest.raises(
        EnvironmentFaultError, match="environment 1 of 'Giving' gave no action mask"
    ):
        environment.step(np.array([0, 0]))


def test_a_mask_that_is_missing_after_the_reset_is_a_fault() -> None:
    environment = vectorised(partial(Giving, None, LEGAL))
    environment.reset([0])
    with pytest.raises(EnvironmentFaultError, match="after a step but not after the reset"):
        environment.step(np.array([0]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("terminates", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_the_next_mask_is_that_of_the_true_next_observation(
    mode: AutoresetMode, terminates: bool, source: str
) -> None:
    makers = [
        partial(Counting, length, masks=source, terminates=terminates) for length in (3, 4, 1)
    ]
    environment = vectorised(*makers, mode=mode)
    environment.reset([0, 1, 2])
    # After its reset within the step an environment's method no longer tells of the end.
    lost = mode is AutoresetMode.SAME_STEP and source == "method"
    for _ in range(24):
        step = environment.step(np.zeros(3, dtype=np.int64))
        assert isinstance(step.next_observations, np.ndarray)
        expected = np.arange(3)[None, :] != step.next_observations % 3
        over = step.terminated | (step.truncated if lost else False)
        np.testing.assert_array_equal(step.next_action_masks, expected | over[:, None])


def test_without_masks_there_are_no_next_ones() -> None:
    environment = vectorised(partial(Counting, 1))
    environment.reset([0])
    assert environment.step(np.array([0])).next_action_masks is None


class Falling(Giving):
    """Is cut after one step."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, True, info


@pytest.mark.parametrize("mode", MODES)
def test_an_info_may_leave_the_mask_out_where_an_episode_was_cut(mode: AutoresetMode) -> None:
    environment = vectorised(partial(Falling, LEGAL, None), mode=mode)
    environment.reset([0])
    step = environment.step(np.array([0]))
    np.testing.assert_array_equal(step.next_action_masks, [[True, True, True]])


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_that_allows_nothing_where_an_episode_was_cut_is_a_fault(
    mode: AutoresetMode,
) -> None:
    environment = vectorised(partial(Falling, LEGAL, np.zeros(3, dtype=np.bool_)), mode=mode)
    environment.reset([0])
    with pytest.raises(EnvironmentFaultError, match="allows no action"):
        environment.step(np.array([0]))
