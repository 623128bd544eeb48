"""What a Gymnasium vector environment says about its resets: the mode, and how episodes ended."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from oakemu_rl.core.errors import EnvironmentFaultError, UnsupportedEnvironmentError
from oakemu_rl.envs.info_keys import SUCCESS_KEY
from oakemu_rl.envs.masks import Flags

MODE_KEY = "autoreset_mode"
FINAL_KEY = "final_obs"
FINAL_INFO_KEY = "final_info"


def autoreset_mode(envs: VectorEnv[Any, Any, Any], *, environment: str) -> AutoresetMode:
    """The mode that `metadata["autoreset_mode"]` declares.

    Raises:
        UnsupportedEnvironmentError: it is absent or none of Gymnasium's modes. A guess would store
            steps that never were.
    """
    declared = envs.metadata.get(MODE_KEY)
    for mode in AutoresetMode:
        if declared in (mode, mode.value):
            return mode
    allowed = ", ".join(f"AutoresetMode.{mode.name}" for mode in AutoresetMode)
    raise UnsupportedEnvironmentError(
        f"vector environment {environment!r} has metadata[{MODE_KEY!r}] = {declared!r}; allowed is "
        f"one of {allowed}: declare the one that its step() keeps to"
    )


def episode_successes(
    infos: Mapping[str, Any], *, ended: Flags, mode: AutoresetMode
) -> dict[int, bool]:
    """Whether the episodes that ended were a success, where `is_success` says so."""
    said = infos.get(FINAL_INFO_KEY, {}) if mode is AutoresetMode.SAME_STEP else infos
    if SUCCESS_KEY not in said:
        return {}
    present = said.get(f"_{SUCCESS_KEY}", ended)
    return {row: bool(said[SUCCESS_KEY][row]) for row in np.flatnonzero(ended & present).tolist()}


def final_observations(
    envs: VectorEnv[Any, Any, Any],
    infos: Mapping[str, Any],
    *,
    ended: Flags,
    environment: str,
) -> Any:
    """The observations [K, ...] in which K environments ended under SAME_STEP, in their order.

    `final_obs` holds one observation of the space for each environment, or one batch of them all.

    Raises:
        EnvironmentFaultError: an environment ended and its last observation is not there.
    """
    rows = np.flatnonzero(ended).tolist()
    present = infos.get(f"_{FINAL_KEY}", ended)
    if FINAL_KEY not in infos or not np.all(present[ended]):
        raise EnvironmentFaultError(
            f"environment {environment!r} ended an episode without its last observation in "
            f"info[{FINAL_KEY!r}], which the declared mode AutoresetMode.SAME_STEP asks for"
        )
    final = infos[FINAL_KEY]
    if isinstance(final, Mapping):
        items = [{name: part[row] for name, part in final.items()} for row in rows]
    else:
        items = [final[row] for row in rows]
    space = envs.single_observation_space
    batch: Any = create_empty_array(space, n=len(rows))
    return concatenate(space, items, batch)
