"""Returns and lengths of the episodes of N environments while they run."""

from collections.abc import Mapping

import attrs
import numpy as np

from oakemu_rl.envs.masks import Flags
from oakemu_rl.envs.spaces import Array


@attrs.frozen(kw_only=True)
class FinishedEpisode:
    """An episode that ended in this step: the undiscounted sum of its rewards, and its steps.

    `success` is what the environment says in `info["is_success"]`, or None where it says nothing.
    """

    environment: int
    episode_return: float
    length: int
    success: bool | None


class EpisodeTally:
    """Adds up the rewards of each environment's episode and counts its steps."""

    def __init__(self, count: int) -> None:
        self._returns = np.zeros(count, dtype=np.float64)
        self._first_steps = np.zeros(count, dtype=np.int64)
        self._steps = 0

    def add(self, rewards: Array) -> None:
        """Every environment took a step with these rewards [N]."""
        self._returns += rewards
        self._steps += 1

    def length(self, environment: int) -> int:
        """The steps of the episode that this environment is in."""
        return self._steps - int(self._first_steps[environment])

    def finish(
        self, ended: Flags, *, successes: Mapping[int, bool], idle_steps: int
    ) -> tuple[FinishedEpisode, ...]:
        """Close the episodes of those in `ended`; their next ones begin `idle_steps` later."""
        episodes = tuple(
            FinishedEpisode(
                environment=row,
                episode_return=float(self._returns[row]),
                length=self.length(row),
                success=successes.get(row),
            )
            for row in np.flatnonzero(ended).tolist()
        )
        self._returns[ended] = 0.0
        self._first_steps[ended] = self._steps + idle_steps
        return episodes
