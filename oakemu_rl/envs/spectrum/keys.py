"""The Spectrum's keyboard: names of the 40 keys, and what a port answers while some are held."""

from collections.abc import Iterable
from functools import lru_cache

# A 0 in bit 8 + i of the port's address selects row i; its keys are bits 0 to 4 of the answer.
KEY_ROWS: tuple[tuple[str, ...], ...] = (
    ("CAPS_SHIFT", "Z", "X", "C", "V"),
    ("A", "S", "D", "F", "G"),
    ("Q", "W", "E", "R", "T"),
    ("1", "2", "3", "4", "5"),
    ("0", "9", "8", "7", "6"),
    ("P", "O", "I", "U", "Y"),
    ("ENTER", "L", "K", "J", "H"),
    ("SPACE", "SYMBOL_SHIFT", "M", "N", "B"),
)
KEY_NAMES: tuple[str, ...] = tuple(name for row in KEY_ROWS for name in row)

NO_KEYS = b"\xff" * 8
_NO_KEY_ON_ANY_ROW = 0xBF  # bit 6 is the tape's input, low in silence
_PLACES = {name: (row, bit) for row, keys in enumerate(KEY_ROWS) for bit, name in enumerate(keys)}


def held_rows(keys: Iterable[str]) -> bytes:
    """The eight rows' bytes while `keys` are held: a held key is a 0 bit.

    Raises:
        ValueError: a name is not in `KEY_NAMES`.
    """
    rows = bytearray(NO_KEYS)
    for key in keys:
        if key not in _PLACES:
            raise ValueError(f"no key is called {key!r}; the keys are {', '.join(KEY_NAMES)}")
        row, bit = _PLACES[key]
        rows[row] &= ~(1 << bit) & 0xFF
    return bytes(rows)


@lru_cache(maxsize=256)
def port_answers(rows: bytes) -> tuple[int, ...]:
    """What the keyboard's port answers to each of the 256 high bytes of its address.

    Rows whose address bit is 0 are joined: a key shows a 0 when any selected row holds it.
    """
    answers = []
    for selection in range(256):
        answer = _NO_KEY_ON_ANY_ROW
        for row, held in enumerate(rows):
            if not selection >> row & 1:
                answer &= held
        answers.append(answer)
    return tuple(answers)
