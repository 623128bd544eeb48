"""A tree of sums over the slots of a replay, to draw slots in proportion to their priority.

Every sum is recomputed from what lies below it, never adjusted by a difference, so that rounding
cannot pile up: differences leave sums that are negative after some ten thousand updates. What a
priority is made of is not known here.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Keys = npt.NDArray[np.uint64]

LEAF_BITS, INNER_BITS = 4, 5
LEAF_WIDTH, INNER_WIDTH = 1 << LEAF_BITS, 1 << INNER_BITS
"""Leaves, or sums, in a block: so many that few levels are needed."""
WIDEST_TOP = 2_048
"""So many sums are searched at once; above that another level of blocks is laid over them."""
ITEM_BYTES = 8
KEY = np.dtype(np.uint64)
ONE = np.uint64(1)
ABSENT = np.uint64(2**64 - 1)
MOST_STALE = 512
"""Changes that may wait until the sums above them are asked for."""


class SumTree:
    """Weights of `capacity` leaves, at first all 0, with their sum and their smallest.

    Leaves lie in blocks, the sums of blocks in blocks again, up to a top that is narrow enough to
    be searched in one go. A leaf of weight 0 is not there: it is never found, and is not the
    smallest.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        leaf_blocks, *inner_blocks = counts = _block_counts(capacity)
        self._levels = [
            _Level(leaf_blocks, LEAF_BITS),
            *(_Level(count, INNER_BITS) for count in inner_blocks),
        ]
        self._leaves = self._levels[0].nodes
        self._top = np.zeros(counts[-1])
        self._cumulative = np.zeros(len(self._top) + 1)
        self._smallest_keys = np.full(leaf_blocks, ABSENT)
        self._smallest_key = ABSENT
        self._stale: list[Integers] = []

    @property
    def total(self) -> float:
        """The sum of all weights."""
        self._refresh()
        return float(self._cumulative[-1])

    @property
    def smallest(self) -> float:
        """The smallest weight above 0; infinity where there is none."""
        self._refresh()
        key = self._smallest_key
        return math.inf if key == ABSENT else float((key + ONE).view(np.float64))

    @classmethod
    def size_bytes(cls, capacity: int) -> int:
        """What `nbytes` of a tree of this capacity will be."""
        leaf_blocks, *inner_blocks = counts = _block_counts(capacity)
        leaves = leaf_blocks * (LEAF_WIDTH + 1)
        inner = sum(inner_blocks) * INNER_WIDTH
        return ITEM_BYTES * (leaves + inner + 2 * counts[-1] + 1)

    @property
    def nbytes(self) -> int:
        """The memory that the arrays take."""
        arrays = (self._top, self._cumulative, self._smallest_keys)
        nodes = (level.nodes for level in self._levels)
        return sum(array.nbytes for array in (*arrays, *nodes))

    def values(self, leaves: Integers) -> Floats:
        """The weights of these leaves."""
        return self._leaves.take(leaves)

    def assign(self, leaves: Integers, weights: Floats | float) -> None:
        """Give `leaves` these weights above 0; where a leaf comes twice, the last one counts."""
        self._leaves[leaves] = weights
        self._mark(leaves)

    def remove(self, leaves: Integers) -> None:
        """Give `leaves` the weight 0."""
        self._leaves[leaves] = 0.0
        self._mark(leaves)

    def find(self, masses: Floats) -> tuple[Integers, Floats]:
        """The leaves into which `masses` fall when all weights are laid end to end, and those
        weights.

        Masses are at least 0; from the total on they fall into the last leaf that is there.

        Raises:
            ValueError: every weight is 0.
        """
        if not self.total > 0.0:
            raise ValueError("no leaf has a weight above 0: there is nothing to find")
        place: Integers = self._cumulative[1:-1].searchsorted(masses, side="right")
        rest = masses - self._cumulative.take(place)
        for level in reversed(self._levels[1:]):
            place, rest = level.descend(place, rest)
        place = self._levels[0].find(place, rest)
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

    def _mark(self, leaves: Integers) -> None:
        if len(leaves):
            self._stale.append(leaves)
        if len(self._stale) > MOST_STALE:
            self._refresh()

    def _refresh(self) -> None:
        """Recompute whatever lies above a leaf that was changed."""
        if not self._stale:
            return
        changed = self._stale[0] if len(self._stale) == 1 else np.concatenate(self._stale)
        self._stale.clear()
        blocks: Integers = changed >> LEAF_BITS
        rows = self._levels[0].rows(blocks)
        sums = rows.dot(self._levels[0].ones)
        self._renew_smallest(blocks, _smallest_keys(rows))
        for level in self._levels[1:]:
            level.nodes[blocks] = sums
            blocks = blocks >> INNER_BITS
            sums = level.rows(blocks).dot(level.ones)
        self._top[blocks] = sums
        self._top.cumsum(out=self._cumulative[1:])

    def _renew_smallest(self, blocks: Integers, keys: Keys) -> None:
        before = _smallest(self._smallest_keys.take(blocks))
        self._smallest_keys[blocks] = keys
        now = _smallest(keys)
        if now <= self._smallest_key:
            self._smallest_key = now
        elif before == self._smallest_key:
            self._smallest_key = _smallest(self._smallest_keys)


def _block_counts(capacity: int) -> list[int]:
    """The number of blocks on each level, from the leaves up."""
    counts = [-(-capacity // LEAF_WIDTH)]
    while counts[-1] > WIDEST_TOP:
        counts.append(-(-counts[-1] // INNER_WIDTH))
    return counts


class _Level:
    """Nodes in blocks of 2 ** bits, padded with zeros.

    Sums before each node are a product with a constant matrix, many times faster than `cumsum` over
    rows this short.
    """

    def __init__(self, count: int, bits: int) -> None:
        width = 1 << bits
        self.blocks = np.zeros((count, width))
        self.nodes: Floats = self.blocks.reshape(-1)
        self._bits = bits
        self._width = width
        self.ones = np.ones(width)
        self._before = np.triu(np.ones((width, width)), 1)[:, ::-1].copy()

    def rows(self, blocks: Integers) -> Floats:
        """The nodes of each of these blocks."""
        return self.blocks.take(blocks, axis=0)

    def descend(self, blocks: Integers, masses: Floats) -> tuple[Integers, Floats]:
        """The node of each block that its mass falls into, and what is left of the mass there."""
        before, steps_back = self._locate(blocks, masses)
        chosen = steps_back + _row_starts(len(blocks), self._width)
        return self._nodes(blocks, steps_back), masses - before.reshape(-1).take(chosen)

    def find(self, blocks: Integers, masses: Floats) -> Integers:
        """The node of each block that its mass falls into."""
        return self._nodes(blocks, self._locate(blocks, masses)[1])

    def _locate(self, blocks: Integers, masses: Floats) -> tuple[Floats, Integers]:
        """The sums before each node, the last node first, and where the first is that fits."""
        before: Floats = self.rows(blocks).dot(self._before)
        return before, (before <= masses[:, np.newaxis]).argmax(axis=1)

    def _nodes(self, blocks: Integers, steps_back: Integers) -> Integers:
        """Nodes so many steps before the last of their block."""
        last = blocks << self._bits
        last += self._width - 1
        last -= steps_back
        return last


def _smallest_keys(rows: Floats) -> Keys:
    """The key of the smallest weight above 0 in each row; the rows are used up.

    A key is the weight's bits, read as an integer, less one: keys are ordered as the weights are,
    but for 0, whose key is the largest.
    """
    keys = rows.view(KEY)
    keys -= ONE
    smallest = keys.argmin(axis=1)
    smallest += _row_starts(*keys.shape)
    taken: Keys = keys.reshape(-1).take(smallest)
    return taken


def _smallest(keys: Keys) -> np.uint64:
    """The smallest key; `argmin` is several times faster than `min` where there are few."""
    key: np.uint64 = keys[keys.argmin()]
    return key


@lru_cache(maxsize=16)
def _row_starts(rows: int, width: int) -> Integers:
    """Where rows of this width begin in an array that is flat. Not to be written to."""
    starts = np.arange(0, rows * width, width)
    starts.flags.writeable = False
    return starts
