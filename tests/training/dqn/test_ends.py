"""What becomes of an episode's end on its way from the environment to the learner's targets."""

from typing import Any

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from oakemu_rl.core.schedules import constant
from oakemu_rl.metrics import names
from tests.envs.counting import MODES, vectorised
from tests.training.dqn.batches import updater_of
from tests.training.dqn.parts import Parts, acting_parts, config_of, telling_model
from tests.training.dqn.worlds import Scripted

ENDS = ("terminated", "truncated", "both")
TEN, STILL = (10.0, 8.0), {"learning_rate": constant(0.0)}
"""Q(x) is 10 at the true end of an episode, and 2.5 in each other state; it stays so."""


def played(env: Scripted, *, mode: AutoresetMode, steps: int, **options: Any) -> Parts:
    """So many calls of the environment, written into the replay."""
    config = config_of(replay={"gamma": 0.9, "warm_up_steps": 8, **options}, optimisation={**STILL})
    parts = acting_parts(config, vectorised(lambda: env, mode=mode), model=telling_model(*TEN))
    for _ in range(steps):
        parts.acting.step()
    return parts


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ends", ENDS)
def test_a_cut_bootstraps_from_the_true_last_state_and_a_true_end_does_not(
    ends: str, mode: AutoresetMode
) -> None:
    parts = played(Scripted([1.0], ends=ends), mode=mode, steps=40)
    for step in range(100):
        assert parts.learner.step(9 + step)
    wanted = 10.0 if ends == "truncated" else 1.0
    assert parts.outlets.series(names.TARGET_MEAN) == [pytest.approx(wanted)]


def targets(parts: Parts) -> dict[tuple[float, ...], set[float]]:
    """The targets of windows, by their rewards."""
    model = parts.model.model
    updater, found = updater_of(parts.learner.config, model), dict[Any, set[float]]()
    for seed in range(20):
        batch = parts.replay.sample(8, generator=np.random.default_rng(seed))
        made = updater.update(
            batch,
            rewards=batch.rewards,
            model=telling_model(*TEN),
            target_model=parts.target,
            beta=0.0,
        )
        for rewards, target in zip(batch.rewards.tolist(), made.targets.tolist(), strict=True):
            found.setdefault(tuple(rewards), set()).add(round(target, 4))
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("ends", ENDS)
def test_windows_of_three_steps_end_with_their_episode(ends: str, mode: AutoresetMode) -> None:
    # The last call ends an episode, so that no window is cut by the newest step; resets are calls.
    steps = 32 if mode is AutoresetMode.NEXT_STEP else 24
    env = Scripted([1.0, 1.0], [100.0], [1.0] * 5, ends=ends)
    found = targets(played(env, mode=mode, steps=steps, n_step=3))
    cut = ends == "truncated"
    assert found == {
        (1.0, 1.0, 0.0): {1.9 + 8.1 * cut},
        (1.0, 0.0, 0.0): {1.0 + 9.0 * cut},
        (100.0, 0.0, 0.0): {100.0 + 9.0 * cut},
        (1.0, 1.0, 1.0): {
            round(2.71 + 0.729 * 2.5, 4),
            round(2.71 + 7.29 * cut, 4),
        },
    }


def test_the_newest_step_cuts_a_window_and_bootstraps_from_where_it_led() -> None:
    parts = played(Scripted([1.0] * 50), mode=AutoresetMode.DISABLED, steps=9, n_step=3)
    found = targets(parts)
    assert found == {
        (1.0, 1.0, 1.0): {round(2.71 + 0.729 * 2.5, 4)},
        (1.0, 1.0, 0.0): {round(1.9 + 0.81 * 2.5, 4)},
        (1.0, 0.0, 0.0): {round(1.0 + 0.9 * 2.5, 4)},
    }


def test_learning_from_windows_leaves_the_replay_as_it_was() -> None:
    parts = played(Scripted([1.0, 1.0], [100.0]), mode=AutoresetMode.DISABLED, steps=30, n_step=3)

    def drawn() -> list[torch.Tensor]:
        batch = parts.replay.sample(len(parts.replay), generator=np.random.default_rng(0))
        assert isinstance(batch.observations, torch.Tensor)
        return [batch.observations.clone(), batch.rewards.clone(), batch.lengths.clone()]

    before = drawn()
    for step in range(20):
        assert parts.learner.step(9 + step)
    assert all(torch.equal(one, other) for one, other in zip(before, drawn(), strict=True))
