"""From Gymnasium's spaces to specs, and from batches of observations to the arrays a model takes.

Every environment goes through here, so that whoever acts, learns or tests sees the same arrays.
Values stay as they are: images are scaled and vectors normalised in the model.

- Images are channels first. [H, W, C] with 1, 3 or 4 as its last size is turned round; a frame
  [H, W] gets one channel; frames that are stacked, [S, H, W], are channels already; [S, H, W, C]
  becomes [S * C, H, W].
- Bytes stay uint8 where the space spans 0 to 255. All else becomes float32.
- A number becomes a vector of one, a discrete value a one-hot vector.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
from gymnasium import Env, Space, spaces

from oakemu_rl.core.errors import UnsupportedEnvironmentError
from oakemu_rl.core.observations import ActionSpec, ObservationSpec, TensorSpec

Array = npt.NDArray[Any]
Batch = Array | Mapping[str, Array]
"""Observations of N environments: an array [N, ...], or arrays by name."""

CHANNEL_COUNTS = (1, 3, 4)
"""Last sizes of an image that are read as channels: grey, colour, colour with alpha."""
ALLOWED_OBSERVATIONS = "Box of up to four dimensions, Discrete, MultiBinary, or a Dict of these"


class ReadyBox(spaces.Box):
    """A box of arrays that are as the model takes them already: they are not turned round again."""


def ready_box(spec: TensorSpec) -> ReadyBox:
    """The space of arrays of this spec."""
    if spec.dtype == "uint8":
        return ReadyBox(0, 255, spec.shape, np.uint8)
    return ReadyBox(-np.inf, np.inf, spec.shape, np.float32)


@attrs.frozen(kw_only=True)
class ObservationConversion:
    """What observations look like to the model, and the way there.

    `convert` takes a batch as the environment gives it, [N, ...] of the space, and returns arrays
    of the spec's shape and dtype in memory of their own, which nothing writes to afterwards.
    """

    spec: ObservationSpec
    convert: Callable[[Any], Batch]


def map_batch(function: Callable[[Array], Array], batch: Batch) -> Batch:
    """Apply `function` to the array, or to each array of the mapping."""
    if isinstance(batch, Mapping):
        return {name: function(array) for name, array in batch.items()}
    return function(batch)


def observation_conversion(space: Space[Any], *, environment: str) -> ObservationConversion:
    """The conversion for observations of `space`.

    Raises:
        UnsupportedEnvironmentError: the space is of a kind that cannot be trained on.
    """
    if not isinstance(space, spaces.Dict):
        entry = _entry_conversion(space, environment=environment)
        return ObservationConversion(spec=entry.spec, convert=entry.convert)
    if not space.spaces:
        raise _unsupported(space, environment=environment)
    entries = {
        name: _entry_conversion(part, environment=environment, entry=name)
        for name, part in space.spaces.items()
    }

    def convert(batch: Mapping[str, Array]) -> Batch:
        return {name: entry.convert(batch[name]) for name, entry in entries.items()}

    return ObservationConversion(
        spec={name: entry.spec for name, entry in entries.items()}, convert=convert
    )


def action_spec(space: Space[Any], *, environment: str, names: tuple[str, ...] = ()) -> ActionSpec:
    """The spec of a discrete action space; without `names` the actions are called "0", "1", ...

    Raises:
        UnsupportedEnvironmentError: the space is not Discrete, or has not one name an action.
    """
    if not isinstance(space, spaces.Discrete):
        raise UnsupportedEnvironmentError(
            f"environment {environment!r} has the action space {_one_line(space)}; "
            "allowed is Discrete: choose an environment, or a wrapper, with discrete actions"
        )
    count = int(space.n)
    if names and len(names) != count:
        raise UnsupportedEnvironmentError(
            f"environment {environment!r} names {len(names)} actions ({', '.join(names)}) but has "
            f"{count}; its action_names or get_action_meanings() must name each action once"
        )
    return ActionSpec(names=names or tuple(str(index) for index in range(count)))


def first_action(space: Space[Any]) -> int:
    """What the environment calls action 0."""
    return int(space.start) if isinstance(space, spaces.Discrete) else 0


def action_names(env: Env[Any, Any]) -> tuple[str, ...]:
    """The names given by `action_names` or `get_action_meanings()`; none where there is neither."""
    names = getattr(env.unwrapped, "action_names", None)
    if names is None:
        meanings = getattr(env.unwrapped, "get_action_meanings", None)
        names = () if meanings is None else meanings()
    return tuple(str(name) for name in names)


@attrs.frozen(kw_only=True)
class _EntryConversion:
    spec: TensorSpec
    convert: Callable[[Array], Array]


def _entry_conversion(
    space: Space[Any], *, environment: str, entry: str | None = None
) -> _EntryConversion:
    if isinstance(space, ReadyBox):
        return _plain(space.shape, space.dtype)
    if isinstance(space, spaces.Discrete):
        return _one_hot(count=int(space.n), start=int(space.start))
    if isinstance(space, spaces.MultiBinary):
        return _array(space.shape, given=space.dtype, wanted=np.dtype(np.float32))
    if not isinstance(space, spaces.Box) or 0 in space.shape or len(space.shape) > 4:
        raise _unsupported(space, environment=environment, entry=entry)
    spans_bytes = space.dtype == np.uint8 and bool(np.all(space.high == 255))
    wanted = np.dtype(np.uint8 if spans_bytes else np.float32)
    return _array(space.shape, given=space.dtype, wanted=wanted)


def _one_hot(*, count: int, start: int) -> _EntryConversion:
    rows = np.eye(count, dtype=np.float32)

    def convert(batch: Array) -> Array:
        chosen: Array = rows[np.asarray(batch) - start]
        return chosen

    return _EntryConversion(spec=TensorSpec(shape=(count,), dtype="float32"), convert=convert)


def _array(
    shape: tuple[int, ...], *, given: np.dtype[Any], wanted: np.dtype[Any]
) -> _EntryConversion:
    axes, target = _layout(shape)
    if given == wanted and axes == tuple(range(len(shape))) and target == shape:
        return _plain(shape, wanted)
    batch_axes = (0, *(axis + 1 for axis in axes))

    def convert(batch: Array) -> Array:
        # Numbers beyond float32 become infinite here and are reported where all infinities are.
        with np.errstate(over="ignore"):
            array = np.array(np.transpose(batch, batch_axes), dtype=wanted, order="C")
        return array.reshape(len(array), *target)

    return _EntryConversion(spec=TensorSpec(shape=target, dtype=wanted.name), convert=convert)


def _plain(shape: tuple[int, ...], dtype: np.dtype[Any]) -> _EntryConversion:
    spec = TensorSpec(shape=shape, dtype=dtype.name)
    return _EntryConversion(spec=spec, convert=partial(np.array, order="C"))


def _layout(shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The order in which the axes are taken, and the shape they are then folded to."""
    channels_last = shape[-1:] and shape[-1] in CHANNEL_COUNTS
    match shape:
        case ():
            return (), (1,)
        case (_,):
            return (0,), shape
        case (height, width):
            return (0, 1), (1, height, width)
        case (height, width, channels) if channels_last:
            return (2, 0, 1), (channels, height, width)
        case (stacked, height, width, channels) if channels_last:
            return (0, 3, 1, 2), (stacked * channels, height, width)
        case (stacked, channels, height, width):
            return (0, 1, 2, 3), (stacked * channels, height, width)
        case _:
            return (0, 1, 2), shape


def _unsupported(
    space: Space[Any], *, environment: str, entry: str | None = None
) -> UnsupportedEnvironmentError:
    where = "" if entry is None else f" in its entry {entry!r}"
    return UnsupportedEnvironmentError(
        f"environment {environment!r} has the observation space {_one_line(space)}{where}; "
        f"allowed is {ALLOWED_OBSERVATIONS}: wrap it in an ObservationWrapper that gives one"
    )


def _one_line(space: Space[Any]) -> str:
    text = " ".join(str(space).split())
    return text if len(text) <= 200 else f"{text[:200]}..."
