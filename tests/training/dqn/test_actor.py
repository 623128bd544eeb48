"""The actor: what it does, what it writes down, and when it waits."""

import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.schedules import constant, linear
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.metrics import names
from oakemu_rl.training.dqn.actor import REPORT_STEPS
from tests.envs.counting import MODES, Counting, vectorised
from tests.runtime.background import LIMIT_SECONDS, Background
from tests.training.dqn.parts import Parts, acting_parts, config_of, noise_of, telling_model
from tests.training.worlds import MASKED_ID, Calling

Maker = Callable[[], gymnasium.Env[Any, Any]]


def acting(*makers: Maker, mode: AutoresetMode = AutoresetMode.DISABLED, **options: Any) -> Parts:
    """An actor on these environments."""
    return acting_parts(config_of(**options), vectorised(*makers, mode=mode))


def column(batch: TransitionBatch, name: str) -> list[float]:
    tensor = getattr(batch, name)
    assert isinstance(tensor, torch.Tensor)
    flat: list[float] = tensor.reshape(len(tensor), -1)[:, 0].tolist()
    return flat


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("terminates", [False, True])
def test_it_writes_the_true_transitions_and_counts_no_resets(
    mode: AutoresetMode, terminates: bool
) -> None:
    parts = acting(partial(Counting, 3, terminates=terminates), mode=mode)
    for _ in range(12):
        parts.acting.step()
    expected = 9 if mode is AutoresetMode.NEXT_STEP else 12
    assert parts.acting.env_steps == len(parts.replay) == expected
    generator, found = np.random.default_rng(0), set()
    for _ in range(40):
        batch = parts.replay.sample(8, generator=generator)
        columns = ("observations", "rewards", "next_observations", "terminated")
        found |= set(zip(*(column(batch, name) for name in columns), strict=True))
    assert found == {(0, 1, 1, False), (1, 2, 2, False), (2, 3, 3, terminates)}


MASKED = [(mode, "info") for mode in MODES] + [
    # In the other mode the mask of an end is gone before the environment can be asked for it.
    (mode, "method")
    for mode in (AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP)
]


@pytest.mark.parametrize(("mode", "masks"), MASKED)
def test_a_mask_is_stored_beside_the_observation_it_belongs_to(
    mode: AutoresetMode, masks: str
) -> None:
    parts = acting(partial(Counting, 4, masks=masks), partial(Counting, 3, masks=masks), mode=mode)
    for _ in range(30):
        parts.acting.step()
    generator = np.random.default_rng(0)
    for _ in range(20):
        batch = parts.replay.sample(8, generator=generator)
        for name in ("", "next_"):
            observations = column(batch, f"{name}observations")
            stored = getattr(batch, f"{name}action_masks")
            wanted = [[action != int(seen) % 3 for action in range(3)] for seen in observations]
            assert stored.tolist() == wanted
        assert batch.action_masks is not None
        assert bool(batch.action_masks.gather(1, batch.actions.unsqueeze(1)).all())


class Valued(Counting):
    """Has the value `count`, which is its observation, and another that nobody reads."""

    @property
    def values(self) -> Mapping[str, float]:
        return {"count": self._count, "other": 7.0}


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP])
def test_named_values_lie_beside_the_observations_of_their_window(mode: AutoresetMode) -> None:
    makers: list[Any] = [partial(Valued, 5), partial(Valued, 3)]
    environments = VectorEnvironment(
        SyncVectorEnv(makers, autoreset_mode=mode), value_names=["count"]
    )
    config = config_of(replay={"n_step": 2}, shaping={"potential": {"count": 1.0}})
    parts = acting_parts(config, environments)
    for _ in range(20):
        parts.acting.step()
    generator = np.random.default_rng(0)
    for _ in range(20):
        batch = parts.replay.sample(8, generator=generator)
        assert list(batch.values) == ["count"]
        counts, lengths = batch.values["count"], batch.lengths
        assert counts[:, 0].tolist() == column(batch, "observations")
        after = counts.gather(1, lengths.unsqueeze(1))[:, 0]
        assert after.tolist() == column(batch, "next_observations")


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_in_10_000_steps_with_random_masks_no_action_is_illegal(epsilon: float) -> None:
    options = EnvironmentOptions(id=MASKED_ID)
    config = config_of(replay={"capacity": 20_000}, exploration={"epsilon": constant(epsilon)})
    parts = acting_parts(config, make_vector_environment(options, count=50))
    for _ in range(200):
        # An illegal action would raise in the environment.
        parts.acting.step()
    assert parts.acting.env_steps == 10_000
    batch = parts.replay.sample(9_000, generator=np.random.default_rng(0))
    assert set(batch.actions.tolist()) == set(range(5))


def test_actions_that_are_not_allowed_by_name_are_never_taken() -> None:
    config = config_of(
        environment={"id": "CartPole-v1", "actions": ("1",)},
        exploration={"epsilon": constant(0.9)},
    )
    parts = acting_parts(config, make_vector_environment(config.environment, count=4))
    for _ in range(10):
        parts.acting.step()
    batch = parts.replay.sample(30, generator=np.random.default_rng(0))
    assert set(batch.actions.tolist()) == {1}


def test_it_explores_as_often_as_its_schedule_says_at_each_step() -> None:
    taken: list[int] = []
    parts = acting_parts(
        config_of(exploration={"epsilon": linear(1.0, 0.0, steps=2_000)}),
        vectorised(partial(Noting, taken)),
        model=telling_model(0.0, 1.0, 0.0),
    )
    for _ in range(2_500):
        parts.acting.step()
    # Action 1 has the greatest value; of three a third of the random ones are it.
    others = [action != 1 for action in taken]
    assert np.mean(others[:500]) == pytest.approx(2 / 3 * 0.875, abs=0.07)
    assert np.mean(others[1_500:2_000]) == pytest.approx(2 / 3 * 0.125, abs=0.05)
    assert not any(others[2_000:])
    rates = parts.outlets.series(names.EXPLORATION_RATE)
    assert rates == pytest.approx([1.0 - step / 2_000 for step in (499, 999, 1_499, 1_999)] + [0.0])


class Noting(Calling):
    """Keeps the actions it is given."""

    def __init__(self, taken: list[int]) -> None:
        super().__init__()
        self._taken = taken

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        self._taken.append(int(action))
        _, *rest = super().step(action)
        return np.ones(1, np.float32), *rest


@pytest.mark.parametrize("in_one_thread", [True, False])
def test_it_acts_by_the_newest_weights(in_one_thread: bool) -> None:
    taken: list[int] = []
    parts = acting_parts(
        config_of(exploration={"epsilon": constant(0.0)}),
        vectorised(partial(Noting, taken)),
        model=telling_model(0.0, 1.0, 0.0),
        in_one_thread=in_one_thread,
    )
    parts.acting.step()
    for best in (2, 0, 1):
        with parts.model.updating() as model:
            slopes = [float(action == best) for action in range(3)]
            model.load_state_dict(telling_model(*slopes).state_dict())
            parts.model.advance()
        parts.acting.step()
    # The first observation of all is 0, in which all actions are equal.
    assert taken == [0, 2, 0, 1]


@pytest.mark.parametrize("in_one_thread", [True, False])
def test_noise_is_drawn_anew_for_each_step(in_one_thread: bool) -> None:
    parts = acting_parts(
        config_of(model={"noisy": True}, exploration={"epsilon": constant(0.0)}),
        vectorised(partial(Counting, 3)),
        in_one_thread=in_one_thread,
    )
    assert (parts.acting_model is parts.model.model) == in_one_thread
    seen: list[torch.Tensor] = []
    for _ in range(5):
        parts.acting.step()
        seen.append(noise_of(parts.acting_model))
        assert bool(seen[-1].any())
        assert not any(torch.equal(seen[-1], other) for other in seen[:-1])
    # The learner's own model keeps the noise of its update where it is another one.
    assert bool(noise_of(parts.model.model).any()) == in_one_thread


def test_it_stops_when_all_steps_are_taken_and_tells_what_it_did() -> None:
    parts = acting(
        partial(Counting, 4),
        partial(Counting, 4),
        replay={"capacity": 2_000, "warm_up_steps": 2_000},
        run={"total_steps": 2 * REPORT_STEPS + 7},
    )
    Background(parts.acting.run).result()
    assert parts.acting.finished
    assert parts.acting.env_steps == 2 * REPORT_STEPS + 8
    assert [steps for steps, _ in parts.outlets.records] == [500, 1_000, 1_008]
    assert parts.outlets.series(names.REPLAY_SIZE)[-1] == len(parts.replay)
    assert parts.outlets.series(names.EPISODE_LENGTH_MEAN) == [4.0] * 3
    assert parts.outlets.series(names.EPISODE_RETURN_MEAN) == [10.0] * 3
    Background(parts.acting.run).result()
    assert parts.acting.env_steps == 2 * REPORT_STEPS + 8


def test_it_waits_for_a_learner_that_is_too_far_behind_and_goes_on_with_it() -> None:
    options = {"max_lag_updates": 5, "batch_size": 8}
    parts = acting(partial(Counting, 4), optimisation=options, run={"total_steps": 200})
    actor = Background(parts.acting.run)
    waited = threading.Event()
    for _ in range(int(LIMIT_SECONDS / 0.002)):
        if parts.acting.is_ahead():
            break
        waited.wait(0.002)
    # One update is due at each step after the eighth; the actor may be five ahead and one more.
    assert parts.acting.env_steps == 8 + 6
    assert not parts.acting.finished
    while parts.acting.is_ahead():
        assert parts.learner.step(parts.acting.env_steps)
    parts.context.stop_event.set()
    actor.result()
    assert 14 <= parts.acting.env_steps <= 16


def test_it_never_waits_for_a_learner_that_has_too_little_to_learn_from() -> None:
    parts = acting(
        partial(Counting, 4),
        replay={"capacity": 8, "warm_up_steps": 8},
        optimisation={"max_lag_updates": 1, "batch_size": 8},
        run={"total_steps": 60},
    )
    Background(parts.acting.run).result()
    assert parts.acting.env_steps == 60
    assert parts.learner.iterations == 0


def test_it_takes_no_step_after_a_stop() -> None:
    parts = acting(partial(Counting, 4))
    parts.context.stop_event.set()
    Background(parts.acting.run).result()
    assert parts.acting.env_steps == 0


def test_a_stop_that_comes_just_before_a_step_is_heeded() -> None:
    stops: list[threading.Event] = []

    def stop() -> int:
        stops[0].set()
        return 0

    parts = acting_parts(config_of(), vectorised(partial(Counting, 4)), updates=stop)
    stops.append(parts.context.stop_event)
    Background(parts.acting.run).result()
    assert parts.acting.env_steps == 0
