"""A ZX Spectrum 48K over the package `zx`, behind the `Emulator` protocol.

The package is driven through its state view, a block of bytes with registers and memory; what of it
is used is in `processor.py`. Frames are run by `frames.py`, the processor's hidden flip-flops are
found and set by `flip_flops.py`, so that saved states are exact. Screens as images live in
`screen.py`, keys in `keys.py`.
"""

from collections.abc import Iterable

from oakemu_rl.core.errors import EmulatorError
from oakemu_rl.envs.spectrum.flip_flops import FlipFlops, Hidden
from oakemu_rl.envs.spectrum.frames import FrameRunner
from oakemu_rl.envs.spectrum.keys import NO_KEYS, held_rows, port_answers
from oakemu_rl.envs.spectrum.processor import HEADER_BYTES, check_layout, new_processor, version

ROM_BYTES = 0x4000
MEMORY_BYTES = 0x10000
SCREEN_ADDRESS = 0x4000
SCREEN_BYTES = 6912
FRAMES_PER_SECOND = 50

_STATE_MARK = b"OAKZX48\x01"
_RAM_END = HEADER_BYTES + MEMORY_BYTES - ROM_BYTES
"""Where the RAM ends in a saved state's body, and the rows of held keys begin."""
_STATE_BYTES = len(_STATE_MARK) + _RAM_END + len(NO_KEYS) + 1


class SpectrumMachine:
    """A headless 48K machine, zeroed RAM, no keys held. See `Emulator` for the methods.

    The emulator's memory is freed with the machine; so that nothing can read it afterwards, every
    method returns copies. One machine is used by one thread at a time.

    Raises:
        MissingExtraError: the package `zx` is not installed.
        EmulatorError: `zx` does not behave as the adapter was tested against.
    """

    def __init__(self) -> None:
        self._cpu, self._answers = new_processor()
        self._view = self._cpu._get_state_view()
        check_layout(self._view[:], version=version())
        self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES] = bytes(
            MEMORY_BYTES - ROM_BYTES
        )
        self._flip_flops = FlipFlops(self._cpu, self._view)
        self._flip_flops.check()
        self._runner = FrameRunner(self._cpu, self._flip_flops)
        self._rows = NO_KEYS
        self._frames = 0
        self._closed = False

    @property
    def frames(self) -> int:
        """Video frames run since the machine was made."""
        return self._frames

    def run_frames(self, count: int) -> None:
        """Run `count` video frames, 69,888 clock ticks each."""
        self._require_open()
        for _ in range(count):
            self._runner.run_frame()
        self._frames += count

    def set_keys(self, keys: Iterable[str]) -> None:
        """Hold exactly these keys; names are in `KEY_NAMES`."""
        self._set_rows(held_rows(keys))

    def read(self, address: int, length: int = 1) -> bytes:
        """A copy of memory, ROM included."""
        self._require_open()
        _check_range(address, length, least=0)
        return bytes(self._view[HEADER_BYTES + address : HEADER_BYTES + address + length])

    def write(self, address: int, data: bytes) -> None:
        """Write to RAM, 0x4000 to 0xFFFF."""
        self._require_open()
        _check_range(address, len(data), least=ROM_BYTES)
        self._view[HEADER_BYTES + address : HEADER_BYTES + address + len(data)] = data

    def jump(self, *, entry: int, stack: int) -> None:
        """Go on at `entry`, interrupts off as after a reset, with a stack that grows down."""
        self._require_open()
        self._flip_flops.set(Hidden.RUNNING)
        self._cpu.iff1 = self._cpu.iff2 = 0
        self._cpu.sp = stack & 0xFFFF
        self._cpu.pc = entry & 0xFFFF

    def screen(self) -> bytes:
        """The 6,912 bytes of bitmap and attributes."""
        return self.read(SCREEN_ADDRESS, SCREEN_BYTES)

    def border(self) -> int:
        """The border's colour, 0 to 7."""
        self._require_open()
        return int(self._cpu.border_colour)

    def save(self) -> bytes:
        """The exact state: registers, RAM, held keys and the hidden flip-flops; 49,221 bytes."""
        self._require_open()
        hidden = self._flip_flops.find()
        header = self._view[:HEADER_BYTES]
        ram = self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES]
        return b"".join((_STATE_MARK, header, ram, self._rows, bytes((hidden,))))

    def load(self, state: bytes) -> None:
        """Take up a saved state; keys are those that were held when it was saved.

        Raises:
            EmulatorError: `state` is not one that `save` returned.
        """
        self._require_open()
        known = state.startswith(_STATE_MARK) and len(state) == _STATE_BYTES
        if not known or state[-1] not in set(Hidden):
            raise EmulatorError(
                f"this is no saved state of a Spectrum 48K: expected {_STATE_BYTES} bytes that "
                f"begin with {_STATE_MARK!r} and end with 0, 1 or 2, got {len(state)} bytes that "
                f"begin with {state[: len(_STATE_MARK)]!r} and end with {state[-1:]!r}"
            )
        body = memoryview(state)[len(_STATE_MARK) :]
        self._flip_flops.set(Hidden(body[-1]))
        self._view[:HEADER_BYTES] = body[:HEADER_BYTES]
        ram = body[HEADER_BYTES:_RAM_END]
        self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES] = ram
        self._set_rows(bytes(body[_RAM_END:-1]))

    def close(self) -> None:
        """Free the machine. The view goes first: it does not keep the memory that it shows."""
        if not self._closed:
            self._closed = True
            del self._runner, self._flip_flops
            del self._view
            del self._cpu

    def _require_open(self) -> None:
        if self._closed:
            raise EmulatorError("the machine was closed; make a new one")

    def _set_rows(self, rows: bytes) -> None:
        self._require_open()
        if rows != self._rows:
            self._rows = rows
            self._answers[:] = port_answers(rows)


def _check_range(address: int, length: int, *, least: int) -> None:
    if length < 0 or address < least or address + length > MEMORY_BYTES:
        raise ValueError(
            f"bytes {address:#06x} to {address + length - 1:#06x} are out of range; "
            f"allowed are {least:#06x} to 0xffff"
        )
