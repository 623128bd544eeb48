"""The hand-off of rollout slots, with two real threads where two are meant."""

import threading
import time
from collections.abc import Callable

import pytest

from oakemu_rl.core.handshake import IllegalTransitionError, SlotPhase
from oakemu_rl.runtime.handshake import RolloutHandshake
from tests.runtime.background import LIMIT_SECONDS, Background

NEVER = threading.Event()


def filled(handshake: RolloutHandshake) -> int:
    slot = handshake.begin_filling(NEVER)
    assert slot is not None
    return slot


def published(handshake: RolloutHandshake) -> int:
    slot = filled(handshake)
    handshake.publish(slot)
    return slot


def learning(handshake: RolloutHandshake) -> int:
    published(handshake)
    slot = handshake.wait_for_rollout(NEVER)
    assert slot is not None
    return slot


def test_rollouts_are_learned_from_in_the_order_of_their_publication() -> None:
    handshake, contents, released, ahead = RolloutHandshake(), [-1, -1], [0], []

    def act() -> None:
        for rollout in range(200):
            slot = filled(handshake)
            ahead.append(rollout + 1 - released[0])
            contents[slot] = rollout
            handshake.publish(slot)
        handshake.close()

    actor, learned = Background(act), []
    while (slot := handshake.wait_for_rollout(NEVER)) is not None:
        learned.append(contents[slot])
        released[0] += 1
        handshake.release(slot)
    actor.result()
    assert learned == list(range(200))
    assert max(ahead) <= 2
    assert handshake.phases == (SlotPhase.FREE, SlotPhase.FREE)


def test_the_actor_waits_until_one_of_two_slots_is_free() -> None:
    handshake = RolloutHandshake()
    assert [published(handshake), published(handshake)] == [0, 1]
    actor = Background(lambda: handshake.begin_filling(NEVER))
    assert handshake.wait_for_rollout(NEVER) == 0
    assert handshake.phases == (SlotPhase.LEARNING, SlotPhase.PUBLISHED)
    handshake.release(0)
    assert actor.result() == 0


def test_the_learner_waits_until_a_rollout_is_published() -> None:
    handshake = RolloutHandshake()
    learner = Background(lambda: handshake.wait_for_rollout(NEVER))
    slot = filled(handshake)
    handshake.publish(slot)
    assert learner.result() == slot


def test_a_closed_handshake_gives_what_was_published_and_then_nothing() -> None:
    handshake = RolloutHandshake()
    published(handshake)
    published(handshake)
    handshake.close()
    assert handshake.closed
    assert [handshake.wait_for_rollout(NEVER) for _ in range(3)] == [0, 1, None]


def test_closing_wakes_a_learner_that_waits() -> None:
    handshake = RolloutHandshake()
    learner = Background(lambda: handshake.wait_for_rollout(NEVER))
    handshake.close()
    assert learner.result(within=1.0) is None


@pytest.mark.parametrize("who", ["actor", "learner"])
def test_the_stop_event_ends_every_wait_at_once(who: str) -> None:
    handshake, stop, waiting = RolloutHandshake(), threading.Event(), threading.Event()
    if who == "actor":
        published(handshake)
        published(handshake)
    wait = handshake.begin_filling if who == "actor" else handshake.wait_for_rollout

    def body() -> int | None:
        waiting.set()
        return wait(stop)

    part = Background(body)
    assert waiting.wait(LIMIT_SECONDS)
    before = handshake.phases
    stop.set()
    started = time.monotonic()
    assert part.result(within=1.0) is None
    assert time.monotonic() - started < 1.0
    assert handshake.phases == before


def test_after_a_stop_nothing_is_handed_out_though_it_is_there() -> None:
    handshake, stop = RolloutHandshake(slots=3), threading.Event()
    published(handshake)
    stop.set()
    assert handshake.wait_for_rollout(stop) is None
    assert handshake.begin_filling(stop) is None
    assert handshake.phases == (SlotPhase.PUBLISHED, SlotPhase.FREE, SlotPhase.FREE)


def test_the_actor_settles_once_it_has_given_its_slot_up() -> None:
    handshake = RolloutHandshake()
    slot = filled(handshake)
    waiting = Background(lambda: (handshake.settle(seconds=LIMIT_SECONDS), handshake.phases)[1])
    handshake.abandon(slot)
    assert waiting.result(within=LIMIT_SECONDS / 2) == (SlotPhase.FREE, SlotPhase.FREE)


def test_an_actor_that_never_settles_is_not_waited_for_without_an_end() -> None:
    handshake = RolloutHandshake()
    filled(handshake)
    handshake.settle(seconds=0.05)
    assert handshake.phases == (SlotPhase.FILLING, SlotPhase.FREE)


ILLEGAL = [
    (None, RolloutHandshake.publish),
    (None, RolloutHandshake.abandon),
    (None, RolloutHandshake.release),
    (filled, RolloutHandshake.release),
    (published, RolloutHandshake.publish),
    (published, RolloutHandshake.release),
    (learning, RolloutHandshake.publish),
    (learning, RolloutHandshake.abandon),
]


@pytest.mark.parametrize(("prepare", "signal"), ILLEGAL)
def test_an_illegal_signal_raises_and_changes_nothing(
    prepare: Callable[[RolloutHandshake], int] | None,
    signal: Callable[[RolloutHandshake, int], None],
) -> None:
    handshake = RolloutHandshake()
    slot = prepare(handshake) if prepare is not None else 0
    before = handshake.phases
    with pytest.raises(IllegalTransitionError, match=str(before[slot])):
        signal(handshake, slot)
    assert handshake.phases == before
    handshake.close()
    expected = slot if prepare is published else None
    assert handshake.wait_for_rollout(NEVER) == expected


def test_a_slot_that_was_left_unfinished_can_be_filled_again() -> None:
    handshake = RolloutHandshake()
    handshake.abandon(filled(handshake))
    assert handshake.phases == (SlotPhase.FREE, SlotPhase.FREE)
    assert published(handshake) == 0
    assert handshake.wait_for_rollout(NEVER) == 0


def test_an_abandoned_rollout_is_not_learned_from() -> None:
    handshake = RolloutHandshake()
    published(handshake)
    published(handshake)
    handshake.abandon(0)
    assert handshake.wait_for_rollout(NEVER) == 1
    assert published(handshake) == 0
    handshake.close()
    assert [handshake.wait_for_rollout(NEVER) for _ in range(2)] == [0, None]


def test_a_producer_makes_each_rollout_in_the_thread_that_waits_for_it() -> None:
    made: list[threading.Thread] = []

    def produce(handshake: RolloutHandshake) -> None:
        made.append(threading.current_thread())
        published(handshake)
        if len(made) == 3:
            handshake.close()

    handshake, taken = RolloutHandshake(producer=produce), []
    while (slot := handshake.wait_for_rollout(NEVER)) is not None:
        taken.append(slot)
        assert handshake.phases == (SlotPhase.LEARNING, SlotPhase.FREE)
        assert len(made) == len(taken)
        handshake.release(slot)
    assert taken == [0, 0, 0]
    assert made == [threading.current_thread()] * 3


def test_a_producer_is_not_asked_after_a_stop_and_may_stop_the_run_itself() -> None:
    stop, asked = threading.Event(), []

    def produce(_: RolloutHandshake) -> None:
        asked.append(True)
        stop.set()

    handshake = RolloutHandshake(producer=produce)
    assert handshake.wait_for_rollout(stop) is None
    assert handshake.wait_for_rollout(stop) is None
    assert asked == [True]


def test_a_handshake_without_slots_is_refused() -> None:
    with pytest.raises(ValueError, match="slots must be at least 1, got 0"):
        RolloutHandshake(slots=0)
