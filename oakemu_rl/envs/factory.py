"""Environments from options: our games by name or file, and every Gymnasium id.

Here it is decided what an id means. What the environments then look like to an agent is decided in
`spaces` and `vector`.
"""

import importlib
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from difflib import get_close_matches
from typing import Any

import gymnasium
from gymnasium import Env
from gymnasium.envs.registration import EnvSpec, load_env_creator
from gymnasium.wrappers import TimeLimit

from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.errors import (
    ConfigurationError,
    UnsupportedEnvironmentError,
)
from oakemu_rl.envs.games.game_env import SpectrumGame
from oakemu_rl.envs.games.registry import find_game, game_names
from oakemu_rl.envs.in_process import InProcessEnvironments
from oakemu_rl.envs.spaces import action_names, action_spec, observation_conversion
from oakemu_rl.envs.stacking import stack_frames
from oakemu_rl.envs.vector import VectorEnvironment

GAME_FILE_ENDING = ".toml"
ATARI_NAMESPACE = "ALE/"
RENDER_MODE = "rgb_array"
QUIET_WARNINGS = (".*is out of date", ".*Overriding environment")
"""What Gymnasium says of ids that the user has chosen with care."""


def make_environment(options: EnvironmentOptions, *, render: bool = False) -> Env[Any, Any]:
    """One environment: the game or Gymnasium id `options.id`, with its time limit and frame stack.

    An id is a game's name, the path of a game's .toml file, a Gymnasium id, or `module:Id-v0`,
    whose module is imported first so that it can register the id. With `render` the environment can
    draw pictures, if it is able to.

    Raises:
        UnsupportedEnvironmentError: the id is unknown, or its spaces cannot be trained on.
        ConfigurationError: the environment refuses `options.arguments`.
        GameError: the game's file is missing or wrong.
        MissingExtraError: an optional package is not installed.
    """
    with ExitStack() as undo:
        env = _bare_environment(options, render=render)
        undo.callback(env.close)
        action_spec(env.action_space, environment=options.id, names=action_names(env))
        observation_conversion(env.observation_space, environment=options.id)
        if options.frame_stack > 1:
            env = stack_frames(env, options.frame_stack, environment=options.id)
        undo.pop_all()
    return env


def make_vector_environment(
    options: EnvironmentOptions,
    *,
    count: int,
    render: bool = False,
    value_names: Sequence[str] = (),
) -> VectorEnvironment:
    """`count` environments that step one after the other in this process; raises as for one.

    Named values in `value_names` are read at every step.
    """
    with ExitStack() as undo:
        envs: list[Env[Any, Any]] = []
        for _ in range(count):
            envs.append(make_environment(options, render=render))
            undo.callback(envs[-1].close)
        environment = VectorEnvironment(
            InProcessEnvironments(envs), name=options.id, value_names=value_names
        )
        undo.pop_all()
    return environment


def _bare_environment(options: EnvironmentOptions, *, render: bool) -> Env[Any, Any]:
    try:
        if options.id.endswith(GAME_FILE_ENDING) or options.id in game_names():
            return _game(options, render=render)
        return _gymnasium_environment(options, render=render)
    except (TypeError, ValueError) as error:
        if not options.arguments:
            raise
        raise ConfigurationError(
            f"environment.arguments: environment {options.id!r} refuses "
            f"{dict(options.arguments)}: {_one_line(error)}"
        ) from error


def _game(options: EnvironmentOptions, *, render: bool) -> Env[Any, Any]:
    arguments: dict[str, Any] = dict(options.arguments)
    if render:
        arguments["render_mode"] = RENDER_MODE
    game: Env[Any, Any] = SpectrumGame(find_game(options.id), **arguments)
    if options.max_episode_steps is None:
        return game
    return TimeLimit(game, options.max_episode_steps)


def _gymnasium_environment(options: EnvironmentOptions, *, render: bool) -> Env[Any, Any]:
    arguments: dict[str, Any] = dict(options.arguments)
    with warnings.catch_warnings():
        for message in QUIET_WARNINGS:
            warnings.filterwarnings("ignore", message=message)
        try:
            spec = _registered(options.id)
            if render and _draws(spec):
                arguments["render_mode"] = RENDER_MODE
            # The adapter checks what it needs itself; the checker would check it at every step.
            return gymnasium.make(
                spec,
                max_episode_steps=options.max_episode_steps,
                disable_env_checker=True,
                **arguments,
            )
        except (gymnasium.error.Error, ImportError) as error:
            raise UnsupportedEnvironmentError(
                f"environment {options.id!r} cannot be made: {_one_line(error)}"
            ) from error


def _registered(name: str) -> EnvSpec:
    """What Gymnasium knows of the id, after the import of what registers it."""
    module, _, identifier = name.rpartition(":")
    if module:
        importlib.import_module(module)
    elif name.startswith(ATARI_NAMESPACE):
        _import_atari(name)
    if identifier not in gymnasium.registry:
        raise _unknown(name, identifier)
    return gymnasium.registry[identifier]


def _import_atari(name: str) -> None:
    try:
        importlib.import_module("ale_py")
    except ImportError as error:
        raise UnsupportedEnvironmentError(
            f"environment {name!r} needs the package 'ale-py', which is not installed; "
            "install it with: pip install ale-py"
        ) from error


def _unknown(name: str, identifier: str) -> UnsupportedEnvironmentError:
    known = [*game_names(), *gymnasium.registry]
    nearest = get_close_matches(identifier, known, n=3, cutoff=0.5)
    hint = (
        f"nearest are {', '.join(nearest)}" if nearest else f"games are {', '.join(game_names())}"
    )
    return UnsupportedEnvironmentError(
        f"environment {name!r} is unknown; {hint}; allowed is a game's name, the path of a game's "
        f"{GAME_FILE_ENDING} file, a Gymnasium id with its version, or module:Id-v0"
    )


def _draws(spec: EnvSpec) -> bool:
    entry = spec.entry_point
    creator = load_env_creator(entry) if isinstance(entry, str) else entry
    metadata = getattr(creator, "metadata", None)
    return isinstance(metadata, dict) and RENDER_MODE in metadata.get("render_modes", ())


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
