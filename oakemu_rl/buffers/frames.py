"""Stores of frames: one observation a slot, read in blocks of rows."""

import sys
from typing import Protocol

import numpy as np

from oakemu_rl.buffers.layout import Array, Integers, Slots
from oakemu_rl.core.errors import MissingExtraError
from oakemu_rl.core.observations import TensorSpec

COMPRESSION_LEVEL = 1
"""The fastest that zstd documents; higher levels gain little on frames."""


class FrameStore(Protocol):
    """Frames by slot. Slots to be read may lie beyond the last or before 0: they wrap around."""

    @property
    def nbytes(self) -> int:
        """The memory that the frames take."""

    def write(self, slots: Slots, frames: Array) -> None:
        """Put `frames`, one each, into `slots`."""

    def read(self, slots: Integers, out: Array) -> None:
        """Copy the frames in `slots` [B, M] into `out` [B, M, ...]."""


def frame_store(spec: TensorSpec, *, slots: int, compression: str) -> FrameStore:
    """A store for frames of this spec.

    Raises:
        MissingExtraError: the package for the compression is not installed.
    """
    if compression == "zstd":
        return CompressedFrames(spec, slots=slots)
    return PlainFrames(spec, slots=slots)


class PlainFrames:
    """Frames as they are, in one array; memory that was never written to is not taken yet."""

    def __init__(self, spec: TensorSpec, *, slots: int) -> None:
        self._frames: Array = np.empty((slots, *spec.shape), dtype=spec.dtype)

    @property
    def nbytes(self) -> int:
        return self._frames.nbytes

    def write(self, slots: Slots, frames: Array) -> None:
        self._frames[slots] = frames

    def read(self, slots: Integers, out: Array) -> None:
        self._frames.take(slots, axis=0, out=out, mode="wrap")


class CompressedFrames:
    """Frames compressed one by one with zstd. Needs the extra `zstd`."""

    def __init__(self, spec: TensorSpec, *, slots: int) -> None:
        try:
            import zstandard
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                package="zstandard", extra="zstd", purpose="Compressing the replay"
            ) from error
        self._spec = spec
        self._compress = zstandard.ZstdCompressor(level=COMPRESSION_LEVEL).compress
        self._decompress = zstandard.ZstdDecompressor().decompress
        self._frames = [b""] * slots
        self._nbytes = sys.getsizeof(self._frames)

    @property
    def nbytes(self) -> int:
        return self._nbytes

    def write(self, slots: Slots, frames: Array) -> None:
        for slot, frame in zip(
            np.atleast_1d(slots).tolist(), frames.reshape(-1, *self._spec.shape), strict=True
        ):
            packed, before = self._compress(frame.tobytes()), self._frames[slot]
            # Slots that were never written to share one empty object.
            self._nbytes += sys.getsizeof(packed) - (sys.getsizeof(before) if before else 0)
            self._frames[slot] = packed

    def read(self, slots: Integers, out: Array) -> None:
        count = len(self._frames)
        rows = out.reshape(-1, *self._spec.shape)
        for row, slot in zip(rows, slots.ravel().tolist(), strict=True):
            frame = np.frombuffer(self._decompress(self._frames[slot % count]), self._spec.dtype)
            row[...] = frame.reshape(self._spec.shape)
