"""Replay by priority: what enters with what, what an update does, how often each is drawn."""

import math

import numpy as np
import pytest
import torch

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import PriorityUpdate
from oakemu_rl.core import importance_weights, priorities
from tests.buffers.replays import numbers, play, prioritised_of, sampled, step_of


def update(replay: PrioritizedReplayBuffer, errors: dict[int, float]) -> PriorityUpdate:
    """Give the items in these slots these errors."""
    slots = np.array(list(errors))
    serials = replay._lanes.serials[slots]
    return replay.update_priorities(slots, serials, np.array(list(errors.values()), np.float32))


def weights(replay: PrioritizedReplayBuffer) -> list[float]:
    """The priorities in the slots, with the exponent applied."""
    tree = replay._prioritised.tree
    return tree.values(np.arange(replay.capacity)).tolist()


def test_an_update_for_an_item_that_was_overwritten_is_skipped_and_counted() -> None:
    replay = prioritised_of(4)
    play(replay, [0, 1, 2, 3])
    slots = np.array([0])
    serials = replay._lanes.serials[slots].copy()
    for t in range(4, 8):
        replay.add(step_of([t]))
    before, total = weights(replay), replay._prioritised.tree.total
    result = replay.update_priorities(slots, serials, np.array([100.0], dtype=np.float32))
    assert result == PriorityUpdate(applied=0, skipped=1, refused=0)
    assert (weights(replay), replay._prioritised.tree.total) == (before, total)


def test_an_update_for_an_item_whose_slot_waits_for_its_action_is_skipped() -> None:
    replay = prioritised_of(3)
    play(replay, [0, 1, 2])
    slots = np.array([0])
    serials = replay._lanes.serials[slots].copy()
    replay.add(step_of([3]))
    result = replay.update_priorities(slots, serials, np.array([5.0], dtype=np.float32))
    assert result == PriorityUpdate(applied=0, skipped=1, refused=0)
    assert weights(replay)[0] == 0.0


def test_an_update_for_a_slot_that_never_held_an_item_is_skipped() -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1])
    result = replay.update_priorities(np.array([6]), np.array([0]), np.array([1e6], np.float32))
    assert result == PriorityUpdate(applied=0, skipped=1, refused=0)
    assert weights(replay)[6] == 0.0


def test_an_error_so_large_that_weights_could_not_be_summed_is_refused() -> None:
    replay = prioritised_of(8, alpha=1.0)
    play(replay, [0, 1, 2])
    serials = replay._lanes.serials[:2].copy()
    result = replay.update_priorities(np.arange(2), serials, np.array([1.7e308, 2.0]))
    assert result == PriorityUpdate(applied=1, skipped=0, refused=1)
    assert math.isfinite(replay._prioritised.tree.total)


def test_the_exponent_is_applied_once() -> None:
    replay = prioritised_of(8, alpha=0.5)
    play(replay, [0, 1])
    update(replay, {0: 16.0})
    assert weights(replay)[0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("updates", "entry"), [((), 1.0), ((0.01, 0.02), 0.02), ((0.01, 50.0, 0.02), 50.0)]
)
def test_a_new_item_enters_with_the_largest_priority_updated_so_far(
    updates: tuple[float, ...], entry: float
) -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1, 2])
    for error in updates:
        update(replay, {0: error})
    replay.add(step_of([3]))
    assert weights(replay)[2] == pytest.approx(entry)


def test_an_error_of_nothing_leaves_a_priority_and_its_sign_does_not_count() -> None:
    replay = prioritised_of(8, alpha=0.5, epsilon=1e-4)
    play(replay, [0, 1, 2])
    assert update(replay, {0: 0.0, 1: -3.0}).applied == 2
    assert weights(replay)[0] == pytest.approx(1e-2)
    assert weights(replay)[1] == pytest.approx(math.sqrt(3.0001))


@pytest.mark.parametrize("error", [math.nan, math.inf, -math.inf])
def test_errors_that_are_not_finite_are_refused_and_counted(error: float) -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1, 2])
    before = weights(replay)
    assert update(replay, {0: error}) == PriorityUpdate(applied=0, skipped=0, refused=1)
    assert weights(replay) == before
    assert update(replay, {0: error, 1: 2.0}) == PriorityUpdate(applied=1, skipped=0, refused=1)
    assert weights(replay)[:2] == pytest.approx([1.0, 2.0])


def test_the_last_of_two_errors_of_an_item_counts() -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1, 2])
    slots = np.array([1, 0, 1])
    errors = np.array([9.0, 3.0, 4.0], dtype=np.float32)
    replay.update_priorities(slots, replay._lanes.serials[slots], errors)
    assert weights(replay)[:2] == pytest.approx([3.0, 4.0])
    assert replay._prioritised.tree.total == pytest.approx(7.0)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_priorities_are_those_of_the_core(alpha: float) -> None:
    replay = prioritised_of(40, alpha=alpha, epsilon=1e-3)
    play(replay, list(range(33)))
    errors = np.random.default_rng(0).standard_normal(32).astype(np.float32)
    slots = np.arange(32)
    replay.update_priorities(slots, replay._lanes.serials[slots], errors)
    expected = priorities(torch.from_numpy(errors).double(), alpha=alpha, epsilon=1e-3)
    assert weights(replay)[:32] == pytest.approx(expected.tolist())


def test_a_batch_tells_the_probabilities_that_importance_weights_need() -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1, 2])
    update(replay, {0: 1.0, 1: 3.0})
    batch = sampled(replay)
    assert batch.probabilities is not None
    assert batch.smallest_probability == pytest.approx(0.25)
    by_slot = dict(zip(batch.indices.tolist(), batch.probabilities.tolist(), strict=True))
    assert all(p == pytest.approx([0.25, 0.75][slot]) for slot, p in by_slot.items())
    corrected = importance_weights(
        probabilities=torch.tensor([0.25, 0.75]),
        smallest_probability=batch.smallest_probability or 0.0,
        size=batch.size,
        beta=1.0,
    )
    assert corrected.tolist() == pytest.approx([1.0, 1 / 3])


def test_items_are_drawn_as_often_as_their_priorities_say() -> None:
    replay = prioritised_of(8)
    play(replay, [0, 1, 2, 3, 4])
    update(replay, {0: 1.0, 1: 1.0, 2: 1.0, 3: 97.0})
    generator, counts = np.random.default_rng(0), np.zeros(4)
    for _ in range(25_000):
        counts += np.bincount(replay.sample(4, generator=generator).indices, minlength=4)
    assert counts[3] / counts.sum() == pytest.approx(0.97, abs=0.01)
    assert counts[:3].min() > 0


def test_a_buffer_with_one_item_works() -> None:
    replay = prioritised_of(2)
    play(replay, [5, 6])
    batch = sampled(replay)
    assert (batch.indices.tolist(), batch.size, replay.is_prioritised) == ([0], 1, True)
    assert batch.probabilities is not None
    assert batch.probabilities.tolist() == [1.0]


def test_an_item_that_begin_overwrites_is_drawn_no_more() -> None:
    replay = prioritised_of(3)
    play(replay, [0, 1, 2], end="truncated")
    assert len(replay) == 2
    replay.begin(observations=numbers([10]))
    assert (len(replay), weights(replay)) == (1, [0.0, 1.0, 0.0])


@pytest.mark.parametrize(
    ("alpha", "epsilon", "message"),
    [(1.1, 1e-6, "alpha: .* from 0 to 1, got 1.1"), (0.5, 0.0, "epsilon: .* above 0, got 0.0")],
)
def test_constants_out_of_range_are_refused(alpha: float, epsilon: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prioritised_of(8, alpha=alpha, epsilon=epsilon)
