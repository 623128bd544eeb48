"""Two flip-flops of the processor that `zx` keeps out of its state view.

They tell that the processor is halted, and that the instruction after EI is due, before which no
interrupt is taken. Both are found and set by running one instruction in scratch memory, which is
put back, so that nothing else changes.
"""

from enum import IntEnum

from oakemu_rl.core.errors import EmulatorError
from oakemu_rl.envs.spectrum.processor import HEADER_BYTES, TESTED, Processor, version

_HALT, _EI, _NOP = 0x76, 0xFB, 0x00
_SCRATCH = 0xFFF0
_SCRATCH_BYTES = slice(HEADER_BYTES + _SCRATCH, HEADER_BYTES + _SCRATCH + 16)
"""The last 16 bytes of memory, where no picture delays an instruction."""


class Hidden(IntEnum):
    """Which flip-flop is set; the numbers are part of a saved state."""

    RUNNING = 0
    HALTED = 1
    AFTER_EI = 2


class FlipFlops:
    """Finds and sets the hidden flip-flops of one processor."""

    def __init__(self, cpu: Processor, view: memoryview) -> None:
        self._cpu = cpu
        self._view = view

    def find(self) -> Hidden:
        """Which one is set.

        Only an instruction that ends in the byte HALT or EI can have set one, or a prefix whose
        instruction has not run yet, after which no interrupt is taken either.
        """
        if self._cpu.iregp_kind != "hl":
            return Hidden.AFTER_EI
        last = self._view[HEADER_BYTES + ((self._cpu.pc - 1) & 0xFFFF)]
        if last not in (_HALT, _EI):
            return Hidden.RUNNING
        header, scratch = bytes(self._view[:HEADER_BYTES]), bytes(self._view[_SCRATCH_BYTES])
        if last == _HALT:
            found = Hidden.RUNNING if self._execute(_NOP) else Hidden.HALTED
        else:
            found = Hidden.RUNNING if self._interrupt() else Hidden.AFTER_EI
        self._put_back(header, scratch)
        return found

    def halted(self) -> bool:
        """Whether the processor is halted."""
        return self.find() is Hidden.HALTED

    def set(self, wanted: Hidden) -> None:
        """Set that one alone; registers and memory keep their values."""
        header, scratch = bytes(self._view[:HEADER_BYTES]), bytes(self._view[_SCRATCH_BYTES])
        self._execute(_NOP)  # any instruction ends the state after EI
        self._interrupt()  # an interrupt ends a HALT
        if wanted is Hidden.HALTED:
            self._execute(_HALT)
        elif wanted is Hidden.AFTER_EI:
            self._execute(_EI)
        self._put_back(header, scratch)

    def check(self) -> None:
        """Set each where it can be seen, and find it again; leaves the processor running.

        Raises:
            EmulatorError: another one was found.
        """
        header, scratch = bytes(self._view[:HEADER_BYTES]), bytes(self._view[_SCRATCH_BYTES])
        for wanted, opcode in (
            (Hidden.HALTED, _HALT),
            (Hidden.AFTER_EI, _EI),
            (Hidden.RUNNING, _NOP),
        ):
            self.set(wanted)
            self._view[HEADER_BYTES + _SCRATCH] = opcode
            self._cpu.pc = _SCRATCH + 1
            found = self.find()
            if found is not wanted:
                raise EmulatorError(
                    f"zx {version()} does not keep HALT and EI as version 0.13.15 does "
                    f"(set {wanted.name}, found {found.name}); install a tested version: "
                    f"pip install '{TESTED}'"
                )
        self._put_back(header, scratch)

    def _put_back(self, header: bytes, scratch: bytes) -> None:
        self._view[:HEADER_BYTES] = header
        self._view[_SCRATCH_BYTES] = scratch

    def _execute(self, opcode: int) -> bool:
        """Run one opcode in the scratch bytes; false where a halted processor did not fetch it."""
        cpu = self._cpu
        self._view[HEADER_BYTES + _SCRATCH] = opcode
        cpu.pc = _SCRATCH
        cpu.iregp_kind = "hl"
        cpu.suppress_interrupts = True
        cpu.ticks_since_int = 1000  # far from the frame's end and from the interrupt
        cpu.fetches_limit = 1
        cpu._run()
        return cpu.pc != _SCRATCH

    def _interrupt(self) -> bool:
        """Ask for an interrupt; false where the state after EI refused it."""
        cpu = self._cpu
        cpu.iff1 = 1
        cpu.int_mode = 1
        cpu.ticks_since_int = 0
        cpu.sp = _SCRATCH + 8
        return bool(cpu.on_handle_active_int())
