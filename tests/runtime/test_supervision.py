"""Parts of a run that fail, hang or are stopped. Their threads are real, the clock is not."""

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from oakemu_rl.core.errors import WorkerError
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.supervision import Pulse, Supervisor, beat
from tests.runtime.background import LIMIT_SECONDS

GRACE_SECONDS = 5.0

Part = Callable[[], None]


@pytest.fixture(autouse=True)
def only_the_main_thread_is_left() -> Iterator[None]:
    """No test leaves a thread behind."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join(LIMIT_SECONDS)
    assert set(threading.enumerate()) == before


def counting_clock() -> Callable[[], float]:
    """A clock on which a second passes whenever it is read."""
    seconds = itertools.count()
    return lambda: float(next(seconds))


def until(stop: threading.Event) -> Callable[[], None]:
    """A part that does nothing until the run stops."""

    def body() -> None:
        assert stop.wait(LIMIT_SECONDS)

    return body


def boom() -> None:
    raise ValueError("boom")


def supervise(
    stop: threading.Event, *, clock: Callable[[], float] = time.monotonic, **parts: Part
) -> None:
    """Run the parts until the learner ends."""
    with Supervisor(stop, heartbeat_seconds=60.0, clock=clock) as supervisor:
        for role, body in parts.items():
            supervisor.start(role, body)
        supervisor.watch(until="learner")


@pytest.mark.parametrize("failing", ["actor", "learner", "tester"])
def test_a_failure_in_one_part_stops_all_and_is_raised_in_the_caller(failing: str) -> None:
    stop = threading.Event()
    started = time.monotonic()
    parts = dict.fromkeys(("actor", "tester", "learner"), until(stop)) | {failing: boom}
    with pytest.raises(ValueError, match="boom") as raised:
        supervise(stop, **parts)
    assert time.monotonic() - started < GRACE_SECONDS
    assert str(raised.value) == "boom"
    assert raised.value.__notes__ == [f"raised in the {failing} thread"]
    assert raised.traceback[-1].name == "boom"


def test_the_failure_that_came_first_is_raised_and_not_its_consequence() -> None:
    stop = threading.Event()

    def consequence() -> None:
        assert stop.wait(LIMIT_SECONDS)
        raise RuntimeError("the learner went away")

    with pytest.raises(ValueError, match="boom"):
        supervise(stop, actor=consequence, learner=boom)


def test_the_run_ends_well_when_the_awaited_part_does() -> None:
    stop, ended = threading.Event(), []

    def actor() -> None:
        assert stop.wait(LIMIT_SECONDS)
        ended.append("actor")

    supervise(stop, actor=actor, learner=lambda: ended.append("learner"))
    assert ended == ["learner", "actor"]


def test_an_error_of_the_caller_ends_the_parts_and_stays_the_error() -> None:
    stop, ended = threading.Event(), []

    def actor() -> None:
        assert stop.wait(LIMIT_SECONDS)
        ended.append("actor")
        raise RuntimeError("a consequence")

    def call() -> None:
        with Supervisor(stop) as supervisor:
            supervisor.start("actor", actor)
            raise KeyError("mine")

    started = time.monotonic()
    with pytest.raises(KeyError, match="mine"):
        call()
    assert time.monotonic() - started < GRACE_SECONDS
    assert ended == ["actor"]


def test_a_failure_is_raised_even_if_nobody_watched() -> None:
    def call() -> None:
        with Supervisor(threading.Event()) as supervisor:
            supervisor.start("actor", boom)

    with pytest.raises(ValueError, match="boom"):
        call()


def test_a_failure_stops_the_run_before_the_caller_looks() -> None:
    stop = threading.Event()

    def call() -> None:
        with Supervisor(stop) as supervisor:
            supervisor.start("actor", boom)
            assert stop.wait(LIMIT_SECONDS)
            supervisor.stop()

    with pytest.raises(ValueError, match="boom"):
        call()


def test_a_part_that_is_silent_past_the_limit_is_named() -> None:
    stop, release = threading.Event(), threading.Event()

    def lively() -> None:
        while not stop.wait(0.001):
            beat()

    def hanging() -> None:
        assert release.wait(LIMIT_SECONDS)

    message = r"^actor: silent for \d+ s, allowed are 60 s \(run.heartbeat_seconds\); it hangs"
    try:
        with pytest.raises(WorkerError, match=message):
            supervise(stop, clock=counting_clock(), actor=hanging, learner=lively)
        assert stop.is_set()
        left = [thread.name for thread in threading.enumerate()]
        assert "actor" in left
        assert "learner" not in left
    finally:
        release.set()


def test_a_part_that_does_not_stop_in_time_is_named_and_left_behind() -> None:
    stop, release = threading.Event(), threading.Event()

    def hanging() -> None:
        assert release.wait(LIMIT_SECONDS)

    try:
        with pytest.raises(WorkerError, match=r"^actor: did not stop within 5 s and was left"):
            supervise(stop, clock=counting_clock(), actor=hanging, learner=lambda: None)
    finally:
        release.set()


def test_a_failure_tells_which_parts_hang_besides() -> None:
    stop, release = threading.Event(), threading.Event()

    def hanging() -> None:
        assert release.wait(LIMIT_SECONDS)

    try:
        with pytest.raises(ValueError, match="boom") as raised:
            supervise(stop, clock=counting_clock(), actor=hanging, learner=boom)
    finally:
        release.set()
    assert raised.value.__notes__ == [
        "raised in the learner thread",
        "still running and left behind: actor",
    ]


def test_stop_returns_though_an_actor_waits_at_a_full_handshake() -> None:
    stop, full = threading.Event(), threading.Event()
    handshake = RolloutHandshake()

    def act() -> None:
        for rollout in itertools.count():
            if rollout == 2:
                full.set()
            slot = handshake.begin_filling(stop)
            if slot is None:
                return
            handshake.publish(slot)

    with Supervisor(stop) as supervisor:
        supervisor.start("actor", act)
        assert full.wait(LIMIT_SECONDS)
        started = time.monotonic()
        supervisor.stop()
        assert time.monotonic() - started < GRACE_SECONDS


def test_a_part_that_waits_for_a_rollout_is_not_silent() -> None:
    stop, beaten = threading.Event(), threading.Event()
    readers: list[str] = []
    taken: list[int | None] = []
    seconds = counting_clock()

    def clock() -> float:
        readers.append(threading.current_thread().name)
        if readers.count("learner") == 3:
            beaten.set()
        return seconds()

    handshake = RolloutHandshake()
    with Supervisor(stop, clock=clock) as supervisor:
        supervisor.start("learner", lambda: taken.append(handshake.wait_for_rollout(stop)))
        assert beaten.wait(LIMIT_SECONDS)
        supervisor.stop()
    assert taken == [None]


def test_a_beat_ends_the_silence() -> None:
    now = [0.0]
    pulse = Pulse(lambda: now[0])
    now[0] = 7.0
    assert pulse.silence() == 7.0
    pulse.beat()
    assert pulse.silence() == 0.0


def test_a_beat_outside_of_a_watched_thread_does_nothing() -> None:
    beat()


CRASHING = """
import threading
from oakemu_rl.runtime.supervision import Supervisor

stop, never = threading.Event(), threading.Event()
with Supervisor(stop, grace_seconds=0.2) as supervisor:
    supervisor.start("actor", stop.wait)
    supervisor.start("hanging", never.wait)
    raise RuntimeError("in the caller")
"""


def test_a_process_whose_main_thread_fails_ends_at_once_though_a_part_hangs() -> None:
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", CRASHING], timeout=60, capture_output=True, text=True, check=False
    )
    assert time.monotonic() - started < 2 * GRACE_SECONDS
    assert ended.returncode == 1
    assert ended.stderr.endswith("RuntimeError: in the caller\n")
