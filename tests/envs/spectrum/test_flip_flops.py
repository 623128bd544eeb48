"""The hidden flip-flops: found where they were set, and an emulator without them refused."""

import pytest

from oakemu_rl.core.errors import EmulatorError
from oakemu_rl.envs.spectrum.flip_flops import FlipFlops, Hidden
from oakemu_rl.envs.spectrum.processor import new_processor

HALT, EI = 0x76, 0xFB


class ForgetsHalt(FlipFlops):
    """An emulator in which no instruction ever halts the processor."""

    def _execute(self, opcode: int) -> bool:
        return super()._execute(0 if opcode == HALT else opcode)


class ForgetsEI(FlipFlops):
    """An emulator that takes interrupts right after EI."""

    def _execute(self, opcode: int) -> bool:
        return super()._execute(0 if opcode == EI else opcode)


@pytest.mark.parametrize("kind", [ForgetsHalt, ForgetsEI])
def test_an_emulator_that_keeps_halt_or_ei_otherwise_is_refused(kind: type[FlipFlops]) -> None:
    cpu, _ = new_processor()
    with pytest.raises(EmulatorError, match=r"does not keep HALT and EI as version 0\.13\.15"):
        kind(cpu, cpu._get_state_view()).check()


def test_the_check_leaves_everything_as_it_was() -> None:
    cpu, _ = new_processor()
    view = cpu._get_state_view()
    before = bytes(view)
    FlipFlops(cpu, view).check()
    assert bytes(view) == before


def test_a_byte_that_looks_like_a_halt_is_none() -> None:
    cpu, _ = new_processor()
    view = cpu._get_state_view()
    flip_flops = FlipFlops(cpu, view)
    cpu.pc = 0x8001
    view[52 + 0x8000] = HALT
    assert not flip_flops.halted()
    flip_flops.set(Hidden.HALTED)
    assert flip_flops.halted()
