"""The result of a test."""

from collections.abc import Sequence
from statistics import fmean

import attrs

from oakemu_rl.core.scores import confidence_interval, standard_error
from oakemu_rl.metrics import names
from oakemu_rl.training.episodes import PlayedEpisode


@attrs.frozen(kw_only=True)
class Evaluation:
    """Scores of whole episodes from the true start.

    `interval` is the 95% confidence interval of the mean; `success_rate` is None where the
    environment does not say whether an episode was a success. `step` is the environment step of the
    weights.
    """

    mean: float
    standard_error: float | None
    interval: tuple[float, float] | None
    scores: tuple[float, ...]
    lengths: tuple[int, ...]
    success_rate: float | None
    mode: str
    step: int
    seeds: tuple[int, ...]

    @classmethod
    def of(cls, episodes: Sequence[PlayedEpisode], *, mode: str, step: int) -> "Evaluation":
        """The evaluation that these episodes make; there must be one at least."""
        scores = tuple(episode.score for episode in episodes)
        successes = [episode.success for episode in episodes if episode.success is not None]
        return cls(
            mean=fmean(scores),
            standard_error=standard_error(scores),
            interval=confidence_interval(scores),
            scores=scores,
            lengths=tuple(episode.length for episode in episodes),
            success_rate=fmean(successes) if successes else None,
            mode=mode,
            step=step,
            seeds=tuple(episode.seed for episode in episodes),
        )

    def metrics(self) -> dict[str, float]:
        """The numbers by metric name."""
        values = {
            names.EVALUATION_RETURN_MEAN: self.mean,
            names.EVALUATION_LENGTH_MEAN: fmean(self.lengths),
        }
        if self.standard_error is not None:
            values[names.EVALUATION_RETURN_ERROR] = self.standard_error
        if self.success_rate is not None:
            values[names.EVALUATION_SUCCESS_RATE] = self.success_rate
        return values
