"""The Spectrum's 6,912 screen bytes as images.

A bitmap of 192 rows of 32 bytes, stored in three thirds of eight pixel rows of eight character
rows, then 24 x 32 attributes: bits 0-2 ink, 3-5 paper, 6 bright. Flashing is not shown: an image is
a function of the screen bytes alone.
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


_WHOLE = PlayArea()


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

    A block of pixels never crosses a character cell, so its mean is a blend of the cell's ink and
    paper by the share of set bits: a table by attribute and count gives it.

    Shapes:
        returns [area.height / shrink, area.width / shrink] uint8, a fresh array.

    Raises:
        ValueError: `shrink` is not in `SHRINK_FACTORS`, or the area fails `check_area`.
    """
    seen = area or _WHOLE
    check_area(seen, shrink=shrink)
    image = _shrunk(screen, shrink) if shrink > 1 else _greys().take(_colour_numbers(screen))
    if seen == _WHOLE:
        return image
    rows = slice(seen.y // shrink, (seen.y + seen.height) // shrink)
    columns = slice(seen.x // shrink, (seen.x + seen.width) // shrink)
    return image[rows, columns].copy()


def colour_image(screen: bytes) -> Image:
    """The whole screen in colour, [192, 256, 3] uint8."""
    numbers = _colour_numbers(screen)
    image = np.empty((HEIGHT, WIDTH, 3), np.uint8)
    for channel in range(3):
        image[:, :, channel] = palette()[:, channel].take(numbers)
    return image


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
                f"the play area's {name} is {size} from {start}, "
                f"which leaves the screen of {WIDTH} x {HEIGHT}"
            )
        if start % shrink or size % shrink:
            raise ValueError(
                f"the play area's {name} is {size} from {start}, "
                f"allowed are multiples of shrink, {shrink}"
            )


def _split(screen: bytes) -> tuple[Image, Image]:
    everything = np.frombuffer(screen, np.uint8)
    return everything[:_BITMAP_BYTES], everything[_BITMAP_BYTES:]


def _colour_numbers(screen: bytes) -> Image:
    """The colour's number of each pixel, [192, 256]."""
    bitmap, attributes = _split(screen)
    bits = np.unpackbits(bitmap).reshape(3, 8, 8, 32, 8).transpose(0, 2, 1, 3, 4)
    ink, paper = (colours[attributes].reshape(3, 8, 1, 32, 1) for colours in _ink_and_paper())
    return np.where(bits, ink, paper).reshape(HEIGHT, WIDTH)


def _shrunk(screen: bytes, shrink: int) -> Image:
    """The whole screen in blocks: bits are counted per byte by a table and summed over rows.

    The counts of a byte's blocks lie in one integer, 16 bits each, and so do the attributes'
    offsets: a cell's row is one addition, and the sums are indices of the table of blends.
    """
    bitmap, attributes = _split(screen)
    counts = _bit_counts(shrink)
    groups = 8 // shrink
    sums = counts.take(bitmap).reshape(3, groups, shrink, 8, 32).sum(axis=2, dtype=counts.dtype)
    sums += _offsets(shrink).take(attributes).reshape(3, 1, 8, 32)
    blocks: Image = _blends(shrink).take(sums.view(np.uint16))
    rows = blocks.reshape(3, groups, 8, WIDTH // shrink).transpose(0, 2, 1, 3)
    return rows.reshape(HEIGHT // shrink, WIDTH // shrink)


@lru_cache(maxsize=len(SHRINK_FACTORS))
def _bit_counts(shrink: int) -> NDArray[np.unsignedinteger]:
    """For each byte, the set bits of each run of `shrink` bits, left first, 16 bits each."""
    bits = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1)
    return _packed(bits.reshape(256, 8 // shrink, shrink).sum(axis=2))


@lru_cache(maxsize=len(SHRINK_FACTORS))
def _offsets(shrink: int) -> NDArray[np.unsignedinteger]:
    """For each attribute, where its blends begin, once for each block across a cell."""
    begins = np.arange(256) * (shrink * shrink + 1)
    return _packed(np.repeat(begins[:, None], 8 // shrink, axis=1))


@lru_cache(maxsize=len(SHRINK_FACTORS))
def _blends(shrink: int) -> Image:
    """Grey by attribute and number of set pixels in a block, flat."""
    ink, paper = (luminance()[colours][:, None] for colours in _ink_and_paper())
    share = np.linspace(0.0, 1.0, shrink * shrink + 1)[None, :]
    return _rounded(paper + (ink - paper) * share).reshape(-1)


@lru_cache(maxsize=1)
def _ink_and_paper() -> tuple[Image, Image]:
    """The colour numbers of each attribute's ink and paper, [256] both."""
    attribute = np.arange(256, dtype=np.uint8)
    bright = (attribute >> 3) & 8
    ink, paper = attribute & 7 | bright, attribute >> 3 & 7 | bright
    return ink.astype(np.uint8), paper.astype(np.uint8)


@lru_cache(maxsize=1)
def _greys() -> Image:
    return _rounded(luminance())


def _rounded(numbers: NDArray[np.float64]) -> Image:
    return np.rint(numbers).astype(np.uint8)


def _packed(numbers: NDArray[np.integer]) -> NDArray[np.unsignedinteger]:
    """Rows of 1, 2 or 4 numbers as one unsigned integer each."""
    rows = np.ascontiguousarray(numbers, np.uint16)
    return rows.view(f"u{2 * rows.shape[1]}").reshape(-1)
