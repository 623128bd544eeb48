"""The vector adapter: the same true transitions from every autoreset mode."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control.cartpole import CartPoleVectorEnv
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv

from oakemu_rl.envs.episodes import FinishedEpisode
from oakemu_rl.envs.in_process import InProcessEnvironments
from oakemu_rl.envs.vector import VectorEnvironment
from tests.envs.counting import MODES, Counting, transitions, vectorised

NEXT_STEP, SAME_STEP, DISABLED = (
    AutoresetMode.NEXT_STEP,
    AutoresetMode.SAME_STEP,
    AutoresetMode.DISABLED,
)


def pairs(environment: VectorEnvironment, calls: int) -> list[tuple[float, float]]:
    (rows,) = transitions(environment, calls)
    return [(row.observation, row.next_observation) for row in rows]


def test_twelve_calls_under_next_step_are_nine_transitions_and_three_resets() -> None:
    environment = vectorised(Counting, mode=NEXT_STEP)
    environment.reset([0])
    steps = [environment.step(np.array([0])) for _ in range(12)]
    resets = [call for call, step in enumerate(steps, start=1) if not step.valid[0]]
    assert resets == [4, 8, 12]
    for call in resets:
        step = steps[call - 1]
        assert (step.rewards[0], step.terminated[0], step.truncated[0]) == (0.0, False, False)
        assert step.episodes == ()
    assert sum(int(step.valid.sum()) for step in steps) == 9
    assert pairs(environment, 12) == [(0, 1), (1, 2), (2, 3)] * 3


@pytest.mark.parametrize("mode", [SAME_STEP, DISABLED])
def test_other_modes_lose_no_call_to_resets(mode: AutoresetMode) -> None:
    assert pairs(vectorised(Counting, mode=mode), 9) == [(0, 1), (1, 2), (2, 3)] * 3


@pytest.mark.parametrize("terminates", [True, False])
def test_every_mode_gives_the_same_transitions(terminates: bool) -> None:
    makers = [partial(Counting, length, terminates=terminates) for length in (3, 1, 5)]
    lists = [transitions(vectorised(*makers, mode=mode), 40, (0, 1, 2)) for mode in MODES]
    for row in range(3):
        shortest = min(len(rows[row]) for rows in lists)
        assert shortest >= 20
        first, second, third = (rows[row][:shortest] for rows in lists)
        assert first == second == third


def test_environments_in_this_process_give_what_gymnasiums_own_give() -> None:
    for maker in (partial(Counting, 2, masks="info"), partial(gymnasium.make, "CartPole-v1")):
        theirs = vectorised(maker, maker)
        ours = VectorEnvironment(InProcessEnvironments([maker(), maker()]))
        assert transitions(ours, 60, (0, 1)) == transitions(theirs, 60, (0, 1))
        if theirs.action_masks is not None:
            np.testing.assert_array_equal(ours.action_masks, theirs.action_masks)


def test_every_mode_plays_cartpole_alike() -> None:
    makers = [partial(gymnasium.make, "CartPole-v1")] * 2
    lists = [transitions(vectorised(*makers, mode=mode), 120, (0, 1, 1)) for mode in MODES]
    for row in range(2):
        shortest = min(len(rows[row]) for rows in lists)
        first, second, third = (rows[row][:shortest] for rows in lists)
        assert first == second == third
        assert any(transition.terminated for transition in first)


@pytest.mark.parametrize(
    ("mode", "reuses_array"), [(NEXT_STEP, True), (DISABLED, True), (SAME_STEP, False)]
)
@pytest.mark.parametrize("copy", [True, False])
def test_observations_are_right_even_from_one_mutable_array(
    mode: AutoresetMode, reuses_array: bool, copy: bool
) -> None:
    environment = vectorised(partial(Counting, reuses_array=reuses_array), mode=mode, copy=copy)
    assert pairs(environment, 3) == [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize("mode", MODES)
def test_returns_and_lengths_are_those_of_the_episodes(mode: AutoresetMode) -> None:
    environment = vectorised(partial(Counting, 2), partial(Counting, 3), mode=mode)
    environment.reset([0, 1])
    episodes = [
        episode for _ in range(16) for episode in environment.step(np.array([0, 0])).episodes
    ]
    for row, expected in ((0, (3.0, 2)), (1, (6.0, 3))):
        found = [(e.episode_return, e.length) for e in episodes if e.environment == row]
        assert found == [expected] * len(found)
        assert len(found) >= 4


@pytest.mark.parametrize("mode", MODES)
def test_a_reset_forgets_the_episodes_under_way(mode: AutoresetMode) -> None:
    environment = vectorised(Counting, mode=mode)
    environment.reset([0])
    for _ in range(3):
        environment.step(np.array([0]))
    environment.reset([0])
    assert environment.observations[0] == 0
    step = [environment.step(np.array([0])) for _ in range(3)][-1]
    assert step.valid.all()
    assert step.episodes == (
        FinishedEpisode(environment=0, episode_return=6.0, length=3, success=None),
    )


@pytest.mark.parametrize("mode", MODES)
def test_mappings_keep_their_true_ends(mode: AutoresetMode) -> None:
    space = spaces.Dict({"count": Counting().observation_space, "parity": spaces.Discrete(2)})
    environment = vectorised(partial(Counting, space=space), mode=mode)
    environment.reset([0])
    step = [environment.step(np.array([0])) for _ in range(3)][-1]
    assert isinstance(step.next_observations, dict)
    np.testing.assert_array_equal(step.next_observations["count"], [[3.0]])
    np.testing.assert_array_equal(step.next_observations["parity"], [[0.0, 1.0]])
    if mode is not NEXT_STEP:
        assert isinstance(environment.observations, dict)
        np.testing.assert_array_equal(environment.observations["count"], [[0.0]])


@pytest.mark.parametrize("mode", MODES)
def test_what_was_handed_out_is_never_written_to(mode: AutoresetMode) -> None:
    environment = vectorised(partial(Counting, masks="info"), mode=mode, copy=False)
    environment.reset([0])
    kept: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def keep(array: Any) -> None:
        kept.append((array, array.copy()))

    for _ in range(9):
        keep(environment.observations)
        keep(environment.action_masks)
        step = environment.step(np.array([0]))
        for array in (
            step.next_observations, step.rewards, step.terminated, step.truncated, step.valid
        ):  # fmt: skip
            keep(array)
    assert all(np.array_equal(array, copy) for array, copy in kept)


def test_an_environment_that_is_vectorised_in_itself_is_adapted() -> None:
    environment = VectorEnvironment(CartPoleVectorEnv(num_envs=3))
    environment.reset([5, 6, 7])
    first = environment.observations
    assert isinstance(first, np.ndarray)
    assert first.flags.c_contiguous
    episodes = []
    for _ in range(60):
        episodes += environment.step(np.zeros(3, dtype=np.int64)).episodes
    assert {episode.environment for episode in episodes} == {0, 1, 2}
    assert all(episode.episode_return == episode.length for episode in episodes)
    environment.reset([5, 6, 7])
    np.testing.assert_array_equal(environment.observations, first)


class LoudResets(SyncVectorEnv):
    """Gives rewards and ends with its resets too, as an environment of its own might."""

    def step(self, actions: Any) -> Any:
        resets = self._autoreset_envs.copy()
        observations, rewards, terminated, truncated, infos = super().step(actions)
        return observations, np.where(resets, 7.0, rewards), terminated | resets, truncated, infos


def test_what_comes_with_a_reset_row_counts_for_nothing() -> None:
    loud = VectorEnvironment(LoudResets([Counting]))
    assert transitions(loud, 12) == transitions(vectorised(Counting, mode=NEXT_STEP), 12)
    loud.reset([0])
    steps = [loud.step(np.array([0])) for _ in range(8)]
    assert [float(step.rewards[0]) for step in steps if not step.valid[0]] == [0.0, 0.0]
    returns = [episode.episode_return for step in steps for episode in step.episodes]
    assert returns == [6.0, 6.0]


class BatchedEnds(SyncVectorEnv):
    """Gives its last observations as one batch, as environments vectorised in themselves do."""

    def step(self, actions: Any) -> Any:
        *results, infos = super().step(actions)
        if "final_obs" in infos:
            rows = [np.zeros(1) if row is None else row for row in infos["final_obs"]]
            infos["final_obs"] = np.stack(rows)
        return (*results, infos)


def test_last_observations_may_come_as_one_batch() -> None:
    envs = BatchedEnds([partial(Counting, 3), partial(Counting, 2)], autoreset_mode=SAME_STEP)
    plain = vectorised(partial(Counting, 3), partial(Counting, 2), mode=SAME_STEP)
    assert transitions(VectorEnvironment(envs), 9) == transitions(plain, 9)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_actions_of_any_integer_type_are_taken(dtype: type[np.integer[Any]]) -> None:
    environment = vectorised(partial(gymnasium.make, "CartPole-v1"))
    environment.reset([0])
    assert environment.step(np.array([1], dtype=dtype)).valid.all()


def test_the_first_action_may_have_another_number() -> None:
    taken: list[int] = []

    class FromFive(Counting):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Discrete(3, start=5)

        def step(self, action: Any) -> Any:
            taken.append(int(action))
            return super().step(action)

    environment = vectorised(FromFive)
    assert environment.action_spec.count == 3
    environment.reset([0])
    for action in range(3):
        environment.step(np.array([action], dtype=np.uint8))
    assert taken == [5, 6, 7]


def test_seeds_decide_the_episodes_one_by_one() -> None:
    makers = [partial(gymnasium.make, "CartPole-v1")] * 3
    environment = vectorised(*makers)
    environment.reset([4, 9, 4])
    first, second, third = environment.observations
    assert np.array_equal(first, third)
    assert not np.array_equal(first, second)


def test_a_picture_is_passed_out_and_a_missing_one_is_none() -> None:
    class Drawing(Counting):
        render_mode = "rgb_array"

        def render(self) -> Any:
            return np.full((2, 2, 3), self._count, dtype=np.uint8)

    environment = vectorised(Drawing, Drawing)
    environment.reset([0, 1])
    environment.step(np.array([0, 0]))
    picture = environment.render(0)
    assert picture is not None
    assert picture.shape == (2, 2, 3)
    assert picture.max() == 1
    assert vectorised(Counting).render(0) is None


def test_success_is_taken_from_the_end_in_every_mode() -> None:
    class Judging(Counting):
        def _info(self) -> dict[str, Any]:
            return {"is_success": self._count == self._length}

    for mode in MODES:
        environment = vectorised(partial(Judging, 2), partial(Judging, 3), mode=mode)
        environment.reset([0, 1])
        episodes = [e for _ in range(8) for e in environment.step(np.zeros(2, np.int64)).episodes]
        assert len(episodes) >= 4
        assert all(episode.success is True for episode in episodes)


def test_closing_closes_the_environments() -> None:
    closed: list[VectorEnv[Any, Any, Any] | Counting] = []

    class Closing(Counting):
        def close(self) -> None:
            closed.append(self)

    vectorised(Closing, Closing).close()
    VectorEnvironment(InProcessEnvironments([Closing(), Closing()])).close()
    assert len(closed) == 4
