"""Making environments: what an id means, and what a wrong one is told."""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit

from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.errors import (
    ConfigurationError,
    GameError,
    OakEmuError,
    UnsupportedEnvironmentError,
)
from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.envs.factory import make_environment, make_vector_environment
from oakemu_rl.envs.games.game_env import SpectrumGame
from tests.envs.counting import Counting


@pytest.fixture
def registered() -> Iterator[dict[str, type[gymnasium.Env[Any, Any]]]]:
    """Environments that are registered for one test."""
    known = set(gymnasium.registry)
    closed: list[Counting] = []

    class Continuous(Counting):
        def __init__(self) -> None:
            super().__init__()
            self.action_space = spaces.Box(-1, 1, (2,))

        def close(self) -> None:
            closed.append(self)

    class Words(Counting):
        def __init__(self) -> None:
            super().__init__(space=spaces.Text(4))

    Continuous.closed = closed
    environments = {"Counting": Counting, "Continuous": Continuous, "Words": Words}
    for name, environment in environments.items():
        gymnasium.register(f"Test/{name}-v0", entry_point=environment)
    yield environments
    for name in set(gymnasium.registry) - known:
        del gymnasium.registry[name]


def options(name: str, **settings: Any) -> EnvironmentOptions:
    return EnvironmentOptions(id=name, **settings)


def told(name: str, **settings: Any) -> str:
    """The one line that a user is told of these options."""
    with pytest.raises(OakEmuError) as raised:
        make_environment(options(name, **settings))
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_gymnasium_id_makes_that_environment() -> None:
    environment = make_vector_environment(options("CartPole-v1"), count=3)
    assert environment.count == 3
    assert environment.observation_spec == TensorSpec(shape=(4,), dtype="float32")
    assert environment.action_spec.names == ("0", "1")
    environment.reset([0, 1, 2])
    assert environment.step(np.zeros(3, dtype=np.int64)).valid.all()
    environment.close()


@pytest.mark.parametrize("name", ["acorns", "OakEmu/Acorns-v0"])
def test_a_game_is_made_by_its_name_and_by_its_id(name: str) -> None:
    env = make_environment(options(name))
    assert isinstance(env.unwrapped, SpectrumGame)
    env.close()


def test_a_game_has_its_actions_names_and_its_screen_as_an_image() -> None:
    environment = make_vector_environment(options("acorns", frame_stack=4), count=2)
    assert "left" in environment.action_spec.names
    spec = environment.observation_spec
    assert isinstance(spec, TensorSpec)
    assert spec.is_image
    assert spec.shape[0] == 4
    environment.close()


def test_a_game_is_made_from_the_path_of_its_file() -> None:
    import oakemu_rl.envs.games

    path = Path(oakemu_rl.envs.games.__file__).parent / "acorns" / "acorns.toml"
    env = make_environment(options(str(path)))
    assert isinstance(env.unwrapped, SpectrumGame)
    env.close()


def test_a_missing_game_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"nothing\.toml"):
        make_environment(options(str(tmp_path / "nothing.toml")))


def test_a_module_is_imported_so_that_it_can_register_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, registered: object
) -> None:
    (tmp_path / "users_own_game.py").write_text(
        "import gymnasium\n"
        "gymnasium.register('Own-v0', entry_point='tests.envs.counting:Counting')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    env = make_environment(options("users_own_game:Own-v0"))
    assert isinstance(env.unwrapped, Counting)
    sys.modules.pop("users_own_game")


def test_a_module_that_cannot_be_imported_is_named() -> None:
    assert "no_such_module" in told("no_such_module:Own-v0")


@pytest.mark.parametrize("name", ["acorns", "CartPole-v1"])
def test_the_time_limit_is_the_option(name: str) -> None:
    environment = make_vector_environment(options(name, max_episode_steps=3), count=1)
    environment.reset([0])
    steps = [environment.step(np.array([0])) for _ in range(3)]
    assert [bool(step.truncated[0]) for step in steps] == [False, False, True]
    assert [episode.length for step in steps for episode in step.episodes] == [3]
    environment.close()


def test_the_environments_own_limit_holds_without_the_option() -> None:
    env = make_environment(options("CartPole-v1"))
    assert isinstance(env, TimeLimit)
    assert env.spec is not None
    assert env.spec.max_episode_steps == 500


def test_arguments_reach_the_constructor(registered: object) -> None:
    settings = options("Test/Counting-v0", arguments={"length": 2, "terminates": True})
    env = make_environment(settings)
    env.reset(seed=0)
    env.step(0)
    assert env.step(0)[2:4] == (True, False)


@pytest.mark.parametrize("name", ["acorns", "CartPole-v1"])
def test_refused_arguments_are_the_configurations_fault(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"environment\.arguments: .*'speed': 3"):
        make_environment(options(name, arguments={"speed": 3}))


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("CartPole-v7", "CartPole-v1"),
        ("CartPole", "CartPole-v1"),
        ("cartpole-v1", "CartPole-v1"),
        ("acorn", "acorns"),
        ("OakEmu/Acorn-v0", "OakEmu/Acorns-v0"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(name: str, nearest: str) -> None:
    message = told(name)
    assert repr(name) in message
    assert nearest in message


def test_a_name_unlike_any_is_told_the_games() -> None:
    assert "acorns" in told("qqqqqqqqqqqqqqqqqqqq")


def test_an_atari_id_without_ale_is_told_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ale_py", None)
    with pytest.raises(UnsupportedEnvironmentError, match=r"'ALE/Pong-v5'.*pip install ale-py"):
        make_environment(options("ALE/Pong-v5"))


def test_continuous_actions_are_refused_and_the_environment_is_closed(
    registered: dict[str, Any],
) -> None:
    message = told("Test/Continuous-v0")
    assert "'Test/Continuous-v0'" in message
    assert "allowed is Discrete" in message
    assert len(registered["Continuous"].closed) == 1


@pytest.mark.parametrize("frame_stack", [1, 4])
def test_other_observations_are_refused(frame_stack: int, registered: object) -> None:
    message = told("Test/Words-v0", frame_stack=frame_stack)
    assert "'Test/Words-v0' has the observation space Text" in message


def test_a_package_that_the_environment_lacks_is_told(registered: object) -> None:
    gymnasium.register("Test/Lacking-v0", entry_point="no_such_package.envs:Env")
    assert "no_such_package" in told("Test/Lacking-v0")


def test_gymnasiums_warnings_of_old_ids_stop_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_environment(options("CartPole-v0")).close()


def test_pictures_are_drawn_when_asked_for() -> None:
    environment = make_vector_environment(options("acorns"), count=2, render=True)
    environment.reset([0, 1])
    picture = environment.render(1)
    assert picture is not None
    assert picture.shape[2] == 3
    assert picture.dtype == np.uint8
    environment.close()


def test_an_environment_that_cannot_draw_is_made_without_pictures(registered: object) -> None:
    environment = make_vector_environment(options("Test/Counting-v0"), count=1, render=True)
    environment.reset([0])
    assert environment.count == 1
