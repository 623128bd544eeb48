"""What an actor counts and tells while it plays."""

from functools import partial

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.options import EnvironmentOptions, MetricsOptions
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.metrics import names
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.training.progress import ActorProgress
from tests.envs.counting import Counting, vectorised
from tests.training.parts import Outlets

NOTHING = np.zeros(2, dtype=np.int64)


def progress_of(outlets: Outlets, *, seed: int = 0, window: int = 100) -> ActorProgress:
    config = DQNExperimentConfiguration(metrics=MetricsOptions(episode_window=window))
    return ActorProgress(RuntimeContext(config=config, seed=seed, metrics=outlets))


def test_the_first_episodes_begin_on_seeds_that_follow_from_the_runs() -> None:
    progress = progress_of(Outlets(), seed=5)
    one, other = (
        make_vector_environment(EnvironmentOptions(id="CartPole-v1"), count=2) for _ in range(2)
    )
    assert not progress.begun
    progress.begin(one)
    assert progress.begun
    other.reset([derive_seed(5, "environment", index) for index in range(2)])
    np.testing.assert_array_equal(one.observations, other.observations)
    one.close()
    other.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_steps_are_counted_and_resets_are_not(mode: AutoresetMode) -> None:
    progress = progress_of(Outlets())
    environments = vectorised(partial(Counting, 3), partial(Counting, 5), mode=mode)
    progress.begin(environments)
    for _ in range(12):
        progress.count(environments.step(NOTHING))
    # In twelve calls one environment is reset three times, and the other twice.
    assert progress.env_steps == (24 - 3 - 2 if mode is AutoresetMode.NEXT_STEP else 24)
    assert type(progress.env_steps) is int


def test_a_report_tells_of_the_newest_episodes_of_the_time_and_what_is_given_beside() -> None:
    outlets = Outlets()
    progress = progress_of(outlets, window=2)
    environments = vectorised(partial(Counting, 3), partial(Counting, 5))
    progress.begin(environments)
    for call in range(1, 11):
        progress.count(environments.step(NOTHING))
        if call == 2:
            progress.report()
    progress.report({names.EXPLORATION_RATE: 0.5})
    (steps, first), (later, last) = outlets.records
    assert (steps, later) == (4, 20)
    # No episode has ended before the first report; the newest two are one of 3 steps and one of 5.
    assert set(first) == {names.FPS, names.TIME_ELAPSED, names.TOTAL_TIMESTEPS}
    assert last[names.EPISODE_LENGTH_MEAN] == 4.0
    assert last[names.EPISODE_RETURN_MEAN] == (1 + 2 + 3 + 1 + 2 + 3 + 4 + 5) / 2
    assert last[names.EXPLORATION_RATE] == 0.5
    assert last[names.TOTAL_TIMESTEPS] == 20
    assert last[names.TIME_ELAPSED] > first[names.TIME_ELAPSED] > 0.0
    assert last[names.FPS] == pytest.approx(20 / last[names.TIME_ELAPSED])
