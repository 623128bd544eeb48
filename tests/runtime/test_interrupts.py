"""Real signals, sent to a process of its own."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from oakemu_rl.runtime.interrupts import StopSignals
from tests.runtime.background import Background

PROGRAM = """
import sys
import threading
from oakemu_rl.runtime.interrupts import StopSignals

stop = threading.Event()
with StopSignals(stop) as signals:
    print("running", flush=True)
    assert stop.wait(30)
    print("stopping", flush=True)
    if "finishes" not in sys.argv:
        threading.Event().wait(30)
sys.exit(signals.exit_code)
"""


@contextmanager
def program(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program above, until it has ended."""
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_first_signal_is_a_clean_stop(number: signal.Signals, code: int) -> None:
    with program("finishes") as process:
        assert line(process) == "running"
        process.send_signal(number)
        assert line(process) == "stopping"
        assert process.wait(5) == code
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_the_second_signal_abandons_what_is_being_done(second: signal.Signals) -> None:
    with program() as process:
        assert line(process) == "running"
        process.send_signal(signal.SIGINT)
        assert line(process) == "stopping"
        process.send_signal(second)
        # Python ends itself by SIGINT after a KeyboardInterrupt that nobody caught.
        assert process.wait(5) == -signal.SIGINT
        assert process.stderr is not None
        assert process.stderr.read().endswith("KeyboardInterrupt\n")


def test_the_handlers_of_before_come_back() -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    stop = threading.Event()
    with StopSignals(stop) as signals:
        signal.raise_signal(signal.SIGTERM)
        assert stop.is_set()
        assert (signals.received, signals.exit_code) == (signal.SIGTERM, 143)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_without_a_signal_the_exit_code_is_0() -> None:
    with StopSignals(threading.Event()) as signals:
        pass
    assert (signals.received, signals.exit_code) == (None, 0)


def test_elsewhere_than_in_the_main_thread_nothing_is_caught() -> None:
    def enter() -> bool:
        before = signal.getsignal(signal.SIGINT)
        with StopSignals(threading.Event()):
            return signal.getsignal(signal.SIGINT) is before

    assert Background(enter).result()
