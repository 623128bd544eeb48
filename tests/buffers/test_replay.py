"""The replay by worked values: which item has which successor, where windows end, what is
refused. That all is right in any order is in `test_replay_against_naive`."""

import threading
from typing import Any

import numpy as np
import pytest
import torch

from oakemu_rl.buffers.replay import PriorityUpdate, ReplayBuffer
from oakemu_rl.core import target_q_values, window_returns
from oakemu_rl.core.observations import TensorSpec
from oakemu_rl.core.transitions import TransitionBatch
from tests.buffers.replays import layout, numbers, play, replay_of, rows_of, sampled, step_of

GAMMA = 0.9
VALUE = 10.0
"""What the successor of every window is worth, where there is one."""


def targets(batch: TransitionBatch) -> dict[float, float]:
    """The targets of learning by the observation they are for; all successors are worth `VALUE`."""
    returns = window_returns(
        rewards=batch.rewards, lengths=batch.lengths, terminated=batch.terminated, gamma=GAMMA
    )
    values = target_q_values(
        rewards=returns.returns,
        discounts=returns.discounts,
        next_q_target=torch.full((len(batch.indices), 2), VALUE),
    )
    assert isinstance(batch.observations, torch.Tensor)
    return dict(zip(batch.observations[:, 0].tolist(), values.tolist(), strict=True))


def all_targets(replay: ReplayBuffer) -> dict[float, float]:
    found: dict[float, float] = {}
    for seed in range(30):
        found |= targets(sampled(replay, seed=seed))
    return found


def test_a_time_limit_keeps_its_own_last_observation() -> None:
    replay = replay_of(20)
    play(replay, [0, 1, 2, 3], end="truncated")
    play(replay, [10, 11])
    rows = rows_of(replay)
    assert sorted(rows) == [0, 1, 2, 10]
    assert (rows[2]["next"], rows[2]["terminated"]) == ([3.0], False)
    assert rows[10]["next"] == [11.0]


ENDS = [
    ({"truncated": True}, 10.0),
    ({"terminated": True}, 1.0),
    ({"terminated": True, "truncated": True}, 1.0),
]


@pytest.mark.parametrize(("ends", "target"), ENDS)
def test_a_time_limit_is_bootstrapped_and_a_death_is_not(
    ends: dict[str, bool], target: float
) -> None:
    replay = replay_of(20)
    replay.begin(observations=numbers([0]))
    replay.add(step_of([1], **{name: np.array([flag]) for name, flag in ends.items()}))
    assert all_targets(replay) == {0.0: pytest.approx(target)}


def test_a_window_that_the_newest_step_cuts_is_discounted_by_the_steps_taken() -> None:
    replay = replay_of(20, n_step=3)
    play(replay, [0, 1])
    assert all_targets(replay)[0.0] == pytest.approx(1 + GAMMA * VALUE)


@pytest.mark.parametrize(("end", "target"), [("truncated", 10.0), ("terminated", 1.9)])
def test_a_window_does_not_reach_into_the_next_episode(end: str, target: float) -> None:
    replay = replay_of(20, n_step=3)
    play(replay, [0, 1, 2], end=end)
    play(replay, [10, 11, 12], rewards=np.array([100.0], dtype=np.float32))
    assert all_targets(replay)[0.0] == pytest.approx(target)


def test_the_successors_of_an_episode_of_five_steps() -> None:
    replay = replay_of(20, n_step=3)
    play(replay, [0, 1, 2, 3, 4, 5], end="terminated")
    rows = rows_of(replay)
    assert [rows[i]["next"] for i in range(5)] == [[3], [4], [5], [5], [5]]
    assert [rows[i]["length"] for i in range(5)] == [3, 3, 3, 2, 1]
    assert rows[4]["rewards"] == [1, 0, 0]


def test_what_is_written_is_a_copy_and_is_left_as_it_was() -> None:
    replay = replay_of(20, n_step=3)
    first, following = numbers([7]), numbers([8])
    step = step_of([8], next_observations=following)
    replay.begin(observations=first)
    replay.add(step)
    sampled(replay)
    assert (first.tolist(), following.tolist(), step.rewards.tolist()) == ([[7]], [[8]], [1])
    first += 100
    following += 100
    assert rows_of(replay)[7.0]["next"] == [8.0]


def test_the_first_frame_fills_a_stack_and_the_last_one_keeps_its_history() -> None:
    replay = replay_of(20, observation_spec=TensorSpec(shape=(4,), dtype="float32"), frame_stack=4)
    stacks = np.array(
        [[7, 7, 7, 7], [7, 7, 7, 8], [7, 7, 8, 9], [7, 8, 9, 10], [8, 9, 10, 11]], dtype=np.float32
    )
    replay.begin(observations=stacks[:1])
    for t in range(1, 5):
        ended = np.array([t == 4])
        replay.add(step_of([0], next_observations=stacks[t : t + 1], terminated=ended))
    rows = rows_of(replay)
    assert [rows[7 + t]["stack"] for t in range(4)] == stacks[:4].tolist()
    assert [rows[7 + t]["next"] for t in range(4)] == stacks[1:].tolist()


def test_an_item_goes_when_a_frame_of_its_stack_is_overwritten() -> None:
    replay = replay_of(6, observation_spec=TensorSpec(shape=(2,), dtype="float32"), frame_stack=2)
    replay.begin(observations=np.array([[0, 0]], dtype=np.float32))
    for t in range(1, 8):
        stack = np.array([[t - 1, t]], dtype=np.float32)
        replay.add(step_of([0], next_observations=stack))
    # Frames 2 to 7 are there; the step at 2 would need frame 1, and 7 waits for its action.
    assert sorted(rows_of(replay)) == [3, 4, 5, 6]


def test_masks_are_those_of_the_observation_and_of_the_next() -> None:
    replay = replay_of(20, masked=True)
    masks = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1]], dtype=np.bool_)
    replay.begin(observations=numbers([0]), action_masks=masks[:1])
    replay.add(step_of([1], next_action_masks=masks[1:2]))
    replay.add(step_of([2], next_action_masks=masks[2:]))
    batch = sampled(replay, 20 if len(replay) >= 20 else len(replay))
    assert isinstance(batch.observations, torch.Tensor)
    assert batch.action_masks is not None
    assert batch.next_action_masks is not None
    for row, number in enumerate(batch.observations[:, 0].int().tolist()):
        assert batch.action_masks[row].tolist() == masks[number].tolist()
        assert batch.next_action_masks[row].tolist() == masks[number + 1].tolist()


def test_rows_that_are_not_valid_change_nothing() -> None:
    replay = replay_of(20, 2)
    replay.begin(observations=numbers([0, 100]))
    replay.add(step_of([1, 999], valid=np.array([True, False])))
    replay.add(step_of([2, 999], valid=np.array([True, False])))
    assert sorted(rows_of(replay)) == [0, 1]
    replay.add(step_of([3, 101]))
    rows = rows_of(replay)
    assert sorted(rows) == [0, 1, 2, 100]
    assert rows[100]["next"] == [101]


def test_capacity_is_what_divides_evenly() -> None:
    assert replay_of(11, 3).capacity == 9
    replay = replay_of(4)
    play(replay, list(range(50)))
    assert (len(replay), replay.n_step, replay.is_prioritised) == (3, 1, False)


def test_sampling_is_by_the_generator_alone() -> None:
    replay = replay_of(100)
    play(replay, list(range(60)))
    one = sampled(replay, 32).indices.tolist()
    assert sampled(replay, 32).indices.tolist() == one
    assert sampled(replay, 32, seed=1).indices.tolist() != one


def test_every_item_is_as_likely() -> None:
    replay = replay_of(40, 2)
    play_both = [step_of([t, 100 + t], terminated=np.array([t % 3 == 0, False])) for t in range(30)]
    replay.begin(observations=numbers([0, 100]))
    for step in play_both:
        replay.add(step)
        if step.terminated.any():
            replay.begin(rows=step.terminated, observations=numbers([50, 150]))
    generator = np.random.default_rng(0)
    counts = np.zeros(40)
    for _ in range(2_000):
        batch = replay.sample(10, generator=generator)
        counts += np.bincount(batch.indices.numpy(), minlength=40)
    held = counts[counts > 0]
    assert len(held) == len(replay)
    # Chi-squared with len - 1 degrees of freedom stays below its mean and five deviations.
    expected = 20_000 / len(held)
    statistic = float(((held - expected) ** 2 / expected).sum())
    assert statistic < len(held) + 5 * np.sqrt(2 * len(held))


def test_priorities_without_priorities_do_nothing() -> None:
    replay = replay_of(20)
    play(replay, [0, 1, 2])
    batch = sampled(replay)
    assert batch.probabilities is None
    result = replay.update_priorities(
        batch.indices.numpy(), batch.serials.numpy(), np.ones(2, dtype=np.float32)
    )
    assert result == PriorityUpdate(applied=0, skipped=0, refused=0)


def test_a_batch_may_be_larger_than_the_items_but_needs_one() -> None:
    replay = replay_of(20)
    with pytest.raises(ValueError, match="batch_size: 3 items were asked for, 0 can be sampled"):
        sampled(replay, 3)
    play(replay, [0, 1, 2])
    assert set(sampled(replay, 40).indices.tolist()) == {0, 1}
    with pytest.raises(ValueError, match="batch_size: 0 items"):
        sampled(replay, 0)


def test_a_step_without_an_episode_is_refused_and_changes_nothing() -> None:
    replay = replay_of(20, 2)
    with pytest.raises(ValueError, match="no episode has begun in environment 0"):
        replay.add(step_of([1, 1]))
    replay.begin(observations=numbers([0, 100]))
    replay.add(step_of([1, 101], truncated=np.array([False, True])))
    with pytest.raises(ValueError, match="no episode has begun in environment 1"):
        replay.add(step_of([2, 102]))
    replay.add(step_of([2, 102], valid=np.array([True, False])))
    assert sorted(rows_of(replay)) == [0, 1, 100]


WRONG_OBSERVATIONS = [
    (np.zeros((1, 2), dtype=np.float32), r"float32 of shape \[1, 1\], got float32 .* \[1, 2\]"),
    (np.zeros((2, 1), dtype=np.float32), r"got float32 of shape \[2, 1\]"),
    (np.zeros((1, 1)), "must be float32 .*, got float64"),
]


@pytest.mark.parametrize(("observations", "message"), WRONG_OBSERVATIONS)
def test_wrong_observations_are_refused_and_change_nothing(
    observations: np.ndarray, message: str
) -> None:
    replay = replay_of(20)
    play(replay, [0, 1])
    with pytest.raises(ValueError, match=message):
        replay.add(step_of([2], next_observations=observations))
    assert len(replay) == 1
    replay.add(step_of([2]))
    assert sorted(rows_of(replay)) == [0, 1]


def test_a_missing_named_value_is_told() -> None:
    replay = replay_of(20, value_names=("lives",))
    with pytest.raises(ValueError, match=r"values: 'lives' is to be kept, got \['score'\]"):
        replay.begin(observations=numbers([0]), values={"score": np.ones(1)})


WRONG_LAYOUTS: list[tuple[dict[str, Any], str]] = [
    ({"environments": 0}, "environments must be at least 1, got 0"),
    ({"frame_stack": 0}, "frame_stack must be at least 1, got 0"),
    ({"n_step": 0}, "n_step must be at least 1, got 0"),
    ({"capacity": 1}, "1 slots for 1 environments .* at least 2 are needed"),
    ({"capacity": 5, "environments": 3}, "at least 6 are needed"),
    ({"frame_stack": 2}, r"first size of 'observation', \(1,\), must be a multiple .* 2"),
    ({"compression": "zip"}, "compression must be one of none, zstd, got 'zip'"),
]


@pytest.mark.parametrize(("changes", "message"), WRONG_LAYOUTS)
def test_a_layout_that_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ReplayBuffer(**(layout(100) | changes))


def test_one_thread_writes_while_another_samples() -> None:
    replay = replay_of(64)
    replay.begin(observations=numbers([0]))
    for t in range(1, 40):
        replay.add(step_of([t], rewards=np.array([t - 1], dtype=np.float32)))

    def write() -> None:
        for t in range(40, 3_000):
            replay.add(step_of([t], rewards=np.array([t - 1], dtype=np.float32)))

    writer = threading.Thread(target=write)
    writer.start()
    generator = np.random.default_rng(0)
    while writer.is_alive():
        batch = replay.sample(16, generator=generator)
        assert isinstance(batch.observations, torch.Tensor)
        assert isinstance(batch.next_observations, torch.Tensor)
        assert torch.equal(batch.observations + 1, batch.next_observations)
        assert torch.equal(batch.observations[:, 0], batch.rewards[:, 0])
    writer.join(timeout=10)
    assert not writer.is_alive()
