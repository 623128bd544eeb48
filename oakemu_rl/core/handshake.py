"""The life of a rollout slot, as a table: what may follow what.

    FREE -> FILLING -> PUBLISHED -> LEARNING -> FREE

The actor fills a free slot and publishes it; the learner takes a published one and frees it. Who
waits for whom, and the locks, are in `runtime`.
"""

from collections.abc import Mapping
from enum import StrEnum


class SlotPhase(StrEnum):
    """Where a slot is in its life."""

    FREE = "free"
    FILLING = "filling"
    PUBLISHED = "published"
    LEARNING = "learning"


class SlotSignal(StrEnum):
    """What the actor or the learner does to a slot.

    ABANDON frees a slot whose rollout will not be learned from: it was left unfinished, or became
    stale before the learner took it.
    """

    BEGIN_FILLING = "begin filling"
    PUBLISH = "publish"
    BEGIN_LEARNING = "begin learning"
    RELEASE = "release"
    ABANDON = "abandon"


class IllegalTransitionError(ValueError):
    """A signal came in a phase in which it has no meaning: the caller is at fault."""


TRANSITIONS: Mapping[tuple[SlotPhase, SlotSignal], SlotPhase] = {
    (SlotPhase.FREE, SlotSignal.BEGIN_FILLING): SlotPhase.FILLING,
    (SlotPhase.FILLING, SlotSignal.PUBLISH): SlotPhase.PUBLISHED,
    (SlotPhase.FILLING, SlotSignal.ABANDON): SlotPhase.FREE,
    (SlotPhase.PUBLISHED, SlotSignal.BEGIN_LEARNING): SlotPhase.LEARNING,
    (SlotPhase.PUBLISHED, SlotSignal.ABANDON): SlotPhase.FREE,
    (SlotPhase.LEARNING, SlotSignal.RELEASE): SlotPhase.FREE,
}


def advance(phase: SlotPhase, signal: SlotSignal) -> SlotPhase:
    """The phase after `signal` in `phase`.

    Raises:
        IllegalTransitionError: the signal has no meaning in that phase.
    """
    following = TRANSITIONS.get((phase, signal))
    if following is None:
        legal = [str(known) for came_from, known in TRANSITIONS if came_from == phase]
        raise IllegalTransitionError(
            f"signal {str(signal)!r} is illegal for a slot that is {str(phase)!r}; "
            f"legal there: {', '.join(legal)}"
        )
    return following
