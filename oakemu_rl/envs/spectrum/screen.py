"""The Spectrum's 6,912 screen bytes as images.

A bitmap of 192 rows of 32 bytes, stored in three thirds of eight pixel rows of eight character rows,
then 24 x 32 attributes: bits 0-2 ink, 3-5 paper, 6 bright. Flashing is not shown: an image is a function
of the screen bytes alone.
"""

from functools import lru_cache

import attrs
import numpy as np
from numpy.typing import NDArray

HEIGHT, WIDTH = 192, 256
SHRINK_FACTORS = (1, 2, 4, 8)
_BITMAP_BYTES = 6144

Image = NDArray[np.uint8]


@attrs.frozen(kw_only=True)
class PlayArea:
    """The part of the screen that is seen, in pixels from the top left corner."""

    x: int = 0
    y: int = 0
    width: int = WIDTH
    height: int = HEIGHT


def palette() -> Image:
    """Red, green and blue of the 16 colours: 0-7 normal, 8-15 bright. Shape [16, 3]."""
    colours = np.zeros((16, 3), np.uint8)
    for number in range(16):
        level = 255 if number >= 8 else 205
        colours[number] = [level * (number >> bit & 1) for bit in (1, 2, 0)]
    return colours


def luminance() -> NDArray[np.float64]:
    """Grey of the 16 colours by ITU-R BT.601: 0.299 R + 0.587 G + 0.114 B. Shape [16]."""
    return np.asarray(palette() @ np.array([0.299, 0.587, 0.114]), np.float64)


def grey_image(screen: bytes, *, shrink: int = 1, area: PlayArea | None = None) -> Image:
    """A grey image, each pixel the rounded mean of `shrink` x `shrink` screen pixels.

    A block of pixels never crosses a character cell, so its mean is a blend of the cell's ink and paper
    by the share of set bits: a table of attribute and count gives it.

    Shapes:
        returns [area.height / shrink, area.width / shrink] uint8, a fresh array.

    Raises:
        ValueError: `shrink` is not in `SHRINK_FACTORS`, or the area fails `check_area`.
    """
    seen = area or PlayArea()
    check_area(seen, shrink=shrink)
    across, groups = 8 // shrink, 8 // shrink
    bitmap, attributes = _split(screen)
    counts = _bit_counts(shrink)[bitmap].reshape(3, groups, shrink, 8, 32)
    sums = counts[:, :, 0]
    for row in range(1, shrink):
        sums = sums + counts[:, :, row]  # a byte of the packed counts holds at most 64: no carry
    cells = sums.view(np.uint8).reshape(3, groups, 8, 32, across).transpose(0, 2, 1, 3, 4)
    offsets = (attributes.astype(np.intp) * (shrink * shrink + 1)).reshape(3, 8, 1, 32, 1)
    image = _blends(shrink).take(offsets + cells).reshape(HEIGHT // shrink, WIDTH // shrink)
    if seen == PlayArea():
        return image
    rows = slice(seen.y // shrink, (seen.y + seen.height) // shrink)
    columns = slice(seen.x // shrink, (seen.x + seen.width) // shrink)
    return image[rows, columns].copy()


def colour_image(screen: bytes) -> Image:
    """The whole screen in colour, [192, 256, 3] uint8."""
    bitmap, attributes = _split(screen)
    bits = np.unpackbits(bitmap).reshape(3, 8, 8, 32, 8).transpose(0, 2, 1, 3, 4)
    cells = attributes.reshape(3, 8, 1, 32, 1)
    bright = (cells >> 3) & 8
    numbers = np.where(bits == 1, (cells & 7) | bright, (cells >> 3 & 7) | bright)
    return palette()[numbers.reshape(HEIGHT, WIDTH)]


def check_area(area: PlayArea, *, shrink: int) -> None:
    """Check that the area lies on the screen and divides into blocks.

    Raises:
        ValueError: it does not; the message names the field.
    """
    if shrink not in SHRINK_FACTORS:
        allowed = ", ".join(map(str, SHRINK_FACTORS))
        raise ValueError(f"shrink is {shrink}, allowed are {allowed}")
    for name, start, size, whole in (
        ("width", area.x, area.width, WIDTH),
        ("height", area.y, area.height, HEIGHT),
    ):
        if start < 0 or size < 1 or start + size > whole:
            raise ValueError(
                f"the play area's {name} is {size} from {start}, which leaves the screen of {WIDTH} x {HEIGHT}"
            )
        if start % shrink or size % shrink:
            raise ValueError(
                f"the play area's {name} is {size} from {start}, allowed are multiples of shrink, {shrink}"
            )


def _split(screen: bytes) -> tuple[Image, Image]:
    everything = np.frombuffer(screen, np.uint8)
    return everything[:_BITMAP_BYTES], everything[_BITMAP_BYTES:]


@lru_cache(maxsize=len(SHRINK_FACTORS))
def _bit_counts(shrink: int) -> NDArray[np.unsignedinteger]:
    """For each byte, the set bits of each run of `shrink` bits, left first, packed into one integer."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    counts = bits.reshape(256, 8 // shrink, shrink).sum(axis=2).astype(np.uint8)
    return np.ascontiguousarray(counts).view(f"u{8 // shrink}").reshape(256)


@lru_cache(maxsize=len(SHRINK_FACTORS))
def _blends(shrink: int) -> Image:
    """Grey of a block by attribute and number of set pixels, flat: attribute * (shrink^2 + 1) + count."""
    attribute = np.arange(256)
    bright = (attribute >> 3) & 8
    ink = luminance()[(attribute & 7) | bright][:, None]
    paper = luminance()[(attribute >> 3 & 7) | bright][:, None]
    share = np.linspace(0.0, 1.0, shrink * shrink + 1)[None, :]
    return np.rint(paper + (ink - paper) * share).astype(np.uint8).reshape(-1)
