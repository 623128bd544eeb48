"""The rollout buffer: what is written comes back, each row once, with advantages by the book."""

from typing import Any

import pytest
import torch
from torch import Tensor

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.buffers.slots import RolloutStep
from oakemu_rl.core.minibatches import RolloutMinibatch
from oakemu_rl.core.observations import ObservationSpec, TensorSpec

NUMBER = TensorSpec(shape=(1,), dtype="float32")
MAPPING = {
    "screen": TensorSpec(shape=(1, 2, 2), dtype="uint8"),
    "memory": TensorSpec(shape=(2,), dtype="float32"),
}


def buffer_of(
    steps: int, environments: int, *, spec: ObservationSpec = NUMBER, slots: int = 2
) -> RolloutBuffer:
    return RolloutBuffer(
        steps=steps,
        environments=environments,
        observation_spec=spec,
        action_count=3,
        slots=slots,
    )


def step_of(numbers: Tensor, **changes: Any) -> RolloutStep:
    """A step whose every number tells its row: `numbers` [N] are all different."""
    flags = torch.zeros(len(numbers), dtype=torch.bool)
    fields: dict[str, Any] = {
        "observations": numbers[:, None],
        "actions": numbers.long() % 3,
        "log_probs": -numbers,
        "values": 10 * numbers,
        "final_values": torch.zeros_like(numbers),
        "rewards": 100 * numbers,
        "terminated": flags,
        "truncated": flags,
        "valid": ~flags,
    }
    return RolloutStep(**(fields | changes))


def fill(buffer: RolloutBuffer, slot: int = 0, *, version: int = 0, **changes: Any) -> None:
    """Fill a slot so that row (t, n) holds the number t * N + n; changes are given [T, N]."""
    buffer.begin(slot, version=version)
    count = buffer.environments
    for t in range(buffer.steps):
        numbers = torch.arange(t * count, (t + 1) * count, dtype=torch.float32)
        buffer.write(slot, step_of(numbers, **{name: each[t] for name, each in changes.items()}))
    finalise(buffer, slot)


def finalise(buffer: RolloutBuffer, slot: int = 0, *, env_steps: int = 0) -> None:
    buffer.finalise(
        slot,
        last_values=torch.zeros(buffer.environments),
        gamma=0.9,
        gae_lambda=0.95,
        env_steps=env_steps,
    )


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def minibatches(
    buffer: RolloutBuffer, size: int, *, epochs: int = 1, seed: int = 0
) -> list[RolloutMinibatch]:
    return list(buffer.on_policy_minibatches(size, epochs=epochs, generator=generator(seed)))


def rows_of(batches: list[RolloutMinibatch]) -> list[int]:
    found: list[int] = []
    for batch in batches:
        assert isinstance(batch.observations, Tensor)
        found += batch.observations.flatten().long().tolist()
    return found


def test_every_row_comes_once_an_epoch_and_in_another_order() -> None:
    buffer = buffer_of(8, 4)
    fill(buffer)
    batches = minibatches(buffer, 8, epochs=3)
    assert [len(batch.actions) for batch in batches] == [8] * 12
    epochs = [rows_of(batches[start : start + 4]) for start in (0, 4, 8)]
    assert [sorted(rows) for rows in epochs] == [list(range(32))] * 3
    assert epochs[0] != epochs[1] != epochs[2]


def test_65_rows_in_minibatches_of_64_give_a_last_one_of_a_single_row() -> None:
    buffer = buffer_of(65, 1)
    fill(buffer)
    batches = minibatches(buffer, 64, epochs=2)
    assert [len(batch.actions) for batch in batches] == [64, 1, 64, 1]
    assert sorted(rows_of(batches[:2])) == list(range(65))


def test_the_numbers_of_a_row_stay_together() -> None:
    buffer = buffer_of(5, 3)
    fill(buffer)
    storage = buffer.storage
    for batch in minibatches(buffer, 4):
        rows = torch.tensor(rows_of([batch]))
        assert batch.actions.tolist() == (rows % 3).tolist()
        assert batch.log_probs.tolist() == (-rows).tolist()
        assert batch.values.tolist() == (10 * rows).tolist()
        assert torch.equal(batch.advantages, storage.advantages.flatten()[rows])
        assert torch.equal(batch.returns, storage.returns.flatten()[rows])


def test_the_order_is_the_generators_alone() -> None:
    buffer = buffer_of(8, 4)
    fill(buffer)
    torch.manual_seed(1)
    one = rows_of(minibatches(buffer, 8))
    torch.manual_seed(2)
    assert rows_of(minibatches(buffer, 8)) == one
    assert rows_of(minibatches(buffer, 8, seed=1)) != one


def test_minibatches_hold_float32_int64_and_bool_and_no_float64() -> None:
    buffer = buffer_of(4, 2)
    wide = torch.ones(4, 2, dtype=torch.float64)
    fill(
        buffer,
        rewards=wide,
        values=wide,
        log_probs=-wide,
        actions=torch.ones(4, 2, dtype=torch.uint8),
        action_masks=torch.ones(4, 2, 3, dtype=torch.bool),
    )
    for batch in minibatches(buffer, 3):
        for numbers in (batch.log_probs, batch.values, batch.advantages, batch.returns):
            assert numbers.dtype == torch.float32
        assert isinstance(batch.observations, Tensor)
        assert batch.observations.dtype == torch.float32
        assert batch.actions.dtype == torch.int64
        assert batch.action_masks is not None
        assert batch.action_masks.dtype == torch.bool


def test_rows_that_only_reset_an_environment_come_in_no_minibatch() -> None:
    buffer = buffer_of(4, 2)
    valid = torch.tensor([[1, 1], [0, 1], [1, 0], [1, 1]]).bool()
    fill(buffer, valid=valid)
    assert sorted(rows_of(minibatches(buffer, 4))) == [0, 1, 3, 4, 6, 7]
    assert (buffer.valid_rows, buffer.on_policy_rows, buffer.replayed_rows) == (6, 6, 0)
    observations = buffer.observations()
    assert isinstance(observations, Tensor)
    assert observations.flatten().tolist() == [0, 1, 3, 4, 6, 7]


def test_a_rollout_without_a_valid_row_gives_no_minibatch() -> None:
    buffer = buffer_of(1, 1)
    fill(buffer, valid=torch.zeros(1, 1, dtype=torch.bool))
    assert minibatches(buffer, 4, epochs=3) == []
    assert buffer.valid_rows == 0


def test_replayed_rows_are_cloned_and_the_others_learned_from() -> None:
    buffer = buffer_of(3, 2)
    replayed = torch.tensor([[1, 0], [1, 0], [1, 1]]).bool()
    valid = torch.tensor([[1, 1], [0, 1], [1, 1]]).bool()
    fill(buffer, replayed=replayed, valid=valid)
    assert (buffer.on_policy_rows, buffer.replayed_rows) == (2, 3)
    assert sorted(rows_of(minibatches(buffer, 8))) == [1, 3]
    cloned = list(buffer.replayed_minibatches(2, generator=generator()))
    assert [len(batch.actions) for batch in cloned] == [2, 1]
    found: list[int] = []
    for batch in cloned:
        assert isinstance(batch.observations, Tensor)
        found += batch.observations.flatten().long().tolist()
        assert batch.actions.tolist() == (batch.observations.flatten().long() % 3).tolist()
        assert batch.weights is None
        assert batch.action_masks is None
    assert sorted(found) == [0, 4, 5]


def test_observations_may_be_a_mapping() -> None:
    buffer = buffer_of(2, 2, spec=MAPPING)
    buffer.begin(0, version=0)
    for t in range(2):
        numbers = torch.arange(2 * t, 2 * t + 2, dtype=torch.float32)
        mapping = {
            "memory": numbers[:, None].expand(2, 2),
            "screen": numbers[:, None, None, None].expand(2, 1, 2, 2).to(torch.uint8),
        }
        buffer.write(0, step_of(numbers, observations=mapping))
    finalise(buffer)
    for batch in minibatches(buffer, 3):
        rows = (batch.values / 10).long().tolist()
        assert not isinstance(batch.observations, Tensor)
        assert batch.observations["memory"].dtype == torch.float32
        assert batch.observations["memory"].tolist() == [[row, row] for row in rows]
        assert batch.observations["screen"].dtype == torch.uint8
        assert batch.observations["screen"][:, 0, 1, 1].tolist() == rows


def test_masks_come_beside_their_observations_and_only_where_they_were_given() -> None:
    buffer = buffer_of(4, 2)
    masks = torch.rand(4, 2, 3, generator=generator()) > 0.5
    fill(buffer, action_masks=masks)
    for batch in minibatches(buffer, 3):
        assert batch.action_masks is not None
        assert torch.equal(batch.action_masks, masks.flatten(0, 1)[rows_of([batch])])
    fill(buffer)
    assert all(batch.action_masks is None for batch in minibatches(buffer, 3))


def test_a_step_without_masks_among_steps_with_masks_allows_everything() -> None:
    buffer = buffer_of(2, 1)
    buffer.begin(0, version=0)
    mask = torch.tensor([[True, False, False]])
    buffer.write(0, step_of(torch.tensor([0.0]), action_masks=mask))
    buffer.write(0, step_of(torch.tensor([1.0])))
    finalise(buffer)
    (batch,) = minibatches(buffer, 2)
    assert batch.action_masks is not None
    found = dict(zip(rows_of([batch]), batch.action_masks.tolist(), strict=True))
    assert found == {0: [True, False, False], 1: [True, True, True]}


def test_each_slot_keeps_its_rows_its_version_and_its_step() -> None:
    buffer = buffer_of(2, 1)
    assert buffer.slots == 2
    fill(buffer, 0, version=4)
    finalise(buffer, 0, env_steps=20)
    buffer.begin(1, version=7)
    buffer.write(1, step_of(torch.tensor([50.0])))
    assert (rows_of(minibatches(buffer, 2, seed=3)), buffer.version) == ([0, 1], 4)
    buffer.write(1, step_of(torch.tensor([51.0])))
    finalise(buffer, 1, env_steps=22)
    assert (buffer.version, buffer.env_steps) == (4, 20)
    buffer.select(1)
    assert (sorted(rows_of(minibatches(buffer, 2))), buffer.version) == ([50, 51], 7)
    assert buffer.env_steps == 22


def test_what_is_written_is_a_copy() -> None:
    buffer = buffer_of(1, 2)
    numbers = torch.tensor([1.0, 2.0])
    buffer.begin(0, version=0)
    buffer.write(0, step_of(numbers))
    numbers += 10
    assert isinstance(buffer.storage.observations, Tensor)
    assert buffer.storage.observations.flatten().tolist() == [1, 2]


def test_a_slot_takes_no_more_and_no_fewer_steps_than_make_a_rollout() -> None:
    buffer = buffer_of(2, 1)
    buffer.begin(0, version=0)
    buffer.write(0, step_of(torch.tensor([0.0])))
    with pytest.raises(ValueError, match="slot 0 holds 1 steps, 2 make a rollout"):
        finalise(buffer)
    buffer.write(0, step_of(torch.tensor([1.0])))
    with pytest.raises(ValueError, match="slot 0 is full: it holds 2 steps"):
        buffer.write(0, step_of(torch.tensor([2.0])))
    finalise(buffer)
    buffer.begin(0, version=1)
    with pytest.raises(ValueError, match="slot 0 holds 0 steps"):
        finalise(buffer)


@pytest.mark.parametrize("size", ["steps", "environments", "slots"])
def test_a_size_below_1_is_refused(size: str) -> None:
    sizes: dict[str, Any] = {"steps": 1, "environments": 1, "slots": 1, size: 0}
    with pytest.raises(ValueError, match=f"{size} must be at least 1, got 0"):
        buffer_of(sizes["steps"], sizes["environments"], slots=sizes["slots"])


# r = [1, 1], V(s0) = 5, V(s1) = 6, the value of the last observation 10, gamma 0.9, lambda 0.95.
ENDS = [
    (False, True, [4.82, 4.0], [9.82, 10.0]),
    (True, False, [-2.875, -5.0], [2.125, 1.0]),
    (True, True, [-2.875, -5.0], [2.125, 1.0]),
]


@pytest.mark.parametrize(("terminated", "truncated", "advantages", "returns"), ENDS)
def test_a_time_limit_is_bootstrapped_and_a_death_is_not(
    terminated: bool, truncated: bool, advantages: list[float], returns: list[float]
) -> None:
    buffer = buffer_of(2, 1)
    last = {"terminated": terminated, "truncated": truncated}
    fill(
        buffer,
        rewards=torch.ones(2, 1),
        values=torch.tensor([[5.0], [6.0]]),
        final_values=torch.tensor([[torch.nan], [torch.nan if terminated else 10.0]]),
        **{name: torch.tensor([[False], [flag]]) for name, flag in last.items()},
    )
    assert buffer.storage.advantages.flatten().tolist() == pytest.approx(advantages)
    assert buffer.storage.returns.flatten().tolist() == pytest.approx(returns)


def test_a_rollout_that_is_cut_off_is_bootstrapped_from_the_last_values() -> None:
    buffer = buffer_of(2, 2)
    buffer.begin(0, version=0)
    values = torch.tensor([[5.0, 0.0], [6.0, 0.0]])
    for t in range(2):
        buffer.write(0, step_of(torch.zeros(2), rewards=torch.ones(2), values=values[t]))
    buffer.finalise(
        0, last_values=torch.tensor([10.0, 0.0]), gamma=0.9, gae_lambda=0.95, env_steps=4
    )
    assert buffer.storage.advantages[:, 0].tolist() == pytest.approx([4.82, 4.0])
    assert buffer.storage.advantages[:, 1].tolist() == pytest.approx([1.855, 1.0])


def test_nothing_passes_a_row_that_only_reset_its_environment() -> None:
    buffer = buffer_of(4, 1)
    fill(
        buffer,
        rewards=torch.tensor([[1.0], [0.0], [1.0], [1.0]]),
        values=torch.tensor([[5.0], [6.0], [5.0], [6.0]]),
        final_values=torch.tensor([[10.0], [0.0], [0.0], [10.0]]),
        truncated=torch.tensor([[1], [0], [0], [1]]).bool(),
        valid=torch.tensor([[1], [0], [1], [1]]).bool(),
    )
    assert buffer.storage.advantages.flatten().tolist() == pytest.approx([5.0, 0.0, 4.82, 4.0])
