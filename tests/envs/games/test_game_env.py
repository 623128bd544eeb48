"""Games as environments: frames, rewards, ends, seeds, states."""

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

from oakemu_rl.core.errors import EmulatorError, GameError
from oakemu_rl.envs.games.game_env import SpectrumGame
from oakemu_rl.envs.games.registry import register_games

NOOP, LEFT = 0, 1


@pytest.fixture
def counting(write_game) -> Iterator[SpectrumGame]:
    environment = SpectrumGame(str(write_game()))
    yield environment
    environment.close()


@pytest.fixture
def acorns() -> Iterator[SpectrumGame]:
    environment = SpectrumGame("acorns", render_mode="rgb_array")
    yield environment
    environment.close()


def test_a_step_runs_frame_skip_frames_and_sums_their_rewards(counting: SpectrumGame) -> None:
    counting.reset(seed=0)
    first = counting.values["frame"]
    frames = counting.frames
    _, reward, terminated, truncated, _ = counting.step(NOOP)
    assert (reward, terminated, truncated) == (4.0, False, False)
    assert counting.frames == frames + 4
    assert counting.values["frame"] == first + 4


def test_an_end_inside_a_step_stops_it_at_once(counting: SpectrumGame) -> None:
    counting.reset(seed=0)
    to_go = 13 - counting.values["frame"]
    whole_steps, rest = divmod(to_go, 4)
    assert rest, "the end must come inside a step"
    for _ in range(whole_steps):
        assert not counting.step(NOOP)[2]
    frames = counting.frames
    _, reward, terminated, truncated, _ = counting.step(NOOP)
    assert (reward, terminated, truncated) == (float(rest), True, False)
    assert counting.frames == frames + rest
    assert counting.values["frame"] == 13


@pytest.mark.parametrize("hold_frames", [1, 2, 3, 4])
def test_keys_are_held_for_the_stated_frames(write_game, hold_frames: int) -> None:
    path = write_game(("frame_skip = 4", f"frame_skip = 4\nhold_frames = {hold_frames}"))
    environment = SpectrumGame(str(path))
    environment.reset(seed=0)
    for steps in (1, 2):
        environment.step(LEFT)
        assert environment.values["held"] == steps * hold_frames
    environment.step(NOOP)
    assert environment.values["held"] == 2 * hold_frames
    environment.close()


def test_the_same_action_from_the_same_state_gives_the_same_state(acorns: SpectrumGame) -> None:
    acorns.reset(seed=3)
    for _ in range(10):
        acorns.step(LEFT)
    state = acorns.save_state()
    outcomes = set()
    for _ in range(100):
        acorns.load_state(state)
        acorns.step(LEFT)
        outcomes.add(acorns.save_state())
    assert len(outcomes) == 1


def test_memory_observations_hold_the_values_in_the_stated_order(counting: SpectrumGame) -> None:
    observation, _ = counting.reset(seed=1)
    values = counting.values
    assert observation.dtype == np.float32
    assert observation.tolist() == [values["frame"], values["held"], values["wide"]]
    assert values["wide"] == values["seed"] + 256 * values["walk"]
    assert counting.observation_space.high.tolist() == [255.0, 255.0, 65535.0]


def test_both_kinds_of_observation_come_as_a_mapping(write_game) -> None:
    area = "play_area = { x = 8, y = 16, width = 128, height = 64 }"
    path = write_game(('kind = "memory"', f'kind = "both"\nshrink = 8\n{area}'))
    environment = SpectrumGame(str(path))
    observation, _ = environment.reset(seed=0)
    assert observation["screen"].shape == (1, 8, 16)
    assert observation["memory"].shape == (3,)
    assert observation in environment.observation_space
    environment.close()


def test_observations_are_copies(acorns: SpectrumGame) -> None:
    first, _ = acorns.reset(seed=0)
    kept = first.copy()
    for _ in range(20):
        acorns.step(LEFT)
    np.testing.assert_array_equal(first, kept)
    again = acorns.observe()
    again[:] = 0
    assert acorns.observe().any()


def test_reset_with_a_seed_decides_the_games_random_numbers(acorns: SpectrumGame) -> None:
    def columns(seed: int | None) -> list[int]:
        acorns.reset(seed=seed)
        seen = []
        for _ in range(80):
            acorns.step(NOOP)
            seen.append(acorns.values["acorn_x"])
        return seen

    first, unseeded, again, another = columns(5), columns(None), columns(5), columns(6)
    assert first == again
    assert unseeded != first
    assert another != first


def test_resets_without_a_seed_draw_on_from_the_last_seed(counting: SpectrumGame) -> None:
    def seeds() -> list[int]:
        drawn = []
        for index in range(5):
            counting.reset(seed=9 if index == 0 else None)
            drawn.append(counting.values["seed"])
        return drawn

    first = seeds()
    assert len(set(first)) > 1
    assert all(first)
    assert seeds() == first


def test_a_loaded_state_goes_on_exactly_random_numbers_and_counters_included(write_game) -> None:
    path = write_game(
        ('terminated = "frame == 13"', 'terminated = "frame == 100"\nmax_steps = 7'),
    )
    environment, other = SpectrumGame(str(path)), SpectrumGame(str(path))
    environment.reset(seed=4)
    other.reset(seed=5)
    for _ in range(3):
        environment.step(LEFT)
    state = environment.save_state()

    def rest(played: SpectrumGame) -> list[object]:
        trace: list[object] = []
        for _ in range(3):
            ended = False
            while not ended:
                observation, reward, terminated, truncated, _ = played.step(LEFT)
                ended = terminated or truncated
                trace.append((observation.tolist(), reward, terminated, truncated))
            trace.append(played.reset()[0].tolist())
        return trace

    expected = rest(environment)
    assert expected[3][3], "the fourth step after the state must be the seventh of its episode"
    other.load_state(state)
    assert other.save_state() == state
    assert rest(other) == expected
    environment.load_state(state)
    assert rest(environment) == expected
    environment.close()
    other.close()


def test_a_state_is_refused_by_another_game_and_a_foreign_text_by_all(
    counting: SpectrumGame, acorns: SpectrumGame
) -> None:
    with pytest.raises(GameError, match="of the game 'counting', not of 'acorns'"):
        acorns.load_state(counting.save_state())
    with pytest.raises(GameError, match="no saved state of a game"):
        acorns.load_state(b"something else")


@pytest.mark.parametrize(("length", "error"), [(40, GameError), (-1, EmulatorError)])
def test_a_damaged_state_is_refused_and_changes_nothing(
    counting: SpectrumGame, length: int, error: type[Exception]
) -> None:
    counting.reset(seed=0)
    state = counting.save_state()
    counting.step(NOOP)
    before = counting.save_state()
    with pytest.raises(error):
        counting.load_state(state[:length])
    assert counting.save_state() == before


@pytest.mark.parametrize(
    ("limit", "reward", "steps"),
    [
        ("max_steps = 3", "1", 3),
        ("max_steps_without_reward = 2", "0", 2),
        ("max_steps_without_reward = 2", "(frame == 5) - (frame == 9)", 4),
    ],
)
def test_an_episode_without_end_or_progress_is_truncated(
    write_game, limit: str, reward: str, steps: int
) -> None:
    path = write_game(
        ('"frame - previous.frame"', f'"{reward}"'),
        ('"frame == 13"', f'"frame == 99"\n{limit}'),
    )
    environment = SpectrumGame(str(path))
    for _ in range(2):
        environment.reset(seed=0)
        flags = [environment.step(NOOP)[2:4] for _ in range(steps)]
        assert flags == [(False, False)] * (steps - 1) + [(False, True)]
    environment.close()


def test_a_step_outside_an_episode_asks_for_a_reset(counting: SpectrumGame) -> None:
    with pytest.raises(ResetNeeded):
        counting.step(NOOP)
    counting.reset(seed=0)
    while not counting.step(NOOP)[2]:
        pass
    with pytest.raises(ResetNeeded):
        counting.step(NOOP)


@pytest.mark.parametrize("action", [-1, 3])
def test_an_unknown_action_is_told_with_the_names(acorns: SpectrumGame, action: int) -> None:
    acorns.reset(seed=0)
    with pytest.raises(ValueError, match="allowed are 0 to 2: noop, left, right"):
        acorns.step(action)


def test_two_games_in_one_process_play_as_each_plays_alone() -> None:
    def play(*environments: SpectrumGame) -> list[list[bytes]]:
        states: list[list[bytes]] = [[] for _ in environments]
        for seed, environment in enumerate(environments):
            environment.reset(seed=seed)
        for step in range(60):
            for index, environment in enumerate(environments):
                environment.step((step // 7 + index) % 3)
                states[index].append(environment.save_state())
        return states

    first, second = SpectrumGame("acorns"), SpectrumGame("acorns")
    together = play(first, second)
    assert play(first)[0] == together[0]
    assert together[0] != together[1]
    first.close()
    second.close()


def test_pictures_show_the_whole_screen_and_the_border_that_was_asked_for() -> None:
    environment = SpectrumGame("acorns", render_mode="rgb_array", border_pixels=16)
    environment.reset(seed=0)
    picture = environment.render()
    assert picture.shape == (192 + 32, 256 + 32, 3)
    assert not picture[:16].any()
    plain = SpectrumGame("acorns", render_mode="rgb_array")
    plain.reset(seed=0)
    np.testing.assert_array_equal(plain.render(), picture[16:-16, 16:-16])
    environment.close()
    plain.close()


def test_without_a_render_mode_there_is_no_picture(counting: SpectrumGame) -> None:
    assert counting.render() is None


def test_a_wrong_render_mode_and_border_are_refused() -> None:
    with pytest.raises(ValueError, match="render_mode is 'human', allowed are"):
        SpectrumGame("acorns", render_mode="human")
    with pytest.raises(ValueError, match="border_pixels is -1"):
        SpectrumGame("acorns", border_pixels=-1)


def test_a_closed_game_refuses_to_be_played(counting: SpectrumGame) -> None:
    counting.close()
    with pytest.raises(EmulatorError, match="closed"):
        counting.reset(seed=0)


@pytest.mark.parametrize("name", ["counting", "acorns"])
def test_gymnasium_finds_nothing_to_warn_of(write_game, name: str) -> None:
    register_games()
    game = str(write_game()) if name == "counting" else name
    environment = gymnasium.make("OakEmu/Acorns-v0", game=game, render_mode="rgb_array")
    check_env(environment.unwrapped)
    environment.close()


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_a_vector_of_games_keeps_each_final_observation(write_game, mode: str) -> None:
    path = write_game()
    vector = gymnasium.vector.SyncVectorEnv(
        [lambda: SpectrumGame(str(path))], autoreset_mode=gymnasium.vector.AutoresetMode[mode]
    )
    vector.reset(seed=0)
    terminated = np.array([False])
    while not terminated[0]:
        observations, _, terminated, _, infos = vector.step(np.array([NOOP]))
    final = infos["final_obs"][0] if mode == "SAME_STEP" else observations[0]
    assert final[0] == 13.0
    vector.close()
