"""Frames come out as they went in, and take the memory that is told."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from oakemu_rl.buffers.frames import CompressedFrames, PlainFrames
from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.core.observations import TensorSpec
from tests.buffers.replays import step_of

SPEC = TensorSpec(shape=(1, 5, 7), dtype="uint8")
ATARI: dict[str, Any] = {
    "environments": 1,
    "observation_spec": TensorSpec(shape=(4, 84, 84), dtype="uint8"),
    "action_count": 18,
    "frame_stack": 4,
}
MIXED = {
    "screen": TensorSpec(shape=(4, 30, 64), dtype="uint8"),
    "memory": TensorSpec(shape=(12,), dtype="float32"),
}


@pytest.mark.parametrize("store", [PlainFrames, CompressedFrames])
def test_frames_come_out_as_they_went_in_and_slots_wrap_around(store: Any) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (6, *SPEC.shape), dtype=np.uint8)
    kept = store(SPEC, slots=6)
    kept.write(np.arange(5), frames[:5])
    kept.write(5, frames[5])
    out = np.empty((2, 3, *SPEC.shape), dtype=np.uint8)
    kept.read(np.array([[0, 5, 6], [-1, 3, 11]]), out)
    assert np.array_equal(out, frames[[[0, 5, 0], [5, 3, 5]]])


def test_compressed_frames_take_less_where_there_is_little_in_them() -> None:
    kept = CompressedFrames(ATARI["observation_spec"], slots=10)
    empty = kept.nbytes
    frames = np.zeros((10, 4, 84, 84), dtype=np.uint8)
    kept.write(np.arange(10), frames)
    once = kept.nbytes
    assert empty < once < frames.nbytes / 50
    kept.write(np.arange(10), frames)
    assert kept.nbytes == once


def test_a_missing_package_is_told_with_its_extra() -> None:
    code = (
        "import sys; sys.modules['zstandard'] = None\n"
        "from oakemu_rl.buffers.frames import CompressedFrames\n"
        "from oakemu_rl.core.errors import MissingExtraError\n"
        "from oakemu_rl.core.observations import TensorSpec\n"
        "try: CompressedFrames(TensorSpec(shape=(1,), dtype='uint8'), slots=2)\n"
        "except MissingExtraError as error: print(error)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    ).stdout
    assert "pip install 'oakemu-rl[zstd]'" in said


@pytest.mark.parametrize("spec", [ATARI["observation_spec"], MIXED])
@pytest.mark.parametrize("prioritised", [False, True])
def test_the_size_that_is_told_is_the_size_that_is_taken(spec: Any, prioritised: bool) -> None:
    shape = ATARI | {
        "observation_spec": spec,
        "capacity": 3_000,
        "masked": True,
        "value_names": ("lives", "score"),
    }
    told = (PrioritizedReplayBuffer if prioritised else ReplayBuffer).size_bytes(**shape)
    replay = (
        PrioritizedReplayBuffer(alpha=0.5, epsilon=0.1, **shape)
        if prioritised
        else ReplayBuffer(**shape)
    )
    assert told == pytest.approx(replay.nbytes, rel=0.01)


def test_a_million_frames_take_little_more_than_the_frames() -> None:
    told = PrioritizedReplayBuffer.size_bytes(capacity=1_000_000, masked=True, **ATARI)
    assert 7.056e9 < told < 1.02 * 7.056e9
    screens = ATARI | {"observation_spec": TensorSpec(shape=(4, 192, 256), dtype="uint8")}
    assert ReplayBuffer.size_bytes(capacity=1_000_000, **screens) == pytest.approx(49.2e9, rel=0.01)


@pytest.mark.parametrize("shape", [(1,), (4,), (1, 84, 84), (3, 300, 300)])
def test_compression_is_told_as_what_it_can_take_at_most(shape: tuple[int, ...]) -> None:
    layout: dict[str, Any] = {
        "capacity": 40,
        "environments": 1,
        "observation_spec": TensorSpec(shape=shape, dtype="uint8"),
        "action_count": 2,
        "compression": "zstd",
    }
    replay, generator = ReplayBuffer(**layout), np.random.default_rng(0)
    replay.begin(observations=generator.integers(0, 256, (1, *shape), dtype=np.uint8))
    for _ in range(50):
        noise = generator.integers(0, 256, (1, *shape), dtype=np.uint8)
        replay.add(step_of([0], next_observations=noise))
    list_header = 64
    told = ReplayBuffer.size_bytes(**layout)
    assert 0.9 * told < replay.nbytes <= told + list_header


def test_bytes_stay_bytes() -> None:
    replay = ReplayBuffer(capacity=10, **ATARI)
    frames = np.full((1, 4, 84, 84), 255, dtype=np.uint8)
    replay.begin(observations=frames)
    replay.add(step_of([0], next_observations=frames))
    batch = replay.sample(1, generator=np.random.default_rng(0))
    assert str(batch.observations.dtype) == "torch.uint8"  # type: ignore[union-attr]
    assert int(batch.next_observations.min()) == 255  # type: ignore[union-attr]
