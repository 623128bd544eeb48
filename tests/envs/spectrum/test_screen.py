"""Screens as images, against a slow reference that goes pixel by pixel."""

import numpy as np
import pytest

from oakemu_rl.envs.spectrum.screen import (
    Image,
    PlayArea,
    check_area,
    colour_image,
    grey_image,
    luminance,
    palette,
)


def random_screen(seed: int) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, 6912, dtype=np.uint8).tobytes()


def slow_colour_numbers(screen: bytes) -> Image:
    image = np.zeros((192, 256), np.uint8)
    for y in range(192):
        row = (y & 0xC0) << 5 | (y & 0x07) << 8 | (y & 0x38) << 2
        for x in range(256):
            bit = screen[row | x >> 3] >> (7 - (x & 7)) & 1
            attribute = screen[6144 + (y >> 3) * 32 + (x >> 3)]
            colour = attribute & 7 if bit else attribute >> 3 & 7
            image[y, x] = colour + (8 if attribute & 0x40 else 0)
    return image


@pytest.fixture(scope="module", params=[0, 1])
def screen(request: pytest.FixtureRequest) -> bytes:
    return random_screen(request.param)


def test_the_colour_image_equals_the_slow_reference(screen: bytes) -> None:
    np.testing.assert_array_equal(colour_image(screen), palette()[slow_colour_numbers(screen)])


@pytest.mark.parametrize("shrink", [1, 2, 4, 8])
def test_a_grey_pixel_is_the_rounded_mean_of_its_block(screen: bytes, shrink: int) -> None:
    greys = luminance()[slow_colour_numbers(screen)]
    blocks = greys.reshape(192 // shrink, shrink, 256 // shrink, shrink)
    expected = blocks.mean(axis=(1, 3))
    image = grey_image(screen, shrink=shrink)
    assert image.dtype == np.uint8
    assert image.shape == expected.shape
    np.testing.assert_allclose(image, expected, atol=0.5 + 1e-9)


def test_the_palette_holds_the_spectrums_colours() -> None:
    assert palette()[2].tolist() == [205, 0, 0]
    assert palette()[5].tolist() == [0, 205, 205]
    assert palette()[8 + 6].tolist() == [255, 255, 0]
    assert luminance()[8 + 5] == pytest.approx(0.701 * 255)


@pytest.mark.parametrize("shrink", [1, 2, 4, 8])
def test_a_play_area_is_cut_out_of_the_whole_image(screen: bytes, shrink: int) -> None:
    area = PlayArea(x=16, y=64, width=200, height=96)
    whole = grey_image(screen, shrink=shrink)
    part = grey_image(screen, shrink=shrink, area=area)
    rows = slice(64 // shrink, 160 // shrink)
    columns = slice(16 // shrink, 216 // shrink)
    np.testing.assert_array_equal(part, whole[rows, columns])
    assert part.base is None


@pytest.mark.parametrize("shrink", [1, 2, 4, 8])
def test_every_image_is_a_fresh_array(screen: bytes, shrink: int) -> None:
    first = grey_image(screen, shrink=shrink)
    expected = first.copy()
    first[:] = 0
    np.testing.assert_array_equal(grey_image(screen, shrink=shrink), expected)


@pytest.mark.parametrize(
    ("area", "shrink", "message"),
    [
        (PlayArea(), 3, "shrink is 3, allowed are 1, 2, 4, 8"),
        (PlayArea(x=8, width=256), 4, "width is 256 from 8, which leaves the screen"),
        (PlayArea(y=-4, height=8), 4, "height is 8 from -4, which leaves the screen"),
        (PlayArea(height=0), 4, "height is 0 from 0, which leaves the screen"),
        (PlayArea(width=250), 4, "width is 250 from 0, allowed are multiples of shrink, 4"),
    ],
)
def test_an_area_that_does_not_fit_is_refused(area: PlayArea, shrink: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_area(area, shrink=shrink)
