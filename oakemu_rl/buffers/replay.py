"""The replay that DQN learns from: steps are written as they come, windows read at random."""

import threading
from collections.abc import Mapping
from typing import Unpack

import numpy as np

from oakemu_rl.buffers.choice import Choice, PriorityUpdate, UniformChoice
from oakemu_rl.buffers.lanes import NO_SLOTS, Lanes, ReplayStep
from oakemu_rl.buffers.layout import Array, Batch, Flags, Integers, LayoutFields, ReplayLayout
from oakemu_rl.buffers.windows import WindowReader
from oakemu_rl.core.transitions import TransitionBatch

__all__ = ["PriorityUpdate", "ReplayBuffer", "ReplayStep"]


class ReplayBuffer:
    """The newest steps of N environments; each that can be sampled is as likely as the others.

    An observation is stored once, as the newest frame of the stack that the agent saw; stacks and
    windows of up to `n_step` steps are formed when they are sampled. A window ends with its
    episode, or with the newest step. The true last observation of an episode is kept, so each
    step's successor is its own.

    One thread may write while another samples.

    Args:
        capacity: slots for frames, shared evenly by the environments. An episode takes one more
            than it has steps.
        environments: N, the rows of what is written.
        observation_spec: what the agent sees, stacked.
        action_count: the number of actions, A.
        frame_stack: observations in a stack; they lie along its first dimension.
        n_step: steps of the longest window.
        masked: whether action masks are kept.
        value_names: the environment's named values that are kept.
        compression: `"none"`, or `"zstd"` for less memory and slower sampling.

    Raises:
        ValueError: a size is below 1, the capacity holds no transition, or observations are no
            stacks.
        MissingExtraError: the package for the compression is not installed.
    """

    def __init__(self, **layout: Unpack[LayoutFields]) -> None:
        self._lanes = Lanes(ReplayLayout(**layout))
        self._windows = WindowReader(self._lanes)
        self._choice: Choice = UniformChoice(self._lanes)
        self._lock = threading.Lock()

    @classmethod
    def size_bytes(cls, **layout: Unpack[LayoutFields]) -> int:
        """The memory that a full buffer takes; with compression, the most that it can take."""
        return ReplayLayout(**layout).size_bytes

    @property
    def nbytes(self) -> int:
        """The memory that the buffer takes, were all of it written to."""
        return self._lanes.nbytes

    @property
    def capacity(self) -> int:
        """The slots over all environments: the given ones that divide evenly."""
        return self._lanes.layout.slots

    @property
    def n_step(self) -> int:
        """Steps of the longest window, W."""
        return self._lanes.layout.n_step

    @property
    def is_prioritised(self) -> bool:
        """Whether items are drawn by priority."""
        return False

    def __len__(self) -> int:
        """The items that can be sampled now."""
        return self._lanes.count

    def begin(
        self,
        *,
        rows: Flags | None = None,
        observations: Batch,
        action_masks: Flags | None = None,
        values: Mapping[str, Array] | None = None,
    ) -> None:
        """Environments are at the first observation of an episode: those true in `rows`, or all.

        An episode that was under way there counts as truncated.

        Shapes:
            rows [N] bool; observations [N, ...]; action_masks [N, A] bool, None where all actions
            are legal; values [N] each.

        Raises:
            ValueError: an observation's shape or dtype is not that of the buffer.
        """
        with self._lock:
            dropped = self._lanes.begin(rows, observations, action_masks, values or {})
            self._choice.follow(NO_SLOTS, dropped)

    def add(self, step: ReplayStep) -> None:
        """Write one step of all environments; rows that are not valid change nothing.

        Raises:
            ValueError: an environment whose row is valid has begun no episode since its last end,
                or an observation's shape or dtype is not that of the buffer.
        """
        with self._lock:
            self._choice.follow(*self._lanes.add(step))

    def sample(self, batch_size: int, *, generator: np.random.Generator) -> TransitionBatch:
        """Draw windows, each from all items, so that some may come twice.

        The tensors are views of arrays that the next call overwrites, `indices` excepted.

        Raises:
            ValueError: `batch_size` is below 1, or there is no item.
        """
        with self._lock:
            if batch_size < 1 or self._lanes.count == 0:
                raise ValueError(
                    f"batch_size: {batch_size} items were asked for, {self._lanes.count} can be "
                    "sampled"
                )
            draw = self._choice.draw(batch_size, generator)
            return self._windows.read(
                draw.slots,
                probabilities=draw.probabilities,
                smallest_probability=draw.smallest_probability,
            )

    def update_priorities(
        self, indices: Integers, serials: Integers, td_errors: Array
    ) -> PriorityUpdate:
        """Set the priorities of sampled items by their newest errors.

        Where an item comes twice, its last error counts. Without priorities nothing happens.

        Shapes:
            indices, serials [B] int64, as they were sampled; td_errors [B] floating.
        """
        with self._lock:
            return self._choice.update(indices, serials, td_errors)
