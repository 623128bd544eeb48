"""A replay that draws by priority: steps whose values were far off come more often."""

from typing import Unpack

from oakemu_rl.buffers.choice import PrioritisedChoice
from oakemu_rl.buffers.layout import LayoutFields, ReplayLayout
from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.buffers.sum_tree import SumTree


class PrioritizedReplayBuffer(ReplayBuffer):
    """A `ReplayBuffer` whose items are drawn in proportion to `(|td| + epsilon)^alpha`.

    A new item enters with the largest priority that any update has set so far, 1 before the first.
    Batches tell the probability of each row and that of the least likely item, for importance
    weights. Schaul et al. 2016, "Prioritized Experience Replay".

    Args:
        alpha: 0 draws uniformly, 1 in proportion to the errors.
        epsilon: above 0, so that an error of 0 does not rule an item out for ever.
        layout: what `ReplayBuffer` takes.

    Raises:
        ValueError: `alpha` lies outside [0, 1], `epsilon` is not above 0, or what `ReplayBuffer`
            raises.
    """

    def __init__(self, *, alpha: float, epsilon: float, **layout: Unpack[LayoutFields]) -> None:
        super().__init__(**layout)
        self._prioritised = PrioritisedChoice(self._lanes, alpha=alpha, epsilon=epsilon)
        self._choice = self._prioritised

    @classmethod
    def size_bytes(cls, **layout: Unpack[LayoutFields]) -> int:
        """The memory that a full buffer takes; with compression, the most that it can take."""
        return super().size_bytes(**layout) + SumTree.size_bytes(ReplayLayout(**layout).slots)

    @property
    def nbytes(self) -> int:
        """The memory that the buffer takes, were all of it written to."""
        return super().nbytes + self._prioritised.tree.nbytes

    @property
    def is_prioritised(self) -> bool:
        """Whether items are drawn by priority."""
        return True
