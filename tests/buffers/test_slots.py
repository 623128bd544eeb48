"""The storage of one rollout."""

import attrs

from oakemu_rl.buffers.slots import RolloutStorage
from oakemu_rl.core.observations import TensorSpec, observation_tensors


def test_the_size_that_is_told_is_the_size_that_is_taken() -> None:
    spec = {
        "screen": TensorSpec(shape=(4, 30, 64), dtype="uint8"),
        "memory": TensorSpec(shape=(3,), dtype="float32"),
    }
    told = RolloutStorage.size_bytes(steps=7, environments=5, observation_spec=spec, action_count=3)
    storage = RolloutStorage.allocate(
        steps=7, environments=5, observation_spec=spec, action_count=3, pinned=False
    )
    taken = sum(
        tensor.nbytes
        for field in attrs.fields(RolloutStorage)
        for tensor in observation_tensors(getattr(storage, field.name)).values()
    )
    assert told == taken
