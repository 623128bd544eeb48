"""Environments that step one after the other in this process, and are reset when told to.

Gymnasium's SyncVectorEnv with its autoreset switched off does the same; with cheap environments,
whose episodes are short, it costs a fifth more than this.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import Env
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from oakemu_rl.envs.info_keys import MASK_KEY, SUCCESS_KEY


class InProcessEnvironments(VectorEnv[Any, Any, Any]):
    """A vector environment in the mode `AutoresetMode.DISABLED` over environments of equal spaces.

    What a step gives lies in arrays that the next call overwrites: who keeps them, copies them. Of
    the environments' infos only the entries that are read in this package are passed on.
    """

    def __init__(self, envs: Sequence[Env[Any, Any]]) -> None:
        first = envs[0]
        self.envs = tuple(envs)
        self.num_envs = len(self.envs)
        self.metadata = {**first.metadata, "autoreset_mode": AutoresetMode.DISABLED}
        self.render_mode = first.render_mode
        self.single_observation_space = first.observation_space
        self.single_action_space = first.action_space
        self.observation_space = batch_space(first.observation_space, self.num_envs)
        self.action_space = batch_space(first.action_space, self.num_envs)
        self._latest: list[Any] = [None] * self.num_envs
        self._batch: Any = create_empty_array(first.observation_space, n=self.num_envs)
        self._rewards = np.zeros(self.num_envs, dtype=np.float64)
        self._terminations = np.zeros(self.num_envs, dtype=np.bool_)
        self._truncations = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those in `options["reset_mask"]`; `seed` is one seed each."""
        mask = np.ones(self.num_envs, np.bool_) if options is None else options["reset_mask"]
        infos: dict[str, Any] = {}
        for row in np.flatnonzero(mask).tolist():
            chosen = None if seed is None else seed[row]
            self._latest[row], info = self.envs[row].reset(seed=chosen)
            self._note(infos, info, row)
        return self._observe(), infos

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Take one action in each environment."""
        rewards, terminations, truncations = self._rewards, self._terminations, self._truncations
        infos: dict[str, Any] = {}
        for row, (env, action) in enumerate(zip(self.envs, actions, strict=True)):
            self._latest[row], reward, terminations[row], truncations[row], info = env.step(action)
            # A part of one, since some environments give their reward as an array of one.
            rewards[row : row + 1] = reward
            if info:
                self._note(infos, info, row)
        return self._observe(), rewards, terminations, truncations, infos

    def close_extras(self, **_: Any) -> None:
        """Close the environments."""
        for env in self.envs:
            env.close()

    def _note(self, infos: dict[str, Any], info: dict[str, Any], row: int) -> None:
        """Put what is read later into the joint info, as it is: a wrong mask is refused there."""
        for key in (MASK_KEY, SUCCESS_KEY):
            if key not in info:
                continue
            if key not in infos:
                infos[key] = np.full(self.num_envs, None, dtype=object)
                infos[f"_{key}"] = np.zeros(self.num_envs, dtype=np.bool_)
            infos[key][row] = info[key]
            infos[f"_{key}"][row] = True

    def _observe(self) -> Any:
        """The latest observations as one batch; Gymnasium's way to it would take half as long as
        the step of a cheap environment, so it is left to what is not in order as it is."""
        batch = self._batch
        for row, latest in enumerate(self._latest):
            if not (
                isinstance(batch, np.ndarray)
                and isinstance(latest, np.ndarray)
                and latest.shape == batch.shape[1:]
                and latest.dtype == batch.dtype
            ):
                return concatenate(self.single_observation_space, self._latest, batch)
            batch[row] = latest
        return batch
