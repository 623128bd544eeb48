"""The numbers of a test."""

import math

import pytest

from oakemu_rl.metrics import names
from oakemu_rl.training.episodes import PlayedEpisode
from oakemu_rl.training.evaluation import Evaluation


def episodes(scores: list[float], successes: list[bool | None]) -> list[PlayedEpisode]:
    return [
        PlayedEpisode(seed=100 + index, score=score, length=10 * index, success=success, actions=())
        for index, (score, success) in enumerate(zip(scores, successes, strict=True))
    ]


def test_scores_become_a_mean_its_error_and_an_interval() -> None:
    played = episodes([1.0, 2.0, 3.0, 6.0], [True, False, True, True])
    evaluation = Evaluation.of(played, mode="greedy", step=500)
    # The deviation is sqrt(14/3), the error half of it, and t(0.95, 3 degrees) 3.182446.
    error = math.sqrt(14 / 3) / 2
    assert evaluation.mean == 3.0
    assert evaluation.standard_error == pytest.approx(error)
    assert evaluation.interval == pytest.approx((3 - 3.182446 * error, 3 + 3.182446 * error))
    assert evaluation.success_rate == 0.75
    assert (evaluation.scores, evaluation.lengths) == ((1.0, 2.0, 3.0, 6.0), (0, 10, 20, 30))
    assert evaluation.seeds == (100, 101, 102, 103)
    assert (evaluation.mode, evaluation.step) == ("greedy", 500)
    assert evaluation.metrics() == {
        names.EVALUATION_RETURN_MEAN: 3.0,
        names.EVALUATION_LENGTH_MEAN: 15.0,
        names.EVALUATION_RETURN_ERROR: pytest.approx(error),
        names.EVALUATION_SUCCESS_RATE: 0.75,
    }


def test_of_one_episode_the_spread_is_not_known() -> None:
    evaluation = Evaluation.of(episodes([4.0], [None]), mode="sampled", step=0)
    assert (evaluation.mean, evaluation.standard_error, evaluation.interval) == (4.0, None, None)
    assert evaluation.success_rate is None
    assert set(evaluation.metrics()) == {
        names.EVALUATION_RETURN_MEAN,
        names.EVALUATION_LENGTH_MEAN,
    }


def test_episodes_that_do_not_tell_of_success_count_for_none() -> None:
    evaluation = Evaluation.of(episodes([0.0] * 3, [True, None, False]), mode="greedy", step=0)
    assert evaluation.success_rate == 0.5
