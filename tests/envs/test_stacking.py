"""Frame stacks: the first frame fills them, ends keep their history, nothing is shared."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from oakemu_rl.core.errors import UnsupportedEnvironmentError
from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.envs.stacking import stack_frames
from tests.envs.counting import MODES, vectorised


class Frames(gymnasium.Env[Any, Any]):
    """Shows the given numbers in turn, each as an observation of the space filled with it."""

    def __init__(
        self, *numbers: int, space: spaces.Space[Any] | None = None, reuses_array: bool = False
    ) -> None:
        self.observation_space = space or spaces.Box(0, 255, (2, 2), np.uint8)
        self.action_space = spaces.Discrete(2)
        self._numbers = numbers
        self._reused = np.zeros((2, 2), np.uint8) if reuses_array else None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._step = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._step += 1
        over = self._step == len(self._numbers) - 1
        return self._observe(), 0.0, over, False, {}

    def _observe(self) -> Any:
        number = self._numbers[self._step]
        if isinstance(self.observation_space, spaces.Discrete):
            return number
        if isinstance(self.observation_space, spaces.Dict):
            return {"screen": np.full((2, 3, 3), number, np.uint8), "keys": number % 2}
        if self._reused is not None:
            self._reused[:] = number
            return self._reused
        assert self.observation_space.shape is not None
        return np.full(self.observation_space.shape, number, self.observation_space.dtype)


def stacked(*numbers: int, frames: int = 4, **settings: Any) -> gymnasium.Env[Any, Any]:
    return stack_frames(Frames(*numbers, **settings), frames, environment="X-v0")


def shown(stack: Any) -> list[int]:
    return [int(frame.flat[0]) for frame in stack]


def test_the_first_frame_fills_the_stack() -> None:
    stack, _ = stacked(7, 8).reset()
    assert stack.shape == (4, 2, 2)
    assert stack.dtype == np.uint8
    assert shown(stack) == [7, 7, 7, 7]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("reuses_array", [False, True])
def test_the_last_stack_of_an_episode_keeps_its_history(mode: Any, reuses_array: bool) -> None:
    environment = vectorised(partial(stacked, 4, 5, 6, 7, reuses_array=reuses_array), mode=mode)
    environment.reset([0])
    steps = [environment.step(np.array([0])) for _ in range(3)]
    assert [shown(step.next_observations[0]) for step in steps] == [
        [4, 4, 4, 5],
        [4, 4, 5, 6],
        [4, 5, 6, 7],
    ]
    if not steps[-1].valid.all() or mode.name != "NEXT_STEP":
        assert shown(environment.observations[0]) == [4, 4, 4, 4]


def test_a_stack_after_a_reset_knows_nothing_of_the_episode_before() -> None:
    env = stacked(4, 5, 6, 7)
    env.reset()
    for _ in range(3):
        env.step(0)
    stack, _ = env.reset()
    assert shown(stack) == [4, 4, 4, 4]


def test_editing_a_stack_does_not_change_the_next() -> None:
    env = stacked(1, 2, 3, 4)
    stack, _ = env.reset()
    stack[:] = 99
    stack, *_ = env.step(0)
    assert shown(stack) == [1, 1, 1, 2]
    stack[:] = 99
    stack, *_ = env.step(0)
    assert shown(stack) == [1, 1, 2, 3]


@pytest.mark.parametrize(
    ("space", "shape", "dtype"),
    [
        (spaces.Box(0, 255, (2, 3), np.uint8), (4, 2, 3), "uint8"),
        (spaces.Box(0, 255, (2, 5, 3), np.uint8), (12, 2, 5), "uint8"),
        (spaces.Box(0, 255, (2, 5, 6), np.uint8), (8, 5, 6), "uint8"),
        (spaces.Box(0, 9, (5,), np.float32), (20,), "float32"),
        (spaces.Discrete(9), (36,), "float32"),
    ],
    ids=str,
)
def test_stacks_of_each_space_have_their_shape(
    space: spaces.Space[Any], shape: tuple[int, ...], dtype: str
) -> None:
    environment = vectorised(partial(stacked, 4, 5, 6, space=space))
    assert environment.observation_spec == TensorSpec(shape=shape, dtype=dtype)
    environment.reset([0])
    step = environment.step(np.array([0]))
    assert isinstance(step.next_observations, np.ndarray)
    assert step.next_observations.shape == (1, *shape)


def test_stacked_vectors_stand_one_after_the_other_the_oldest_first() -> None:
    env = stacked(1, 2, frames=2, space=spaces.Box(0, 9, (3,), np.float32))
    env.reset()
    stack, *_ = env.step(0)
    np.testing.assert_array_equal(stack, [1, 1, 1, 2, 2, 2])


def test_each_entry_of_a_mapping_is_stacked() -> None:
    space = spaces.Dict(
        {"screen": spaces.Box(0, 255, (2, 3, 3), np.uint8), "keys": spaces.Discrete(2)}
    )
    env = stacked(0, 1, frames=2, space=space)
    env.reset()
    stack, *_ = env.step(0)
    assert stack["screen"].shape == (6, 2, 3)
    np.testing.assert_array_equal(stack["keys"], [1, 0, 0, 1])
    assert env.observation_space.contains(stack)


def test_a_space_that_cannot_be_trained_on_is_refused() -> None:
    with pytest.raises(UnsupportedEnvironmentError, match="'X-v0'"):
        stacked(1, 2, space=spaces.Text(3))
