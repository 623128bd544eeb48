"""The slots of a replay, and how episodes are laid into them.

Each environment has a lane of its own, a ring of slots: environment n has the slots n, n + N,
n + 2N and so on, so the slot that follows another in its lane is N further, modulo all slots. A
slot is entered when its observation is seen, and completed when an action was taken in it. Behind
an episode's last step a slot keeps the observation that it led to; the next episode begins after
that one.

Letters: N environments, C slots, A actions.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import numpy as np

from oakemu_rl.buffers.frames import frame_store
from oakemu_rl.buffers.layout import (
    NO_ITEM,
    STEP,
    Array,
    Batch,
    Flags,
    Index,
    Integers,
    ReplayLayout,
    Slots,
    entries,
)
from oakemu_rl.core.observations import observation_specs


@attrs.frozen(kw_only=True, eq=False)
class ReplayStep:
    """What all environments did in one step.

    `next_observations` are the true next ones, stacked as the agent sees them: at an episode's end
    those of the end. Rows where `valid` is false only reset their environment and are no
    experience. `next_action_masks` and `next_values` belong to `next_observations`.

    Shapes:
        actions [N] integers; rewards [N] float32; terminated, truncated, valid [N] bool;
        next_observations [N, ...]; next_action_masks [N, A] bool, or None where all actions are
        legal; next_values [N] each.
    """

    actions: Array
    rewards: Array
    terminated: Flags
    truncated: Flags
    valid: Flags
    next_observations: Batch
    next_action_masks: Flags | None = None
    next_values: Mapping[str, Array] = attrs.field(factory=dict)


NO_SLOTS: Integers = np.empty(0, dtype=np.int64)


class Lanes:
    """The arrays over all slots, and where each environment is in its lane.

    A slot can be sampled once its action is known, until one of the frames of its stack has been
    overwritten: `sampleable` [C] says which can, and `count` how many. Slots from `used` on were
    never entered.
    """

    def __init__(self, layout: ReplayLayout) -> None:
        self.layout = layout
        slots, count = layout.slots, layout.environments
        self.frames = {
            name: frame_store(spec, slots=slots, compression=layout.compression)
            for name, spec in layout.frame_specs.items()
        }
        self.steps = np.zeros(slots, dtype=STEP)
        self.masks = np.empty((slots, layout.action_count if layout.masked else 0), dtype=np.bool_)
        self.values = np.zeros((slots, len(layout.value_names)), dtype=np.float32)
        self.sampleable = np.zeros(slots, dtype=np.bool_)
        self.count = 0
        self.used = 0
        self._fields = {name: self.steps[name] for name in STEP.names or ()}
        self.serials: Integers = self._fields["serial"]
        self._expected = {
            name: ((count, *spec.shape), np.dtype(spec.dtype))
            for name, spec in observation_specs(layout.observation_spec).items()
        }
        self._newest = {
            name: slice(-spec.shape[0], None) for name, spec in layout.frame_specs.items()
        }
        self._heads: Integers = np.arange(count) - count
        self._ages: Integers = np.zeros(count, dtype=np.int64)
        self._every_lane: Index = slice(None) if count > 1 else _LONE_LANE
        self._slot_count = slots
        self._writers: list[Callable[[Slots, Any], None]] = [
            *(store.write for store in self.frames.values()),
            *([self.masks.__setitem__] if layout.masked else []),
            *(self.values[:, column].__setitem__ for column in range(len(layout.value_names))),
        ]
        self._under_way = np.zeros(count, dtype=np.bool_)
        self._serial = NO_ITEM
        self._back = np.arange(1, layout.frame_stack)

    @property
    def nbytes(self) -> int:
        """The memory that the slots take."""
        arrays = (self.steps, self.masks, self.values, self.sampleable)
        frames = sum(store.nbytes for store in self.frames.values())
        return frames + sum(array.nbytes for array in arrays)

    def begin(
        self,
        rows: Flags | None,
        observations: Batch,
        action_masks: Flags | None,
        values: Mapping[str, Array],
    ) -> Slots:
        """Enter the first observation of an episode in these lanes; return the items lost by it.

        An episode that was under way there ends with the newest step, as a truncated one does.
        """
        chosen, count = self._chosen(rows)
        if not count:
            return NO_SLOTS
        seen = self._seen(chosen, observations, action_masks, values)
        self._ages[chosen] = 0
        self._under_way[chosen] = True
        return self._advance(chosen, seen)

    def add(self, step: ReplayStep) -> tuple[Slots, Slots]:
        """Complete the newest slot of each lane whose row is valid, and enter the next one.

        Returns the slots that hold a new item, and those that ceased to hold one.

        Raises:
            ValueError: no episode has begun in a lane whose row is valid.
        """
        chosen, count = self._chosen(step.valid)
        if not count:
            return NO_SLOTS, NO_SLOTS
        if _count(self._under_way[chosen]) < count:
            raise self._not_begun(step.valid)
        seen = self._seen(chosen, step.next_observations, step.next_action_masks, step.next_values)
        slots, ages = self._numbers(self._heads, chosen), self._numbers(self._ages, chosen)
        terminated = step.terminated[chosen]
        fields = self._fields
        fields["action"][slots] = step.actions[chosen]
        fields["reward"][slots] = step.rewards[chosen]
        fields["terminated"][slots] = terminated
        fields["last"][slots] = True
        fields["last"][self._ahead(slots, -1)] = ages == 0
        self._serial += 1
        fields["serial"][slots] = self._serial
        self.sampleable[slots] = True
        self.count += count
        self._ages[chosen] = ages + 1
        self._under_way[chosen] = ~(terminated | step.truncated[chosen])
        return slots, self._advance(chosen, seen)

    def _chosen(self, rows: Flags | None) -> tuple[Index, int]:
        """The lanes that are true in `rows`, as an index, and how many; all of them, without."""
        count = len(self._heads) if rows is None else int(np.count_nonzero(rows))
        if rows is None or count == len(self._heads):
            return self._every_lane, count
        return rows.nonzero()[0], count

    def _numbers(self, of_lanes: Integers, chosen: Index) -> Slots:
        """The numbers of these lanes as they are now: a plain one for a lone lane."""
        numbers = of_lanes[chosen]
        return int(numbers) if chosen is _LONE_LANE else numbers.copy()

    def _not_begun(self, valid: Flags) -> ValueError:
        row = int((valid & ~self._under_way).argmax())
        return ValueError(
            f"step: row {row} is valid, but no episode has begun in environment {row}; call "
            "begin() with its first observation"
        )

    def _ahead(self, slots: Slots, count: int) -> Slots:
        """The slots that lie `count` steps ahead in their lanes."""
        return (slots + count * self.layout.environments) % self._slot_count

    def _seen(
        self,
        chosen: Index,
        observations: Batch,
        action_masks: Flags | None,
        values: Mapping[str, Array],
    ) -> list[Array | bool]:
        """What a slot takes up of these, array by array, for the lanes chosen."""
        given = entries(observations)
        seen: list[Array | bool] = []
        for name, (shape, dtype) in self._expected.items():
            array = given[name]
            if array.shape != shape or array.dtype != dtype:
                raise ValueError(
                    f"observations: {name!r} must be {dtype} of shape {list(shape)}, "
                    f"got {array.dtype} of shape {list(array.shape)}"
                )
            seen.append(array[chosen, self._newest[name]])
        if self.layout.masked:
            seen.append(True if action_masks is None else action_masks[chosen])
        for name in self.layout.value_names:
            if name not in values:
                raise ValueError(f"values: {name!r} is to be kept, got {sorted(values)}")
            seen.append(values[name][chosen])
        return seen

    def _advance(self, chosen: Index, seen: Iterable[Array | bool]) -> Slots:
        """Enter the slot behind each head; return the items that are lost by it."""
        slots = self._ahead(self._numbers(self._heads, chosen), 1)
        self._heads[chosen] = slots
        dropped = self._drop_for(slots)
        self._fields["age"][slots] = self._ages[chosen]
        for write, array in zip(self._writers, seen, strict=True):
            write(slots, array)
        if self.used < self._slot_count:
            last = slots if isinstance(slots, int) else int(slots.max())
            self.used = max(self.used, last + 1)
        return dropped

    def _drop_for(self, slots: Slots) -> Slots:
        """Drop the items in `slots`, which are overwritten, and those whose stacks reach there."""
        dropped = slots
        if len(self._back):
            later = np.reshape(slots, (-1, 1)) + self._back * self.layout.environments
            later %= self._slot_count
            reaching = later[self._fields["age"][later] >= self._back]
            dropped = np.append(reaching, slots)
        self.count -= _count(self.sampleable[dropped])
        self.sampleable[dropped] = False
        self._fields["serial"][dropped] = NO_ITEM
        return dropped


def _count(flags: Flags | np.bool_) -> int:
    """How many are true; of a lone lane there is one flag, a plain one."""
    return int(flags) if isinstance(flags, np.bool_) else int(np.count_nonzero(flags))


_LONE_LANE = 0
"""The index of all lanes where there is one: numbers instead of arrays of one number, whose
handling would cost more than all else here."""
