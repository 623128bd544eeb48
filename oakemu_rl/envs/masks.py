"""Action masks of the sub-environments: where they are read from, and what a mask may be.

A mask belongs to the observation that is current when it is read. Masks that the agent adds of its
own are not here.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import Env
from gymnasium.vector import VectorEnv

from oakemu_rl.core.errors import EnvironmentFaultError
from oakemu_rl.envs.info_keys import MASK_KEY

Masks = npt.NDArray[np.bool_]
"""[N, A], true where the action is legal."""

Flags = npt.NDArray[np.bool_]
"""[N], one for each environment."""

METHOD = "action_masks"


def sub_environments(envs: VectorEnv[Any, Any, Any]) -> tuple[Env[Any, Any], ...]:
    """The environments inside, where they live in this process; else none."""
    return tuple(getattr(envs.unwrapped, "envs", ()))


class MaskReader:
    """Reads the masks of N environments from where the reset shows them to be, or nowhere.

    `info["action_mask"]` is taken before the method `action_masks()`, which is only seen on
    environments in this process.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any], *, actions: int, environment: str) -> None:
        members = sub_environments(envs)
        self._count = envs.num_envs
        self._actions = actions
        self._environment = environment
        self._methods: list[Callable[[], object]] = []
        if members and all(env.has_wrapper_attr(METHOD) for env in members):
            self._methods = [env.get_wrapper_attr(METHOD) for env in members]
        self._in_info = False

    def read_after_reset(self, infos: Mapping[str, Any]) -> Masks | None:
        """The masks [N, A] of the first observations, or None where there are none to read."""
        self._in_info = MASK_KEY in infos
        return self.read(infos, rows=np.ones(self._count, dtype=np.bool_))

    def read(self, infos: Mapping[str, Any], *, rows: Flags) -> Masks | None:
        """The masks [N, A] of the environments in `rows`; in the other rows every action is legal.

        Raises:
            EnvironmentFaultError: a mask is missing, of a wrong shape or type, or allows no action.
        """
        if self._in_info:
            given = infos.get(MASK_KEY, ())
            present = infos.get(f"_{MASK_KEY}", np.zeros(self._count, dtype=np.bool_))
            return self._gather(rows, lambda row: given[row] if present[row] else None)
        if MASK_KEY in infos:
            raise EnvironmentFaultError(
                f"environment {self._environment!r} gave info[{MASK_KEY!r}] after a step but not "
                "after the reset; it must stand in the info of both"
            )
        return self._gather(rows, lambda row: self._methods[row]()) if self._methods else None

    def read_where_given(self, infos: Mapping[str, Any], *, rows: Flags) -> Masks | None:
        """As `read`, but where nothing is said every action is legal."""
        if not (self._in_info or self._methods):
            return None
        present = infos.get(f"_{MASK_KEY}", np.zeros(self._count, dtype=np.bool_))
        given = infos.get(MASK_KEY, ())
        return self._gather(rows & present, lambda row: given[row])

    def read_at_ends(
        self, infos: Mapping[str, Any], *, ended: Flags, terminated: Flags
    ) -> Masks | None:
        """The masks [N, A] of states before any reset, where the episode goes on or was cut.

        Where it was cut, an info need not tell the mask: every action is legal then.
        """
        if not self._in_info:
            return self.read(infos, rows=~terminated)
        going_on = self.read(infos, rows=~ended)
        cut = self.read_where_given(infos, rows=ended & ~terminated)
        return None if going_on is None or cut is None else going_on & cut

    def _gather(self, rows: Flags, given: Callable[[int], object]) -> Masks:
        masks = np.ones((self._count, self._actions), dtype=np.bool_)
        for row in np.flatnonzero(rows).tolist():
            masks[row] = self._checked(given(row), row)
        return masks

    def _checked(self, given: object, row: int) -> Masks:
        mask = np.asarray(given)
        if given is None:
            fault = "no action mask, but it had one before"
        elif mask.shape != (self._actions,):
            fault = f"an action mask of shape {mask.shape}; allowed is ({self._actions},)"
        elif mask.dtype.kind not in "biu" or not np.isin(mask, (0, 1)).all():
            fault = f"the action mask {given!r}; allowed are bools, or integers 0 and 1"
        elif not mask.any():
            fault = "an action mask that allows no action; at least one must be legal"
        else:
            return mask.astype(np.bool_)
        raise EnvironmentFaultError(f"environment {row} of {self._environment!r} gave {fault}")
