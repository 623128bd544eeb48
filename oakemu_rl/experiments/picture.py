"""Moving pictures of episodes."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from PIL import Image

from oakemu_rl.checkpoints.files import atomic_write_bytes
from oakemu_rl.envs.spaces import Array

MOST_COLOURS = 32
MOST_FRAMES = 1_000
"""Frames of one picture; more would fill the memory while it is made."""


def write_gif(path: Path, frames: Sequence[Array], *, frames_per_second: float) -> None:
    """Write RGB frames [height, width, 3] as a GIF that repeats.

    Raises:
        StorageError: the disk refused.
    """
    pictures = [
        Image.fromarray(frame).quantize(MOST_COLOURS, dither=Image.Dither.NONE) for frame in frames
    ]
    data = BytesIO()
    pictures[0].save(
        data,
        format="GIF",
        save_all=True,
        append_images=pictures[1:],
        duration=round(1_000 / frames_per_second),
        loop=0,
        optimize=False,
    )
    atomic_write_bytes(path, data.getvalue())
