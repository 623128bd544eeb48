"""The command line for tests: small runs here, and in processes of their own."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 120.0
"""Nothing takes as long; what does hangs."""
STOP_SECONDS = 5.0
"""How soon a run has to stop."""

SMALL = (
    "--run.device=cpu",
    "--metrics.console=plain",
    "--environment.count=4",
    "--rollout.steps=32",
    "--optimisation.minibatch-size=64",
    "--optimisation.ppo-epochs=2",
    "--evaluation.every-steps=256",
    "--evaluation.episodes=2",
    "--evaluation.final-episodes=3",
    "--evaluation.environments=2",
)
"""A rollout has 128 rows."""

SMALL_GAME = (
    *SMALL,
    "--environment.count=2",
    "--environment.frame-stack=2",
    "--model.channel-multiplier=0.25",
    "--model.feature-size=32",
    "--evaluation.episodes=1",
    "--evaluation.final-episodes=2",
)


def train(what: str, folder: Path, *words: str, small: Sequence[str] = SMALL) -> list[str]:
    """The words of `train`. Of two flags of one name the later one counts."""
    flags = {word.partition("=")[0]: word for word in (*small, *words)}
    return ["train", what, f"--run-dir={folder}", *flags.values()]


def program(*words: str) -> list[str]:
    """What starts the command in a process of its own."""
    return [sys.executable, "-m", "oakemu_rl", *words]


def environment() -> dict[str, str]:
    """The variables of such a process: the package and the tests are found from anywhere."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def finished(command: Sequence[str], *, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run to the end."""
    return subprocess.run(
        command,
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )


@contextmanager
def started(command: Sequence[str], *, cwd: Path) -> Iterator[subprocess.Popen[str]]:
    """Start; output and errors are one stream. It is killed where it outlives the block or the
    limit."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        limit = Timer(LIMIT_SECONDS, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


def read_until(process: subprocess.Popen[str], text: str) -> str:
    """The output up to the first line that holds `text`."""
    assert process.stdout is not None
    read = ""
    for line in process.stdout:
        read += line
        if text in line:
            return read
    raise AssertionError(f"the process ended without {text!r}:\n{read}")
