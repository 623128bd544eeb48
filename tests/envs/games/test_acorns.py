"""Our game Acorns: its program, its rules, and what players score."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from oakemu_rl.envs.games.game_env import SpectrumGame
from oakemu_rl.envs.games.players import AcornsPlayer
from oakemu_rl.envs.games.registry import find_game
from oakemu_rl.envs.spectrum.machine import SpectrumMachine

NOOP, LEFT, RIGHT = 0, 1, 2
Policy = Callable[[SpectrumGame], int]


@pytest.fixture
def game() -> Iterator[SpectrumGame]:
    environment = SpectrumGame("acorns")
    yield environment
    environment.close()


def play(game: SpectrumGame, policy: Policy, *, seed: int) -> tuple[float, int]:
    """The score and the steps of one episode."""
    game.reset(seed=seed)
    score, steps, terminated = 0.0, 0, False
    while not terminated:
        _, reward, terminated, truncated, _ = game.step(policy(game))
        assert not truncated
        score += reward
        steps += 1
    assert score == game.values["score"]
    assert game.values["lives"] == 0
    return score, steps


def scripted(game: SpectrumGame) -> int:
    return AcornsPlayer().act(game.values)


def test_the_shipped_program_is_what_the_source_assembles_to(tmp_path: Path) -> None:
    definition = find_game("acorns")
    assembler = shutil.which("pasmo")
    assert assembler is not None, "this test needs the assembler: apt-get install pasmo"
    built = tmp_path / "acorns.bin"
    source = definition.path.with_suffix(".asm")
    subprocess.run([assembler, "--bin", str(source), str(built)], check=True)
    assert built.read_bytes() == definition.program


def test_an_episode_begins_with_five_lives_no_points_and_no_acorn(game: SpectrumGame) -> None:
    observation, _ = game.reset(seed=0)
    values = game.values
    assert (values["score"], values["lives"], values["state"], values["phase"]) == (0, 5, 1, 0)
    assert observation.shape == (1, 30, 64)
    assert game.action_names == ("noop", "left", "right")


def test_standing_still_scores_nothing_wherever_one_stands(game: SpectrumGame) -> None:
    for action in (NOOP, LEFT, RIGHT):
        score, steps = play(game, lambda _, action=action: action, seed=1)
        assert score == 0
        assert steps < 100


def test_a_random_player_scores_little(game: SpectrumGame) -> None:
    generator = np.random.default_rng(0)
    games = [play(game, lambda _: int(generator.integers(3)), seed=s) for s in range(20)]
    scores, lengths = zip(*games, strict=True)
    assert 0.3 <= np.mean(scores) <= 2.5
    assert np.mean(lengths) < 150


def test_a_scripted_player_scores_well_but_not_for_ever(game: SpectrumGame) -> None:
    for seed in range(3):
        score, steps = play(game, scripted, seed=seed)
        assert 30 <= score <= 45
        assert steps <= 500


def test_a_catch_scores_one_point_and_a_miss_costs_one_life(game: SpectrumGame) -> None:
    game.reset(seed=2)
    while game.values["score"] == 0:
        before = game.values
        reward = game.step(scripted(game))[1]
    assert reward == 1.0
    assert game.values["lives"] == before["lives"]
    while game.values["lives"] == 5:
        reward = game.step(LEFT)[1]
        assert reward == 0.0
    assert game.values["lives"] == 4
    assert game.values["score"] == 1


def test_a_step_moves_the_basket_by_two_columns_up_to_the_edges(game: SpectrumGame) -> None:
    game.reset(seed=0)
    place = game.values["basket"]
    game.step(LEFT)
    assert game.values["basket"] == place - 2
    game.step(RIGHT)
    game.step(NOOP)
    assert game.values["basket"] == place
    for action, edge in ((RIGHT, 26), (LEFT, 4)):
        for _ in range(15):
            game.step(action)
        assert game.values["basket"] == edge


def test_acorns_begin_away_from_the_basket(game: SpectrumGame) -> None:
    for seed in range(20):
        game.reset(seed=seed)
        while game.values["phase"] == 0:
            game.step(NOOP)
        values = game.values
        assert 5 <= values["acorn_x"] <= 27
        assert abs(values["acorn_x"] - values["basket"] - 2) >= 6


def test_acorn_and_basket_stand_out_of_the_grey_sky(game: SpectrumGame) -> None:
    game.reset(seed=0)
    while game.values["acorn_y"] < 96:
        game.step(NOOP)
    values = game.values
    image = game.observe()[0].astype(int)
    first = game.definition.settings.observation.play_area.y
    sky = image[(144 - first) // 4, 40]
    top, left = (values["acorn_y"] - first) // 4 + 1, 2 * values["acorn_x"]
    assert (sky - image[top : top + 2, left + 1 : left + 3] > 60).all()
    rim = (160 - first) // 4
    basket = image[rim : rim + 4, 2 * values["basket"] + 2 : 2 * values["basket"] + 10]
    assert (sky - basket > 40).all()


def test_a_seed_of_zero_does_not_stop_the_game() -> None:
    definition = find_game("acorns")
    machine = SpectrumMachine()
    machine.write(0x8000, definition.program)
    machine.jump(entry=0x8000, stack=0xFD00)
    machine.run_frames(20)
    machine.set_keys(["SPACE"])
    machine.run_frames(8)
    machine.set_keys([])
    machine.write(definition.settings.values["seed"].address, b"\0\0")
    machine.run_frames(300)
    lives = definition.settings.values["lives"].address
    assert machine.read(lives) < b"\x05"
    machine.close()


def test_space_starts_another_game_and_the_best_score_stays(game: SpectrumGame) -> None:
    definition = find_game("acorns")
    values = definition.settings.values
    play(game, scripted, seed=0)
    state = game.save_state()
    machine = SpectrumMachine()
    machine.load(state[-len(machine.save()) :])
    machine.run_frames(10)
    machine.set_keys(["SPACE"])
    machine.run_frames(20)
    assert machine.read(values["state"].address) == b"\x01"
    assert machine.read(values["score"].address, 2) == b"\x00\x00"
    assert machine.read(0xB00A, 2) == game.values["score"].to_bytes(2, "little")
    machine.close()
