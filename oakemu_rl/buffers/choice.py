"""Which items of a replay are drawn: each as likely as the others, or by priority.

Letters: B rows.
"""

from functools import lru_cache
from typing import NamedTuple, Protocol

import attrs
import numpy as np
import numpy.typing as npt

from oakemu_rl.buffers.lanes import Lanes
from oakemu_rl.buffers.layout import Array, Integers, Slots
from oakemu_rl.buffers.sum_tree import SumTree
from oakemu_rl.core.number_checks import check_fraction, check_positive

LARGEST_ERROR = float(np.finfo(np.float32).max)


class Draw(NamedTuple):
    """The slots of B items, with the probabilities that they had; None where all had the same."""

    slots: Integers
    probabilities: Array | None = None
    smallest_probability: float | None = None


@attrs.frozen(kw_only=True)
class PriorityUpdate:
    """What became of new priorities.

    `skipped` came for items that have been overwritten since they were sampled; of the others,
    those `refused` were made of errors that are no finite numbers of float32.
    """

    applied: int
    skipped: int
    refused: int


class Choice(Protocol):
    """Draws items, and follows which there are."""

    def draw(self, count: int, generator: np.random.Generator) -> Draw:
        """Draw `count` items, of those that there are at least as many of; some may come twice."""

    def follow(self, added: Slots, dropped: Slots) -> None:
        """Items came into `added`; then those in `dropped` went."""

    def update(self, slots: Integers, serials: Integers, td_errors: Array) -> PriorityUpdate:
        """Prefer the items with these serials by their errors."""


class UniformChoice:
    """Each item is as likely as the others."""

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes

    def draw(self, count: int, generator: np.random.Generator) -> Draw:
        """Draw among all slots, and again for those that hold no item."""
        lanes = self._lanes
        found = np.empty(0, dtype=np.int64)
        while len(found) < count:
            # Enough in nearly all cases, so that there is seldom a second round.
            tries = (count + 8) * lanes.used // lanes.count + count // 8
            drawn = generator.integers(lanes.used, size=tries)
            held = drawn[lanes.sampleable.take(drawn)]
            found = np.concatenate((found, held)) if len(found) else held
        return Draw(slots=found[:count])

    def follow(self, added: Slots, dropped: Slots) -> None:
        """The lanes know by themselves."""

    def update(self, slots: Integers, serials: Integers, td_errors: Array) -> PriorityUpdate:
        """There are no priorities."""
        del slots, serials, td_errors
        return PriorityUpdate(applied=0, skipped=0, refused=0)


class PrioritisedChoice:
    """An item is drawn in proportion to `(|td| + epsilon)^alpha`, of its newest error.

    A new item is as likely as the most likely one that was ever updated. One item is drawn from
    each of `count` equal parts of the sum of all priorities. Schaul et al. 2016.
    """

    def __init__(self, lanes: Lanes, *, alpha: float, epsilon: float) -> None:
        check_fraction("alpha", alpha)
        check_positive("epsilon", epsilon)
        self._lanes = lanes
        self._alpha, self._epsilon = alpha, epsilon
        self._largest = 0.0
        self.tree = SumTree(lanes.layout.slots)

    def draw(self, count: int, generator: np.random.Generator) -> Draw:
        total = self.tree.total
        masses = generator.random(count)
        masses += _counting(count)
        masses *= total / count
        slots, weights = self.tree.find(masses)
        weights /= total
        return Draw(
            slots=slots,
            probabilities=weights,
            smallest_probability=self.tree.smallest / total,
        )

    def follow(self, added: Slots, dropped: Slots) -> None:
        self.tree.assign(np.atleast_1d(added), self._largest or 1.0)
        self.tree.remove(np.atleast_1d(dropped))

    def update(self, slots: Integers, serials: Integers, td_errors: Array) -> PriorityUpdate:
        # As in core.prioritisation, without torch, whose overhead would be half of the update.
        weights = (np.abs(td_errors, dtype=np.float64) + self._epsilon) ** self._alpha
        present = (self._lanes.serials[slots] == serials) & self._lanes.sampleable[slots]
        # NaN fails this too; beyond float32 the sum of all weights could overflow.
        good = present & (np.abs(td_errors) <= LARGEST_ERROR)
        applied = int(np.count_nonzero(good))
        if applied < len(slots):
            slots, weights = slots[good], weights[good]
        if applied:
            self.tree.assign(slots, weights)
            self._largest = max(self._largest, float(weights[weights.argmax()]))
        refused = int(np.count_nonzero(present)) - applied
        return PriorityUpdate(
            applied=applied, skipped=len(serials) - applied - refused, refused=refused
        )


@lru_cache(maxsize=16)
def _counting(count: int) -> npt.NDArray[np.float64]:
    """0.0, 1.0, 2.0 and so on. Not to be written to."""
    numbers = np.arange(count, dtype=np.float64)
    numbers.flags.writeable = False
    return numbers
