"""What is sampled from a replay: rows of windows over stored steps.

Letters: B rows, W steps of the longest window (the n of n-step returns), A actions. Windows are
formed by the buffers; what is learned from them is computed in `q_targets` and its neighbours.
"""

from collections.abc import Mapping

import attrs
from torch import Tensor

from oakemu_rl.core.observations import Observations


@attrs.frozen(kw_only=True, eq=False)
class TransitionBatch:
    """B windows, each from one stored step on, up to W steps or to the episode's end.

    In `observations` the agent took `actions`; `next_observations` is the true successor of the
    window's last step, at a truncation as well. `rewards` are raw, and 0 behind the window's
    length. `values` are named numbers of the environment before each step of the window and after
    its last; behind the window's length they repeat the last. `serials` tell which item was sampled
    from a slot that may be overwritten meanwhile.

    The tensors may be views of arrays that the next sampling overwrites.

    Shapes:
        observations, next_observations [B, ...]; actions [B] int64; rewards [B, W] float32;
        lengths [B] int64, 1 to W; terminated [B] bool; action_masks, next_action_masks [B, A] bool
        or None where all actions are legal; values [B, W + 1] float32 each; indices, serials [B]
        int64; probabilities [B] float64 of drawing each row, or None where all are equal.
    """

    observations: Observations
    actions: Tensor
    rewards: Tensor
    lengths: Tensor
    terminated: Tensor
    next_observations: Observations
    indices: Tensor
    serials: Tensor
    size: int
    """Items that could be drawn when this batch was."""
    action_masks: Tensor | None = None
    next_action_masks: Tensor | None = None
    values: Mapping[str, Tensor] = attrs.field(factory=dict)
    probabilities: Tensor | None = None
    smallest_probability: float | None = None
    """That of the item with the smallest priority in the buffer; None where all are equal."""
