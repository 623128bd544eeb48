"""Which actions may be taken: by name for the whole run, and by state as the environment says."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from oakemu_rl.config.wording import nearest
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.masks import combine_masks
from oakemu_rl.core.observations import ActionSpec


class ActionMasker:
    """Combines the static mask of the allowed action names with the masks of states.

    Args:
        action_spec: the environment's actions.
        allowed: names of the actions that may be taken; empty means all.

    Raises:
        ConfigurationError: a name is unknown.
    """

    def __init__(self, action_spec: ActionSpec, allowed: Sequence[str] = ()) -> None:
        unknown = next((name for name in allowed if name not in action_spec.names), None)
        if unknown is not None:
            close = nearest(unknown, action_spec.names)
            hint = f"; did you mean {close}?" if close else ""
            raise ConfigurationError(
                f"environment.actions: unknown action {unknown!r}{hint} "
                f"(allowed: {', '.join(action_spec.names)})"
            )
        self._static = (
            torch.tensor([name in allowed for name in action_spec.names]) if allowed else None
        )

    @property
    def static_mask(self) -> Tensor | None:
        """[A] bool, true where the action is allowed in every state; None where all are."""
        return self._static

    def masks(self, states: NDArray[np.bool_] | None, *, rows: int) -> Tensor | None:
        """The legal actions of `rows` states, [rows, A] bool, or None where all are legal.

        `states` [rows, A] are the environment's own masks. Which rows have a legal action is
        checked where actions are chosen, since a state in which nothing is done needs none.
        """
        dynamic = None if states is None else torch.from_numpy(states)
        mask = combine_masks(self._static, dynamic)
        return mask if mask is None else mask.expand(rows, -1)
