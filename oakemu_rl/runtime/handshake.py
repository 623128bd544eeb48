"""The hand-off of rollout slots between actor and learner: a table in the core, waiting here."""

import threading
from collections import deque
from collections.abc import Callable

from oakemu_rl.core.handshake import SlotPhase, SlotSignal, advance
from oakemu_rl.runtime.supervision import beat

POLL_SECONDS = 0.05


class RolloutHandshake:
    """Slots go from the actor to the learner in the order in which they were published, and back.

    With a `producer` there is no actor thread: the learner's wait calls it, and it is to publish
    one rollout or close the handshake. That is how one thread runs actor and learner in lockstep.
    """

    def __init__(
        self, slots: int = 2, *, producer: "Callable[[RolloutHandshake], None] | None" = None
    ) -> None:
        if slots < 1:
            raise ValueError(f"slots must be at least 1, got {slots}")
        self._changed = threading.Condition()
        self._phases = [SlotPhase.FREE] * slots
        self._published: deque[int] = deque()
        self._closed = False
        self._producer = producer

    @property
    def phases(self) -> tuple[SlotPhase, ...]:
        """The phase of each slot."""
        with self._changed:
            return tuple(self._phases)

    @property
    def closed(self) -> bool:
        """Whether no further rollout will be published."""
        return self._closed

    def begin_filling(self, stop_event: threading.Event) -> int | None:
        """Wait for a free slot and take it for filling; None once `stop_event` is set."""

        def take() -> int | None:
            for slot, phase in enumerate(self._phases):
                if phase is SlotPhase.FREE:
                    self._signal(slot, SlotSignal.BEGIN_FILLING)
                    return slot
            return None

        return self._wait(take, stop_event)

    def publish(self, slot: int) -> None:
        """The slot is full: hand it to the learner."""
        with self._changed:
            self._signal(slot, SlotSignal.PUBLISH)
            self._published.append(slot)

    def abandon(self, slot: int) -> None:
        """The slot will not be learned from, filled or not: free it."""
        with self._changed:
            self._signal(slot, SlotSignal.ABANDON)
            if slot in self._published:
                self._published.remove(slot)

    def wait_for_rollout(self, stop_event: threading.Event) -> int | None:
        """Wait for the oldest published slot and take it for learning.

        None once `stop_event` is set, or when the handshake is closed and every rollout was taken.
        """
        if self._producer is not None and not (self._closed or stop_event.is_set()):
            self._producer(self)

        def take() -> int | None:
            if not self._published:
                return None
            self._signal(self._published[0], SlotSignal.BEGIN_LEARNING)
            return self._published.popleft()

        return self._wait(take, stop_event, until_closed=True)

    def release(self, slot: int) -> None:
        """The learner is done with the slot: free it."""
        with self._changed:
            self._signal(slot, SlotSignal.RELEASE)

    def settle(self, *, seconds: float) -> None:
        """Wait, at most so long, until no slot is being filled.

        Once the run's stop event is set the actor abandons the slot that it fills and begins no
        other; what it has counted is final then.
        """
        with self._changed:
            self._changed.wait_for(lambda: SlotPhase.FILLING not in self._phases, seconds)

    def close(self) -> None:
        """No further rollout will be published."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _signal(self, slot: int, signal: SlotSignal) -> None:
        self._phases[slot] = advance(self._phases[slot], signal)
        self._changed.notify_all()

    def _wait(
        self,
        take: Callable[[], int | None],
        stop_event: threading.Event,
        *,
        until_closed: bool = False,
    ) -> int | None:
        with self._changed:
            while not stop_event.is_set():
                slot = take()
                if slot is not None or (until_closed and self._closed):
                    return slot
                beat()
                self._changed.wait(POLL_SECONDS)
        return None
