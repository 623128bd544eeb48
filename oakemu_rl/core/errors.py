"""The errors a user can meet. The type says who is to blame; `exit_code` is what the command
returns.

A wrong argument of a function is not here: it raises `ValueError` or `TypeError` where it is
checked.
"""


class OakEmuError(Exception):
    """Base of every error that is told to the user in one line, without a traceback."""

    exit_code = 1


class UserError(OakEmuError):
    """The user can mend it: a name, a value, a missing file."""

    exit_code = 2


class ConfigurationError(UserError):
    """A configuration file or a flag holds a wrong key, type, value or combination."""


class MissingExtraError(UserError):
    """An optional package is not installed."""

    def __init__(self, *, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed; "
            f"install it with: pip install 'oakemu-rl[{extra}]'"
        )


class GameError(UserError):
    """A game's definition file or program is wrong or missing."""


class UnsupportedEnvironmentError(UserError):
    """The environment is unknown, or of a kind that cannot be trained."""


class RunFolderError(UserError):
    """A run folder is in use, not empty, or not a run."""


class CheckpointError(UserError):
    """A checkpoint is missing, broken, or of another version."""


class EnvironmentFaultError(OakEmuError):
    """The environment broke its contract while running: NaN, no legal action, an exception."""


class EmulatorError(OakEmuError):
    """The emulator does not behave as the adapter was tested against."""


class StorageError(OakEmuError):
    """The disk refused a write."""


class DivergenceError(OakEmuError):
    """Too many updates in a row were not finite; training stopped before the weights were
    harmed."""


class WorkerError(OakEmuError):
    """A part of the run failed or hangs; the message names it."""
