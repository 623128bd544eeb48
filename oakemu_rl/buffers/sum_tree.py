"""A tree of sums over the slots of a replay, to draw slots in proportion to their priority.

Every sum is recomputed from what lies below it, never adjusted by a difference, so that rounding
cannot pile up: differences leave sums that are negative after some ten thousand updates. What a
priority is made of is not known here.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import torch

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

BITS = 4
WIDTH = 1 << BITS
"""Leaves, or sums, in a block."""
WIDEST_TOP = 4_096
"""So many sums are searched at once; above that another level of blocks is laid over them."""
ITEM_BYTES = 8
ONES = np.ones(WIDTH)
SUMS_BEFORE = np.triu(np.ones((WIDTH, WIDTH)), 1)[:, ::-1].copy()
"""A block times this is, for each of its nodes from the last to the first, the sum of those before
it; products are many times faster than sums and `cumsum` over rows this short."""
KEY = np.dtype(np.uint64)
ONE = np.uint64(1)
ABSENT = np.uint64(2**64 - 1)
MOST_STALE = 512
"""Changes that may wait until what depends on them is asked for."""


class SumTree:
    """Weights of `capacity` leaves, at first all 0, with their sum and their smallest.

    Leaves lie in blocks, the sums of blocks in blocks again, up to a top that is narrow enough to
    be searched in one go. A leaf of weight 0 is not there: it is never found, and is not the
    smallest.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        counts = _block_counts(capacity)
        self._levels = [np.zeros((count, WIDTH)) for count in counts]
        self._leaves: Floats = self._levels[0].reshape(-1)
        self._top = np.zeros(counts[-1])
        self._cumulative = np.zeros(len(self._top) + 1)
        self._tensors = (torch.from_numpy(self._top), torch.from_numpy(self._cumulative)[1:])
        self._smallest_keys = np.full(counts[0], ABSENT)
        self._smallest = math.inf
        self._smallest_is_gone = False
        self._behind: list[Integers] = []
        self._stale: list[Integers] = []

    @property
    def total(self) -> float:
        """The sum of all weights."""
        self._refresh()
        return float(self._cumulative[-1])

    @property
    def smallest(self) -> float:
        """The smallest weight above 0; infinity where there is none."""
        if self._smallest_is_gone:
            self._seek_smallest()
        return self._smallest

    @classmethod
    def size_bytes(cls, capacity: int) -> int:
        """What `nbytes` of a tree of this capacity will be."""
        counts = _block_counts(capacity)
        return ITEM_BYTES * (WIDTH * sum(counts) + counts[0] + 2 * counts[-1] + 1)

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        arrays = (self._top, self._cumulative, self._smallest_keys)
        return sum(array.nbytes for array in (*arrays, *self._levels))

    def values(self, leaves: Integers) -> Floats:
        """The weights of these leaves."""
        return self._leaves.take(leaves)

    def assign(self, leaves: Integers, weights: Floats | float) -> None:
        """Give `leaves` these weights above 0; where a leaf comes twice, the last one counts."""
        before = self._leaves.take(leaves)
        self._leaves[leaves] = weights
        self._mark(leaves, before)
        if len(leaves):
            after = self._leaves.take(leaves)
            lowest = float(after[after.argmin()])
            if lowest <= self._smallest:
                self._smallest, self._smallest_is_gone = lowest, False

    def remove(self, leaves: Integers) -> None:
        """Give `leaves` the weight 0."""
        before = self._leaves.take(leaves)
        self._leaves[leaves] = 0.0
        self._mark(leaves, before)

    def find(self, masses: Floats) -> tuple[Integers, Floats]:
        """The leaves into which `masses` fall when all weights are laid end to end, and those
        weights.

        Masses are at least 0; from the total on they fall into the last leaf that is there.

        Raises:
            ValueError: every weight is 0.
        """
        self._refresh()
        if not self._cumulative[-1] > 0.0:
            raise ValueError("no leaf has a weight above 0: there is nothing to find")
        place: Integers = self._cumulative[1:-1].searchsorted(masses, side="right")
        rest = masses - self._cumulative.take(place)
        for blocks in self._levels[:0:-1]:
            before = blocks.take(place, 0).dot(SUMS_BEFORE)
            steps_back = (before <= rest[:, np.newaxis]).argmax(1)
            place = _nodes(place, steps_back)
            steps_back += _row_starts(len(rest))
            rest -= before.reshape(-1).take(steps_back)
        before = self._levels[0].take(place, 0).dot(SUMS_BEFORE)
        place = _nodes(place, (before <= rest[:, np.newaxis]).argmax(1))
        weights = self._leaves.take(place)
        if np.count_nonzero(weights) < len(place):
            place = self._nearest_present(place, weights)
            weights = self._leaves.take(place)
        return place, weights

    def _nearest_present(self, found: Integers, weights: Floats) -> Integers:
        """Where rounding carried a mass past all that is there, the nearest leaf that is."""
        present = np.flatnonzero(self._leaves)
        before = present[np.maximum(present.searchsorted(found) - 1, 0)]
        return np.where(weights > 0.0, found, before)

    def _mark(self, leaves: Integers, before: Floats) -> None:
        """Note that `leaves` were changed, which had the weights `before`."""
        if not len(leaves):
            return
        if np.count_nonzero(before == self._smallest):
            self._smallest_is_gone = True
        self._stale.append(leaves)
        if len(self._stale) > MOST_STALE:
            self._refresh()

    def _refresh(self) -> None:
        """Recompute whatever lies above a leaf that was changed."""
        if not self._stale:
            return
        changed = self._stale[0] if len(self._stale) == 1 else np.concatenate(self._stale)
        self._stale.clear()
        blocks: Integers = changed >> BITS
        self._behind.append(blocks)
        if len(self._behind) > MOST_STALE:
            self._renew_keys()
        sums = self._levels[0].take(blocks, 0).dot(ONES)
        for level in self._levels[1:]:
            level.reshape(-1)[blocks] = sums
            blocks = blocks >> BITS
            sums = level.take(blocks, 0).dot(ONES)
        self._top[blocks] = sums
        # A third of the time that numpy takes for it.
        top, cumulative = self._tensors
        torch.cumsum(top, 0, out=cumulative)

    def _renew_keys(self) -> None:
        """Recompute the smallest key of each block in which a leaf was changed."""
        blocks = np.concatenate(self._behind)
        self._behind.clear()
        self._smallest_keys[blocks] = _smallest_keys(self._levels[0].take(blocks, 0))

    def _seek_smallest(self) -> None:
        """Look for the smallest weight among all, since the one that was is no longer there."""
        self._refresh()
        if self._behind:
            self._renew_keys()
        key = self._smallest_keys.min()
        self._smallest = math.inf if key == ABSENT else float((key + ONE).view(np.float64))
        self._smallest_is_gone = False


def _block_counts(capacity: int) -> list[int]:
    """The number of blocks on each level, from the leaves up, so many that blocks are full."""
    top, levels = -(-capacity // WIDTH), 1
    while top > WIDEST_TOP:
        top, levels = -(-top // WIDTH), levels + 1
    return [top << (BITS * above) for above in reversed(range(levels))]


def _nodes(blocks: Integers, steps_back: Integers) -> Integers:
    """The node of each block that lies so many steps before the last."""
    nodes = blocks << BITS
    nodes += WIDTH - 1
    nodes -= steps_back
    return nodes


def _smallest_keys(rows: Floats) -> Keys:
    """The key of the smallest weight above 0 in each row; the rows are used up.

    A key is the weight's bits, read as an integer, less one: keys are ordered as the weights are,
    but for 0, whose key is the largest.
    """
    keys = rows.view(KEY)
    keys -= ONE
    smallest = keys.argmin(1)
    smallest += _row_starts(len(keys))
    taken: Keys = keys.reshape(-1).take(smallest)
    return taken


@lru_cache(maxsize=16)
def _row_starts(rows: int) -> Integers:
    """Where rows of a block each begin in an array that is flat. Not to be written to."""
    starts = np.arange(0, rows * WIDTH, WIDTH)
    starts.flags.writeable = False
    return starts
