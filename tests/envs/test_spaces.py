"""Spaces: what each kind becomes, and which are refused."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import Space, spaces
from hypothesis import given
from hypothesis import strategies as st

from oakemu_rl.core.errors import UnsupportedEnvironmentError
from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.envs.spaces import (
    action_names,
    action_spec,
    first_action,
    observation_conversion,
)
from tests.envs.counting import Counting


def pixels(*shape: int) -> spaces.Box:
    return spaces.Box(0, 255, shape, np.uint8)


def floats(*shape: int) -> spaces.Box:
    return spaces.Box(-1, 1, shape, np.float32)


@pytest.mark.parametrize(
    ("space", "shape", "dtype"),
    [
        (floats(4), (4,), "float32"),
        (floats(), (1,), "float32"),
        (spaces.Box(-1, 1, (4,), np.float64), (4,), "float32"),
        (spaces.Box(0, 7, (4,), np.int64), (4,), "float32"),
        (spaces.Box(0, 1, (4,), np.bool_), (4,), "float32"),
        (pixels(128), (128,), "uint8"),
        (spaces.Box(0, 9, (128,), np.uint8), (128,), "float32"),
        (pixels(84, 96, 3), (3, 84, 96), "uint8"),
        (pixels(84, 96, 1), (1, 84, 96), "uint8"),
        (pixels(84, 96, 4), (4, 84, 96), "uint8"),
        (pixels(84, 96), (1, 84, 96), "uint8"),
        (pixels(4, 84, 96), (4, 84, 96), "uint8"),
        (pixels(1, 48, 64), (1, 48, 64), "uint8"),
        (pixels(4, 84, 96, 3), (12, 84, 96), "uint8"),
        (pixels(4, 2, 84, 96), (8, 84, 96), "uint8"),
        (floats(84, 96, 3), (3, 84, 96), "float32"),
        (spaces.Box(0, 1, (10, 10, 6), np.uint8), (10, 10, 6), "float32"),
        (spaces.Discrete(5), (5,), "float32"),
        (spaces.MultiBinary(6), (6,), "float32"),
    ],
    ids=str,
)
def test_a_space_becomes_this_spec(space: Space[Any], shape: tuple[int, ...], dtype: str) -> None:
    conversion = observation_conversion(space, environment="X-v0")
    assert conversion.spec == TensorSpec(shape=shape, dtype=dtype)
    batch = np.stack([np.asarray(space.sample()) for _ in range(3)])
    converted = conversion.convert(batch)
    assert isinstance(converted, np.ndarray)
    assert converted.shape == (3, *shape)
    assert converted.dtype == dtype
    assert converted.flags.c_contiguous
    assert not np.shares_memory(converted, batch)


def convert(space: Space[Any], batch: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    converted = observation_conversion(space, environment="X-v0").convert(batch)
    assert isinstance(converted, np.ndarray)
    return converted


@given(
    stacked=st.integers(1, 4),
    height=st.integers(1, 6),
    width=st.integers(1, 6),
    channels=st.sampled_from([1, 3, 4]),
)
def test_every_pixel_goes_to_its_channel_and_place(
    stacked: int, height: int, width: int, channels: int
) -> None:
    shape = (2, stacked, height, width, channels)
    batch = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    folded = convert(pixels(*shape[1:]), batch)
    single = convert(pixels(*shape[2:]), batch[:, 0])
    for s, y, x, c in np.ndindex(stacked, height, width, channels):
        np.testing.assert_array_equal(folded[:, s * channels + c, y, x], batch[:, s, y, x, c])
        np.testing.assert_array_equal(single[:, c, y, x], batch[:, 0, y, x, c])


def test_values_are_not_scaled() -> None:
    assert convert(pixels(2, 2), np.full((1, 2, 2), 128, np.uint8)).max() == 128
    assert convert(floats(2, 2, 3), np.full((1, 2, 2, 3), 0.5, np.float32)).max() == 0.5


@pytest.mark.parametrize("start", [0, 4, -2])
def test_a_discrete_value_becomes_one_hot(start: int) -> None:
    converted = convert(spaces.Discrete(3, start=start), np.array([start, start + 2]))
    np.testing.assert_array_equal(converted, [[1, 0, 0], [0, 0, 1]])


def test_a_mapping_becomes_a_mapping() -> None:
    space = spaces.Dict({"screen": pixels(8, 9, 3), "keys": spaces.Discrete(2)})
    conversion = observation_conversion(space, environment="X-v0")
    assert conversion.spec == {
        "keys": TensorSpec(shape=(2,), dtype="float32"),
        "screen": TensorSpec(shape=(3, 8, 9), dtype="uint8"),
    }
    converted = conversion.convert(
        {"screen": np.zeros((5, 8, 9, 3), np.uint8), "keys": np.zeros(5, np.int64)}
    )
    assert isinstance(converted, dict)
    assert {name: array.shape for name, array in converted.items()} == {
        "keys": (5, 2),
        "screen": (5, 3, 8, 9),
    }


@pytest.mark.parametrize(
    "space",
    [
        spaces.Tuple([spaces.Discrete(2)]),
        spaces.Text(5),
        spaces.MultiDiscrete([2, 3]),
        floats(2, 2, 2, 2, 2),
        spaces.Box(-1, 1, (0,)),
        spaces.Dict({}),
        spaces.Dict({"inner": spaces.Dict({"x": floats(2)})}),
    ],
    ids=str,
)
def test_other_observations_are_refused_with_name_space_and_what_is_allowed(
    space: Space[Any],
) -> None:
    with pytest.raises(UnsupportedEnvironmentError) as told:
        observation_conversion(space, environment="X-v0")
    message = str(told.value)
    assert "'X-v0'" in message
    assert "allowed is Box" in message
    assert "\n" not in message


def test_a_refused_entry_is_named() -> None:
    space = spaces.Dict({"good": floats(2), "words": spaces.Text(5)})
    with pytest.raises(UnsupportedEnvironmentError, match=r"Text.*in its entry 'words'"):
        observation_conversion(space, environment="X-v0")


def test_the_message_of_a_large_space_stays_one_short_line() -> None:
    space = spaces.Box(np.arange(32.0).reshape(2, 2, 2, 2, 2), np.inf, dtype=np.float64)
    with pytest.raises(UnsupportedEnvironmentError) as told:
        observation_conversion(space, environment="X-v0")
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500


def test_unnamed_actions_are_called_by_number() -> None:
    assert action_spec(spaces.Discrete(3, start=7), environment="X-v0").names == ("0", "1", "2")


def test_names_are_taken_from_the_environment() -> None:
    class Named(Counting):
        action_names = ("wait", "left", "right")

    class Meanings(Counting):
        def get_action_meanings(self) -> list[str]:
            return ["NOOP", "FIRE", "UP"]

    class Wrapped(gymnasium.Wrapper[Any, Any, Any, Any]):
        pass

    assert action_names(Wrapped(Named())) == ("wait", "left", "right")
    assert action_names(Meanings()) == ("NOOP", "FIRE", "UP")
    assert action_names(Counting()) == ()


def test_a_wrong_number_of_names_is_refused() -> None:
    with pytest.raises(
        UnsupportedEnvironmentError, match=r"'X-v0' names 1 actions \(a\) but has 2"
    ):
        action_spec(spaces.Discrete(2), environment="X-v0", names=("a",))


@pytest.mark.parametrize("space", [floats(2), spaces.MultiDiscrete([2, 2]), spaces.MultiBinary(3)])
def test_other_actions_are_refused_with_name_space_and_what_is_allowed(space: Space[Any]) -> None:
    with pytest.raises(
        UnsupportedEnvironmentError, match=r"'X-v0' has.*allowed is Discrete"
    ) as told:
        action_spec(space, environment="X-v0")
    assert type(space).__name__ in str(told.value)


@pytest.mark.parametrize("start", [0, 3])
def test_the_first_action_is_the_start_of_the_space(start: int) -> None:
    assert first_action(spaces.Discrete(2, start=start)) == start
