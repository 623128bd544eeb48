"""Frames run the quick way end in the states that zx reaches by itself, bit for bit."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest

from oakemu_rl.envs.games.registry import find_game
from oakemu_rl.envs.spectrum.flip_flops import FlipFlops
from oakemu_rl.envs.spectrum.frames import TICKS_PER_FRAME, FrameRunner
from oakemu_rl.envs.spectrum.processor import END_OF_FRAME, HEADER_BYTES, Processor, new_processor

ENTRY, STACK, VECTORS, HANDLER = 0x8000, 0xFD00, 0xFE00, 0xFDFD
BEGIN = bytes.fromhex("F3 31 00 FD 3E FE ED 47 ED 5E")
"""DI; LD SP,FD00h; I = FEh; IM 2"""
RET, EI_RETI, EI_HALT_RET = (
    bytes.fromhex("C9"),
    bytes.fromhex("FB ED 4D"),
    bytes.fromhex("FB 76 C9"),
)

PROGRAMS = {
    "waits with interrupts on between": (RET, "FB 76 21 00 40 34 18 F8"),
    "waits, and works on screen and on memory": (RET, "FB 76 06 C8 21 00 40 34 23 10 FC 18 F3"),
    "waits in the interrupt's own shadow": (EI_RETI, "FB 76 18 FD"),
    "waits twice in a frame, the first in its interrupt": (RET, "FB 76 00 00 FB 76 18 F8"),
    "halts again while the interrupt is still offered": (EI_HALT_RET, "FB 76 18 FC"),
    "has the refresh register's highest bit set": (RET, "3E 9F ED 4F FB 76 18 FC"),
    "halts for ever with interrupts off": (RET, "F3 76 18 FE"),
    "halts once, then goes in circles": (EI_RETI, "FB 76 18 FE"),
    "halts behind a prefix": (RET, "FB DD 76 18 FB"),
    "jumps to itself in 4 ticks": (EI_RETI, "21 0D 80 E9 FB 76"),
    "halts, and waits in an empty loop right behind": (EI_RETI, "FB 76 10 FE 18 FC"),
    "never halts": (RET, "21 00 40 34 2C 18 FC"),
    "keeps a picture of the refresh register": (RET, "FB 76 ED 5F 32 00 90 18 F7"),
}
CONTENDED = bytes.fromhex("FB 76 34 C3 00 60")


def processor(
    program: bytes, handler: bytes, *, entry: int = ENTRY
) -> tuple[Processor, memoryview]:
    cpu, _ = new_processor()
    view = cpu._get_state_view()

    def write(address: int, data: bytes) -> None:
        view[HEADER_BYTES + address : HEADER_BYTES + address + len(data)] = data

    write(VECTORS, bytes((HANDLER >> 8,)) * 257)
    write(HANDLER, handler)
    write(
        ENTRY, BEGIN + program if entry == ENTRY else BEGIN + b"\xc3" + entry.to_bytes(2, "little")
    )
    if entry != ENTRY:
        write(entry, program)
    cpu.pc = ENTRY
    return cpu, view


def plain_frame(cpu: Processor) -> None:
    while not cpu._run() & END_OF_FRAME:
        pass


def counted_off(view: memoryview) -> bytes:
    """The whole state, with the clock as it is once zx has counted off the frame that ended."""
    state = bytearray(view)
    ticks = int.from_bytes(state[32:36], "little") % TICKS_PER_FRAME
    state[32:36] = ticks.to_bytes(4, "little")
    return bytes(state)


def assert_equal_frames(make: Callable[[], tuple[Processor, memoryview]], *, frames: int) -> None:
    plain, plain_view = make()
    quick, quick_view = make()
    runner = FrameRunner(quick, FlipFlops(quick, quick_view))
    for frame in range(frames):
        plain_frame(plain)
        runner.run_frame()
        assert bytes(quick_view) == counted_off(plain_view), f"frame {frame}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_each_frame_as_it_does_in_zx_alone(name: str) -> None:
    handler, code = PROGRAMS[name]
    assert_equal_frames(lambda: processor(bytes.fromhex(code), handler), frames=60)


def test_a_halt_in_memory_that_the_picture_is_read_from_takes_as_long_as_in_zx_alone() -> None:
    assert_equal_frames(lambda: processor(CONTENDED, RET, entry=0x6000), frames=60)


def test_a_jump_to_itself_in_the_shadow_of_ei_does_not_miss_the_interrupt_still_offered() -> None:
    # A HALT is put before the handler, EI and the jump (HL) to itself, and jumped to.
    code = bytes.fromhex("3E 76 32 FC FD 21 FE FD FB C3 FC FD")
    assert_equal_frames(lambda: processor(code, bytes.fromhex("FB E9")), frames=60)


@pytest.mark.parametrize("seed", range(60))
def test_any_program_ends_each_frame_as_it_does_in_zx_alone(seed: int) -> None:
    generator = np.random.default_rng(seed)
    opcodes = generator.integers(0, 256, 0x6000, dtype=np.uint8)
    opcodes[generator.random(opcodes.size) < generator.choice([0.0, 0.3])] = 0xFB
    opcodes[generator.random(opcodes.size) < generator.choice([0.0, 0.001, 0.05])] = 0x76
    handler = (RET, EI_RETI)[seed % 2]
    assert_equal_frames(lambda: processor(opcodes.tobytes(), handler), frames=12)


def test_a_game_that_is_played_ends_each_frame_as_it_does_in_zx_alone() -> None:
    game = find_game("acorns")
    plain, plain_view = processor(b"", RET)
    quick, quick_view = processor(b"", RET)
    runner = FrameRunner(quick, FlipFlops(quick, quick_view))
    keys = [0xFF]
    for cpu, view in ((plain, plain_view), (quick, quick_view)):
        view[HEADER_BYTES + ENTRY : HEADER_BYTES + ENTRY + len(game.program)] = game.program
        cpu.set_on_input_callback(lambda address: keys[0])
    for frame, held in enumerate(np.random.default_rng(0).integers(0, 8, 600).tolist()):
        keys[0] = 0xF8 | held
        plain_frame(plain)
        runner.run_frame()
        assert bytes(quick_view) == counted_off(plain_view), f"frame {frame}"


class CountsRuns:
    """A processor that adds up the clock ticks which zx really runs, and how often it is called."""

    def __init__(self, cpu: Processor) -> None:
        self.__dict__.update(cpu=cpu, ticks_run=0, runs=0)

    def _run(self) -> int:
        before = self.cpu.ticks_since_int
        events: int = self.cpu._run()
        self.__dict__["runs"] += 1
        self.__dict__["ticks_run"] += self.cpu.ticks_since_int - before
        return events

    def __getattr__(self, name: str) -> object:
        return getattr(self.__dict__["cpu"], name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.cpu, name, value)


def test_waiting_in_a_halt_is_not_run() -> None:
    cpu, view = processor(bytes.fromhex("FB 76 18 FC"), RET)
    counting = CountsRuns(cpu)
    runner = FrameRunner(cast(Processor, counting), FlipFlops(cpu, view))
    runner.run_frame()
    assert counting.ticks_run > 0.99 * TICKS_PER_FRAME
    for _ in range(10):
        runner.run_frame()
    assert counting.ticks_run < 1.1 * TICKS_PER_FRAME


def test_a_loop_right_behind_a_halt_runs_without_a_stop() -> None:
    cpu, view = processor(bytes.fromhex("FB 76 10 FE 18 FC"), EI_RETI)
    counting = CountsRuns(cpu)
    runner = FrameRunner(cast(Processor, counting), FlipFlops(cpu, view))
    for _ in range(10):
        runner.run_frame()
    before = counting.runs
    runner.run_frame()
    assert counting.runs - before < 5


def test_no_picture_of_zx_is_drawn_after_the_first() -> None:
    made, view = processor(bytes.fromhex("21 00 40 34 2C 18 FC"), RET)
    cpu: Any = made
    runner = FrameRunner(cpu, FlipFlops(cpu, view))
    before = bytes(cpu.get_frame_pixels())
    for _ in range(5):
        runner.run_frame()
    assert bytes(cpu.get_frame_pixels()) == before
    cpu.ticks_since_int = TICKS_PER_FRAME  # zx counts this frame off, and draws
    plain_frame(cpu)
    assert bytes(cpu.get_frame_pixels()) != before
