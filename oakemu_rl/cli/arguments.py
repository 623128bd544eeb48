"""From the words of the command line to a command and its dotted flags.

A wrong word is answered in one line with the nearest right one. What commands do is not here.
"""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from importlib.metadata import version

import attrs
import tyro

from oakemu_rl.cli import PROGRAM
from oakemu_rl.cli.commands import COMMANDS, DEFAULT_ALGORITHM, WITH_SETTINGS, Command, Settings
from oakemu_rl.config.algorithms import ALGORITHMS
from oakemu_rl.config.layers import flag_name, unknown_flag
from oakemu_rl.config.paths import setting_paths
from oakemu_rl.config.wording import nearest
from oakemu_rl.core.errors import UserError

_HELP = ("-h", "--help")
_DOTTED = re.compile(r"--([A-Za-z0-9_-]+\.[^=]*)(?:=(.*))?", re.DOTALL)
_FRAME = re.compile(r"[│╭╮╰╯]|^\s*\||\|\s*$")
_RULE = re.compile(r"─{3,}")


def parse(arguments: Sequence[str]) -> tuple[Command, Settings] | str:
    """The command and its dotted flags, or the overview of commands where that is asked for.

    Raises:
        UserError: a word is wrong or missing.
        SystemExit: with code 0, after the help of one command was printed.
    """
    name = next((name for name in COMMANDS if _begins(arguments, name)), None)
    if name is None:
        return _overview_or_refuse(arguments)
    words, settings = split_settings(arguments[len(name.split()) :])
    command_type = COMMANDS[name]
    takes_settings = command_type in WITH_SETTINGS
    if settings and not takes_settings:
        flag = flag_name(next(iter(settings)))
        raise UserError(f"{flag}: unknown flag; {name} takes no settings of the configuration")
    _refuse_wrong_flags(words, command_type, takes_settings=takes_settings)
    return _read(name, command_type, words), settings


def split_settings(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Take the dotted flags out of the words: `--a.b text`, `--a.b=text`.

    Raises:
        UserError: one has no value, or is given twice.
    """
    rest: list[str] = []
    settings: dict[str, str] = {}
    remaining = iter(words)
    for word in remaining:
        dotted = _DOTTED.fullmatch(word)
        if dotted is None:
            rest.append(word)
            continue
        path = dotted[1].replace("-", "_")
        value = dotted[2] if dotted[2] is not None else next(remaining, None)
        if value is None or (dotted[2] is None and value.startswith("--")):
            raise UserError(f"--{dotted[1]}: needs a value after it")
        if path in settings:
            raise UserError(f"--{dotted[1]}: is given twice")
        settings[path] = value
    return rest, settings


def _begins(arguments: Sequence[str], name: str) -> bool:
    words = name.split()
    return list(arguments[: len(words)]) == words


def _overview_or_refuse(arguments: Sequence[str]) -> str:
    """The overview of all commands, or of those of a group such as `config`."""
    group, *after = arguments if arguments else ("--help",)
    if group in _HELP:
        return _overview(COMMANDS)
    if group == "--version":
        return f"{PROGRAM} {version(PROGRAM)}\n"
    members = [name for name in COMMANDS if name.startswith(f"{group} ")]
    if members and (not after or after[0] in _HELP):
        return _overview(members)
    typed = f"{group} {after[0]}" if members else group
    known = members or list(dict.fromkeys([*COMMANDS, *(name.split()[0] for name in COMMANDS)]))
    close = nearest(typed, known)
    hint = f"; did you mean {close}?" if close else ""
    raise UserError(f"{typed}: unknown command{hint} (allowed: {', '.join(members or COMMANDS)})")


def _overview(names: Iterable[str]) -> str:
    lines = [f"  {name:<14}{(COMMANDS[name].__doc__ or '').splitlines()[0]}" for name in names]
    return "\n".join(
        [
            f"usage: {PROGRAM} COMMAND ...",
            "",
            "Trains agents on games in an emulator and on Gymnasium environments.",
            "",
            "commands:",
            *lines,
            "",
            f"`{PROGRAM} COMMAND --help` tells the flags of a command.",
            "",
        ]
    )


def _refuse_wrong_flags(
    words: Sequence[str], command_type: type[Command], *, takes_settings: bool
) -> None:
    fields = attrs.fields(command_type)
    short = [field.name for field in fields if field.default is not attrs.NOTHING]
    given: set[str] = set()
    for word in words:
        flag = word.partition("=")[0]
        if not flag.startswith("--") or flag in _HELP:
            continue
        name = flag[2:].replace("-", "_")
        if name not in short:
            paths = _settings_of(words) if takes_settings else {}
            raise UserError(unknown_flag(flag, paths, short))
        if name in given:
            raise UserError(f"{flag}: is given twice")
        given.add(name)


def _settings_of(words: Sequence[str]) -> Mapping[str, object]:
    """The settings of the algorithm that the words name, or else of the default one."""
    algorithm = DEFAULT_ALGORITHM
    for word, after in zip(words, [*words[1:], ""], strict=True):
        flag, _, value = word.partition("=")
        if flag == "--algo":
            algorithm = value or after
    return setting_paths(ALGORITHMS.get(algorithm, ALGORITHMS[DEFAULT_ALGORITHM]))


def _read(name: str, command_type: type[Command], words: Sequence[str]) -> Command:
    """Let tyro read the words; its framed complaint becomes one line."""
    complaint = io.StringIO()
    try:
        with redirect_stderr(complaint):
            return tyro.cli(command_type, prog=f"{PROGRAM} {name}", args=list(words))
    except SystemExit as stop:
        if stop.code in (0, None):
            raise
        raise UserError(f"{name}: {' '.join(_unframed(complaint.getvalue()))}") from None


def _unframed(complaint: str) -> Iterator[str]:
    """The lines between the frame's title and its first rule."""
    for line in complaint.splitlines()[1:]:
        if _RULE.search(line):
            return
        yield _FRAME.sub("", line).strip()
