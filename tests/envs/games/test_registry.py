"""Finding games, and their names in Gymnasium."""

import subprocess
import sys

import gymnasium
import pytest

from oakemu_rl.core.errors import GameError
from oakemu_rl.envs.games.game_env import SpectrumGame
from oakemu_rl.envs.games.players import scripted_player
from oakemu_rl.envs.games.registry import find_game, game_names, register_games


@pytest.mark.parametrize("name", ["acorns", "OakEmu/Acorns-v0"])
def test_our_games_are_found_by_name_and_by_id(name: str) -> None:
    assert find_game(name).settings.title == "Acorns"


def test_a_file_of_ones_own_is_found_by_its_path(write_game) -> None:
    assert find_game(str(write_game())).name == "counting"


def test_an_unknown_name_is_told_with_the_nearest_and_the_list() -> None:
    with pytest.raises(GameError, match=r"'acorn'; did you mean 'acorns'\? \(games: acorns;"):
        find_game("acorn")


def test_registering_twice_changes_nothing_and_gymnasium_makes_the_game() -> None:
    register_games()
    spec = gymnasium.registry["OakEmu/Acorns-v0"]
    register_games()
    assert gymnasium.registry["OakEmu/Acorns-v0"] is spec
    environment = gymnasium.make("OakEmu/Acorns-v0")
    assert isinstance(environment.unwrapped, SpectrumGame)
    environment.close()


def test_each_of_our_games_has_a_scripted_player_and_others_have_none() -> None:
    for name in (*game_names(), "OakEmu/Acorns-v0"):
        assert scripted_player(name) is not None
    assert scripted_player("counting") is None


def test_finding_games_needs_no_emulator() -> None:
    program = (
        "import sys; from oakemu_rl.envs.games.registry import find_game; find_game('acorns'); "
        "import oakemu_rl.envs.games.game_env; sys.exit('zx' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
