"""What a checkpoint is made from, copied out of the live objects at one moment."""

from collections.abc import Mapping

import attrs
from torch import Tensor


@attrs.frozen(kw_only=True, eq=False)
class TrainingState:
    """The run at `env_steps`, in tensors and plain data that nobody writes to any more.

    `tensors` are by file stem, then by name; those of `"model"` are the weights.
    """

    env_steps: int
    iterations: int
    tensors: Mapping[str, Mapping[str, Tensor]]
    state: Mapping[str, object]

    def size_bytes(self) -> int:
        """The size of the tensors, which is nearly all that goes to the disk."""
        return sum(
            tensor.numel() * tensor.element_size()
            for group in self.tensors.values()
            for tensor in group.values()
        )
