"""A small game that counts: what its values are can be told frame by frame."""

from collections.abc import Callable
from pathlib import Path

import pytest

# Each frame counts itself at 9000h, counts at 9001h the frames in which O is held, copies the
# port's answer to 9002h, and adds the seed byte at 9003h to the byte at 9004h.
COUNTING_PROGRAM = bytes.fromhex(
    "FD213A5C"  # LD IY,5C3Ah: the ROM's interrupt handler needs it
    "ED56"  # IM 1
    "FB"  # loop: EI
    "76"  # HALT
    "210090"  # LD HL,9000h
    "34"  # INC (HL)
    "3EDF"  # LD A,0DFh
    "DBFE"  # IN A,(0FEh)
    "320290"  # LD (9002h),A
    "E602"  # AND 2
    "2004"  # JR NZ,on
    "210190"  # LD HL,9001h
    "34"  # INC (HL)
    "3A0390"  # on: LD A,(9003h)
    "210490"  # LD HL,9004h
    "86"  # ADD A,(HL)
    "77"  # LD (HL),A
    "18DE"  # JR loop
)

COUNTING_GAME = """
title = "Counting"

[program]
file = "counting.bin"
address = 0x8000
entry = 0x8000
stack = 0xFD00

[values]
frame = { address = 0x9000 }
held = { address = 0x9001 }
port = { address = 0x9002 }
seed = { address = 0x9003 }
walk = { address = 0x9004 }
wide = { address = 0x9003, type = "u16" }

[actions]
noop = []
left = ["O"]

[reset]
start_up = [{ frames = 3 }]
seeds = ["seed"]

[timing]
frame_skip = 4

[episode]
reward = "frame - previous.frame"
terminated = "frame == 13"

[observation]
kind = "memory"
values = ["frame", "held", "wide"]
"""

WriteGame = Callable[..., Path]


@pytest.fixture
def write_game(tmp_path: Path) -> WriteGame:
    """Writes the counting game, some of its text replaced, and returns the path of its file."""

    def write(*replacements: tuple[str, str], program: bytes = COUNTING_PROGRAM) -> Path:
        text = COUNTING_GAME
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "counting.bin").write_bytes(program)
        path = tmp_path / "counting.toml"
        path.write_text(text)
        return path

    return write
