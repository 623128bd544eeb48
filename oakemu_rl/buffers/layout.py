"""What a replay is made of: how many slots, and what one slot holds.

Letters: N environments, C slots over all of them.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Required, TypedDict

import attrs
import numpy as np
import numpy.typing as npt

from oakemu_rl.core.observations import ObservationSpec, TensorSpec, observation_specs

Array = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]
Integers = npt.NDArray[np.int64]
Slots = int | Integers
"""One slot, or several."""
Index = Slots | slice
Batch = Array | Mapping[str, Array]
"""Observations of N environments: an array [N, ...], or arrays by name."""

COMPRESSIONS = ("none", "zstd")
ZSTD_HEADER, ZSTD_BLOCK_HEADER, ZSTD_BLOCK = 14, 3, 131_072
"""At most so many bytes lie before a frame's blocks and before each block, which is so long."""
OBJECT_BYTES = sys.getsizeof(b"") + np.dtype(np.intp).itemsize
"""What a bytes object takes besides its bytes, with the pointer to it."""

STEP = np.dtype(
    [
        ("action", np.int64),
        ("serial", np.int64),
        ("reward", np.float32),
        ("age", np.int32),
        ("terminated", np.bool_),
        ("last", np.bool_),
    ],
    align=True,
)
"""What a slot holds besides its observation: read and written together, so side by side in memory.

`age` counts the steps since the episode's start; `last` is true of an episode's last step, and of
the newest until another follows. `serial` tells items apart that were in the same slot one after
the other; it is `NO_ITEM` where there is nothing to sample.
"""
NO_ITEM = 0


class LayoutFields(TypedDict, total=False):
    """The keyword arguments of `ReplayLayout`."""

    capacity: Required[int]
    environments: Required[int]
    observation_spec: Required[ObservationSpec]
    action_count: Required[int]
    frame_stack: int
    n_step: int
    masked: bool
    value_names: Sequence[str]
    compression: str


@attrs.frozen(kw_only=True)
class ReplayLayout:
    """`capacity` slots, shared evenly by `environments`; what does not divide is left unused.

    `observation_spec` is what the agent sees: stacks of `frame_stack` observations, of which a slot
    holds the newest alone. Windows span up to `n_step` steps. Action masks are kept where `masked`;
    of the environment's named values, those in `value_names`.
    """

    capacity: int
    environments: int
    observation_spec: ObservationSpec
    action_count: int
    frame_stack: int = 1
    n_step: int = 1
    masked: bool = False
    value_names: Sequence[str] = ()
    compression: str = "none"

    def __attrs_post_init__(self) -> None:
        for name in ("environments", "action_count", "frame_stack", "n_step"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.compression not in COMPRESSIONS:
            raise ValueError(
                f"compression must be one of {', '.join(COMPRESSIONS)}, got {self.compression!r}"
            )
        if self.lane_length < self.frame_stack + 1:
            least = self.environments * (self.frame_stack + 1)
            raise ValueError(
                f"capacity: {self.capacity} slots for {self.environments} environments with stacks "
                f"of {self.frame_stack} hold no transition; at least {least} are needed"
            )
        for name, spec in observation_specs(self.observation_spec).items():
            if not spec.shape or spec.shape[0] % self.frame_stack:
                raise ValueError(
                    f"observation_spec: the first size of {name!r}, {spec.shape}, must be a "
                    f"multiple of frame_stack, {self.frame_stack}"
                )

    @property
    def lane_length(self) -> int:
        """The slots of one environment."""
        return self.capacity // self.environments

    @property
    def slots(self) -> int:
        """The slots of all environments, C."""
        return self.lane_length * self.environments

    @property
    def frame_specs(self) -> dict[str, TensorSpec]:
        """What a slot holds of each observation: the newest of a stack."""
        return {
            name: TensorSpec(
                shape=(spec.shape[0] // self.frame_stack, *spec.shape[1:]), dtype=spec.dtype
            )
            for name, spec in observation_specs(self.observation_spec).items()
        }

    @property
    def size_bytes(self) -> int:
        """What the slots take of memory; where they are compressed, at most."""
        frames = sum(
            _frame_bytes(spec, compression=self.compression) for spec in self.frame_specs.values()
        )
        flags = 1 + (self.action_count if self.masked else 0)
        values = len(self.value_names) * np.dtype(np.float32).itemsize
        return self.slots * (frames + STEP.itemsize + flags + values)


def _frame_bytes(spec: TensorSpec, *, compression: str) -> int:
    """What one frame takes; compressed, what one takes in which nothing repeats."""
    size = math.prod(spec.shape) * np.dtype(spec.dtype).itemsize
    if compression == "none":
        return size
    return OBJECT_BYTES + ZSTD_HEADER + ZSTD_BLOCK_HEADER * -(-size // ZSTD_BLOCK) + size


def entries(batch: Batch) -> Mapping[str, Array]:
    """The arrays by name; a lone array is called `"observation"`, as a lone spec is."""
    return batch if isinstance(batch, Mapping) else {"observation": batch}
