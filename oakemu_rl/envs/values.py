"""Named values of the sub-environments' states, such as a game's score or the player's column.

An environment gives them as a mapping from names to numbers, its attribute `values`. What is made
of them is not here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv

from oakemu_rl.core.errors import UnsupportedEnvironmentError
from oakemu_rl.envs.masks import sub_environments

VALUES = "values"

Values = Mapping[str, npt.NDArray[np.float32]]
"""By name, [N] one for each environment."""


class ValueReader:
    """Reads the values that were asked for, from the environments as they are at that moment.

    Raises:
        UnsupportedEnvironmentError: an environment has no such value, or is reset before its last
            state can be read.
    """

    def __init__(
        self,
        envs: VectorEnv[Any, Any, Any],
        *,
        names: Sequence[str],
        mode: AutoresetMode,
        environment: str,
    ) -> None:
        self._names = tuple(names)
        self._members = sub_environments(envs)
        if not names:
            return
        if mode is AutoresetMode.SAME_STEP or not self._members:
            raise UnsupportedEnvironmentError(
                f"environment {environment!r}: the named values {', '.join(names)} cannot be read "
                "where it runs in another process or resets itself within a step"
            )
        has = self._members[0].has_wrapper_attr(VALUES)
        known: Mapping[str, Any] = self._members[0].get_wrapper_attr(VALUES) if has else {}
        for name in names:
            if name not in known:
                raise UnsupportedEnvironmentError(
                    f"environment {environment!r} has no named value {name!r}; "
                    f"it has {', '.join(known) or 'none'}"
                )

    def read(self) -> Values:
        """The values as they are now; empty where none were asked for."""
        if not self._names:
            return {}
        states = [member.get_wrapper_attr(VALUES) for member in self._members]
        return {
            name: np.array([state[name] for state in states], dtype=np.float32)
            for name in self._names
        }
