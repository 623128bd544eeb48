"""Whole episodes from the true start, on seeds that are given, by whatever chooses the actions."""

from collections.abc import Callable, Sequence

import attrs
import numpy as np
import numpy.typing as npt

from oakemu_rl.envs.masks import Masks
from oakemu_rl.envs.spaces import Batch
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.runtime.supervision import beat

Actions = npt.NDArray[np.int64]


@attrs.frozen(kw_only=True)
class PlayedEpisode:
    """One finished episode. Its seed and actions are enough to play it again."""

    seed: int
    score: float
    length: int
    success: bool | None
    actions: tuple[int, ...]


@attrs.frozen(kw_only=True, eq=False)
class LiveStates:
    """The states in which actions are wanted: row i is that of `environments[i]`.

    Shapes:
        observations [B, ...]; action_masks [B, A] bool or None.
    """

    environments: Sequence[VectorEnvironment]
    observations: Batch
    action_masks: Masks | None


Choose = Callable[[LiveStates], Actions]
"""Chooses one action for each row."""


class EpisodePlayer:
    """Plays episodes on environments of its own, which nobody else steps.

    Each of `environments` holds one environment. An episode is tied to its seed, not to the
    environment that happens to play it. One that has taken `max_episode_steps` counts as it stands:
    a policy that loops, in an environment without a limit, would play for ever.
    """

    def __init__(
        self, environments: Sequence[VectorEnvironment], *, max_episode_steps: int = 20_000
    ) -> None:
        self.environments = tuple(environments)
        self._max_episode_steps = max_episode_steps

    def play(
        self,
        choose: Choose,
        *,
        seeds: Sequence[int],
        should_stop: Callable[[], bool] = lambda: False,
    ) -> tuple[PlayedEpisode, ...] | None:
        """One episode for each seed, in the order of the seeds; None if it was stopped before."""
        waiting = list(enumerate(seeds))[::-1]
        finished: dict[int, PlayedEpisode] = {}
        live = [
            _Seat(environment, *waiting.pop()) for environment in self.environments[: len(seeds)]
        ]
        while live:
            if should_stop():
                return None
            beat()
            actions = choose(_states([seat.environment for seat in live]))
            for seat, action in zip(tuple(live), actions, strict=True):
                episode = seat.step(int(action))
                if episode is None and seat.steps == self._max_episode_steps:
                    episode = seat.unfinished()
                if episode is None:
                    continue
                finished[seat.index] = episode
                live.remove(seat)
                if waiting:
                    live.append(_Seat(seat.environment, *waiting.pop()))
        return tuple(finished[index] for index in range(len(seeds)))

    def close(self) -> None:
        """Close the environments."""
        for environment in self.environments:
            environment.close()


class _Seat:
    """An environment in the middle of the episode with this seed."""

    def __init__(self, environment: VectorEnvironment, index: int, seed: int) -> None:
        self.environment = environment
        self.index = index
        self._seed = seed
        self._actions: list[int] = []
        self._score = 0.0
        environment.reset([seed])

    @property
    def steps(self) -> int:
        return len(self._actions)

    def step(self, action: int) -> PlayedEpisode | None:
        self._actions.append(action)
        result = self.environment.step(np.array([action], dtype=np.int64))
        self._score += float(result.rewards[0])
        if not result.episodes:
            return None
        (episode,) = result.episodes
        return self._played(score=episode.episode_return, success=episode.success)

    def unfinished(self) -> PlayedEpisode:
        return self._played(score=self._score, success=None)

    def _played(self, *, score: float, success: bool | None) -> PlayedEpisode:
        return PlayedEpisode(
            seed=self._seed,
            score=score,
            length=self.steps,
            success=success,
            actions=tuple(self._actions),
        )


def _states(environments: Sequence[VectorEnvironment]) -> LiveStates:
    batches = [environment.observations for environment in environments]
    masks = [each.action_masks for each in environments]
    return LiveStates(
        environments=environments,
        observations=_joined(batches),
        action_masks=np.concatenate([mask for mask in masks if mask is not None])
        if masks[0] is not None
        else None,
    )


def _joined(batches: Sequence[Batch]) -> Batch:
    arrays = [batch for batch in batches if isinstance(batch, np.ndarray)]
    if arrays:
        return np.concatenate(arrays)
    mappings = [batch for batch in batches if not isinstance(batch, np.ndarray)]
    return {name: np.concatenate([each[name] for each in mappings]) for name in mappings[0]}
