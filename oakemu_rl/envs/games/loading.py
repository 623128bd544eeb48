"""Reads a game's file into a definition and checks all that one record alone cannot see.

Every fault is a `GameError` that names the file, the dotted path, what came and what is allowed.
"""

from collections.abc import Iterable
from pathlib import Path

from oakemu_rl.config.strict import load_toml, structure
from oakemu_rl.config.wording import nearest
from oakemu_rl.core.errors import ConfigurationError, GameError
from oakemu_rl.envs.games.definition import GameDefinition, GameSettings
from oakemu_rl.envs.games.expressions import Expression, ExpressionError, compile_expression
from oakemu_rl.envs.spectrum.keys import KEY_NAMES
from oakemu_rl.envs.spectrum.machine import MEMORY_BYTES, ROM_BYTES
from oakemu_rl.envs.spectrum.screen import check_area

_RESERVED = ("previous", "min", "max", "and", "or", "not")


def load_game(path: Path) -> GameDefinition:
    """Read the game's file at `path` and the program that it names.

    Raises:
        GameError: the file or the program is missing or wrong.
    """
    try:
        settings = structure(load_toml(path), GameSettings, source=str(path))
    except ConfigurationError as error:
        raise GameError(str(error)) from None
    check_settings(settings, source=str(path))
    return GameDefinition(
        name=path.stem,
        path=path,
        settings=settings,
        program=_program_bytes(settings, path=path),
        reward=_expression(settings, "reward", settings.episode.reward, source=str(path)),
        terminated=_expression(
            settings, "terminated", settings.episode.terminated, source=str(path)
        ),
    )


def check_settings(settings: GameSettings, *, source: str) -> None:
    """Check names and numbers against each other.

    Raises:
        GameError: the first fault found.
    """
    _check_names(settings, source=source)
    for name, value in settings.values.items():
        last = MEMORY_BYTES - value.size
        if value.address > last:
            raise _fault(source, f"values.{name}.address", value.address, f"at most {last}")
    for name, keys in settings.actions.items():
        _check_known(keys, KEY_NAMES, what="key", place=f"actions.{name}", source=source)
    for index, press in enumerate(settings.reset.start_up):
        place = f"reset.start_up[{index}].keys"
        _check_known(press.keys, KEY_NAMES, what="key", place=place, source=source)
    values = tuple(settings.values)
    seeds = settings.reset.seeds
    _check_known(seeds, values, what="value", place="reset.seeds", source=source)
    for name in seeds:
        if settings.values[name].address < ROM_BYTES:
            raise _fault(source, "reset.seeds", name, f"values in RAM, from address {ROM_BYTES}")
    timing = settings.timing
    if timing.hold_frames is not None and timing.hold_frames > timing.frame_skip:
        allowed = f"at most timing.frame_skip, {timing.frame_skip}"
        raise _fault(source, "timing.hold_frames", timing.hold_frames, allowed)
    _check_observation(settings, source=source)


def _check_names(settings: GameSettings, *, source: str) -> None:
    for name in settings.values:
        if not name.isidentifier() or name in _RESERVED:
            allowed = f"letters, digits and _ that begin with a letter, and none of {_RESERVED}"
            raise _fault(source, "values", name, allowed)
    if not settings.actions:
        raise _fault(source, "actions", "none", "at least one, as in noop = []")


def _check_observation(settings: GameSettings, *, source: str) -> None:
    seen = settings.observation
    values = tuple(settings.values)
    _check_known(seen.values, values, what="value", place="observation.values", source=source)
    if (seen.kind == "screen") == bool(seen.values):
        allowed = "none" if seen.kind == "screen" else "at least one name"
        place = "observation.values"
        raise _fault(source, place, list(seen.values), f"{allowed} where kind is {seen.kind!r}")
    try:
        check_area(seen.play_area, shrink=seen.shrink)
    except ValueError as error:
        raise GameError(f"{source}: observation.play_area: {error}") from None


def _check_known(
    names: Iterable[str], known: Iterable[str], *, what: str, place: str, source: str
) -> None:
    choices = tuple(known)
    for name in names:
        if name not in choices:
            close = nearest(name, choices)
            hint = f"; did you mean {close!r}?" if close else ""
            allowed = f"{what}s are {', '.join(choices) or 'none'}"
            raise GameError(f"{source}: {place}: no {what} is called {name!r}{hint} ({allowed})")


def _expression(settings: GameSettings, field: str, text: str, *, source: str) -> Expression:
    try:
        return compile_expression(text, names=settings.values)
    except ExpressionError as error:
        raise GameError(f"{source}: episode.{field}: {error}") from None


def _program_bytes(settings: GameSettings, *, path: Path) -> bytes:
    program = settings.program
    file = path.parent / program.file
    try:
        data = file.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise GameError(f"{path}: program.file: {file} cannot be read ({reason})") from None
    room = MEMORY_BYTES - program.address
    if not 1 <= len(data) <= room:
        place = f"program.file: {file}"
        allowed = f"1 to {room} bytes at address {program.address}"
        raise _fault(str(path), place, f"{len(data)} bytes", allowed)
    if not program.address <= program.entry < program.address + len(data):
        allowed = (
            f"an address in the program, {program.address} to {program.address + len(data) - 1}"
        )
        raise _fault(str(path), "program.entry", program.entry, allowed)
    return data


def _fault(source: str, place: str, value: object, allowed: str) -> GameError:
    return GameError(f"{source}: {place}: got {value}, allowed is {allowed}")
