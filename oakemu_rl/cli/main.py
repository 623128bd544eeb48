"""The entry of the command line: runs a command and turns what it raises into an exit code.

Codes: 0 done, 1 failed, 2 the user's mistake, 130 Ctrl-C, 143 SIGTERM.
"""

import os
import sys
from collections.abc import Sequence

from oakemu_rl.cli import PROGRAM
from oakemu_rl.core.errors import OakEmuError

INTERRUPTED = 130


def main() -> None:
    """Run the command in the arguments of the process, and exit."""
    code = run(sys.argv[1:])
    if code == INTERRUPTED:
        # Where Ctrl-C met an import, Python would end by the signal in place of the exit code.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command; its exit code. An exception that nobody foresaw keeps its traceback."""
    try:
        from oakemu_rl.cli.arguments import parse

        parsed = parse(arguments)
        if isinstance(parsed, str):
            sys.stdout.write(parsed)
            code = 0
        else:
            command, settings = parsed
            code = command.run(settings)
        sys.stdout.flush()
    except OakEmuError as error:
        sys.stderr.write(f"{PROGRAM}: error: {' '.join(str(error).split())}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write(f"{PROGRAM}: interrupted\n")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the pipe is gone; the flush at exit must not complain a second time.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code
