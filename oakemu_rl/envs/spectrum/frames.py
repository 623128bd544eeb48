"""Running whole video frames, without the work that no game asks for.

Two things take most of a frame's time in `zx`, and neither changes what a program can see:

- At each write to memory `zx` draws a picture of its own, up to where the beam is, and begins it
  anew when it counts off a frame. The frames are counted off here instead, so that a picture drawn
  once stays complete, and a write costs no more than a read.
- A processor that is halted runs the empty instruction until the next interrupt, 4 clock ticks at
  a time, over and over. Here the clock is set forward to the frame's end instead.

A state after a frame is the one that `zx` reaches by itself, bit for bit.
"""

from oakemu_rl.envs.spectrum.flip_flops import FlipFlops
from oakemu_rl.envs.spectrum.processor import AT_BREAKPOINT, END_OF_FRAME, Processor

TICKS_PER_FRAME = 69_888

_BREAKPOINT = 1
_HALT_TICKS = 4
_INTERRUPT_TICKS = 32
"""For so long from a frame's start on an interrupt is offered."""
_CONTENDED = range(0x4000, 0x8000)
"""Memory that the picture is read from meanwhile, where an instruction may take longer."""


class FrameRunner:
    """Runs one processor's frames.

    Where a frame ends in a HALT, a breakpoint is set at it: from then on `zx` comes back as soon as
    the program gets there. One behind it would stop each turn of a loop that begins there.
    """

    def __init__(self, cpu: Processor, flip_flops: FlipFlops) -> None:
        self._cpu = cpu
        self._flip_flops = flip_flops
        self._marked: set[int] = set()
        cpu.render_screen()

    def run_frame(self) -> None:
        """Run to the end of the frame."""
        cpu = self._cpu
        run = cpu._run
        while not (events := run()) & END_OF_FRAME:
            if events & AT_BREAKPOINT and self._wait_in_halt():
                break
        else:
            self._mark_halt()
        cpu.ticks_since_int -= TICKS_PER_FRAME
        cpu.set_events(END_OF_FRAME)

    def _wait_in_halt(self) -> bool:
        """Run two instructions; where they were a HALT and its empty one, go on to the frame's end.

        True if the frame has ended.
        """
        cpu = self._cpu
        if self._step():
            return True
        pc, ticks, refresh = cpu.pc, cpu.ticks_since_int, cpu.ir
        ended = self._step()
        # An interrupt is taken, or an instruction runs, unless the processor is halted. A program
        # that jumps to itself in 4 ticks repeats itself just as well.
        repeats = cpu.pc == pc and cpu.ticks_since_int == ticks + _HALT_TICKS
        # Behind EI an interrupt that is offered is not taken yet, but is by the next instruction.
        if not repeats or ticks <= _INTERRUPT_TICKS or pc in _CONTENDED:
            return ended
        times = -(-(TICKS_PER_FRAME - ticks) // _HALT_TICKS)
        cpu.ticks_since_int = ticks + times * _HALT_TICKS
        cpu.ir = _refreshed(refresh, times=times)
        return True

    def _step(self) -> bool:
        """Run one instruction; true if the frame has ended."""
        self._cpu.fetches_limit = 1
        return bool(self._cpu._run() & END_OF_FRAME)

    def _mark_halt(self) -> None:
        address = (self._cpu.pc - 1) & 0xFFFF
        if address not in self._marked and self._flip_flops.halted():
            self._marked.add(address)
            self._cpu.mark_addrs(address, 1, _BREAKPOINT)


def _refreshed(register: int, *, times: int) -> int:
    """IR after so many fetches: the low 7 bits count them."""
    return (register & ~0x7F) | ((register + times) & 0x7F)
