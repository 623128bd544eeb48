"""A ZX Spectrum 48K over the package `zx`, behind the `Emulator` protocol.

The package is driven through its state view, a block of bytes with registers and memory. Two
flip-flops of the processor are not in that view: that it is halted, and that the instruction after
EI is due, before which no interrupt is taken. Both are found and set here by running one
instruction, so that saved states are exact. Screens as images live in `screen.py`, keys in
`keys.py`.
"""

from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Protocol, cast

from oakemu_rl.core.errors import EmulatorError, MissingExtraError
from oakemu_rl.envs.spectrum.keys import NO_KEYS, held_rows, port_answers

HEADER_BYTES = 52
"""Registers and timing, ahead of the memory in the state view."""
ROM_BYTES = 0x4000
MEMORY_BYTES = 0x10000
SCREEN_ADDRESS = 0x4000
SCREEN_BYTES = 6912
FRAMES_PER_SECOND = 50

_TESTED = "zx>=0.13.15,<0.14"
_VIEW_BYTES = 163_892
_ROM_START = bytes((0xF3, 0xAF, 0x11, 0xFF))
_END_OF_FRAME = 2
_HALT, _EI, _NOP = 0x76, 0xFB, 0x00
_STATE_MARK = b"OAKZX48\x01"
_RAM_END = HEADER_BYTES + MEMORY_BYTES - ROM_BYTES
"""Where the RAM ends in a saved state's body, and the rows of held keys begin."""
_STATE_BYTES = len(_STATE_MARK) + _RAM_END + len(NO_KEYS) + 1
_RUNNING, _HALTED, _AFTER_EI = 0, 1, 2
_SCRATCH = 0xFFF0  # the last 16 bytes: uncontended, and put back after each use


class _Processor(Protocol):
    """The part of `zx.Spectrum` that is used."""

    pc: int
    sp: int
    iff1: int
    iff2: int
    int_mode: int
    iregp_kind: str
    ticks_since_int: int
    fetches_limit: int
    suppress_interrupts: bool
    border_colour: int

    def _get_state_view(self) -> memoryview: ...
    def _run(self) -> int: ...
    def on_handle_active_int(self) -> bool: ...
    def set_on_input_callback(self, callback: Callable[[int], int]) -> object: ...


class SpectrumMachine:
    """A headless 48K machine, zeroed RAM, no keys held. See `Emulator` for the methods.

    The emulator's memory is freed with the machine; so that nothing can read it afterwards, every
    method returns copies. One machine is used by one thread at a time.

    Raises:
        MissingExtraError: the package `zx` is not installed.
        EmulatorError: `zx` does not behave as the adapter was tested against.
    """

    def __init__(self) -> None:
        self._cpu, self._answers = _new_processor()
        self._view = self._cpu._get_state_view()
        check_layout(self._view[:], version=_version())
        self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES] = bytes(
            MEMORY_BYTES - ROM_BYTES
        )
        self._rows = NO_KEYS
        self._frames = 0
        self._closed = False
        self._check_hidden_state()

    @property
    def frames(self) -> int:
        """Video frames run since the machine was made."""
        return self._frames

    def run_frames(self, count: int) -> None:
        """Run `count` video frames, 69,888 clock ticks each."""
        self._require_open()
        run = self._cpu._run
        for _ in range(count):
            while not run() & _END_OF_FRAME:
                pass
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
        self._set_hidden_state(_RUNNING)
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
        hidden = self._hidden_state()
        header = self._view[:HEADER_BYTES]
        ram = self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES]
        return b"".join((_STATE_MARK, header, ram, self._rows, bytes((hidden,))))

    def load(self, state: bytes) -> None:
        """Take up a saved state; keys are those that were held when it was saved.

        Raises:
            EmulatorError: `state` is not one that `save` returned.
        """
        self._require_open()
        if len(state) != _STATE_BYTES or not state.startswith(_STATE_MARK):
            raise EmulatorError(
                f"this is no saved state of a Spectrum 48K: expected {_STATE_BYTES} bytes that "
                f"begin with {_STATE_MARK!r}, got {len(state)} bytes that begin with "
                f"{state[: len(_STATE_MARK)]!r}"
            )
        body = memoryview(state)[len(_STATE_MARK) :]
        self._set_hidden_state(body[-1])
        self._view[:HEADER_BYTES] = body[:HEADER_BYTES]
        ram = body[HEADER_BYTES:_RAM_END]
        self._view[HEADER_BYTES + ROM_BYTES : HEADER_BYTES + MEMORY_BYTES] = ram
        self._set_rows(bytes(body[_RAM_END:-1]))

    def close(self) -> None:
        """Free the machine. The view goes first: it does not keep the memory that it shows."""
        if not self._closed:
            self._closed = True
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

    def _hidden_state(self) -> int:
        """Which flip-flop is set, leaving the machine as it was.

        Only an instruction that ends in the byte HALT or EI can have set one, or a prefix whose
        instruction has not run yet, after which no interrupt is taken either.
        """
        self._require_open()
        if self._cpu.iregp_kind != "hl":
            return _AFTER_EI
        last = self._view[HEADER_BYTES + ((self._cpu.pc - 1) & 0xFFFF)]
        if last not in (_HALT, _EI):
            return _RUNNING
        header, scratch = bytes(self._view[:HEADER_BYTES]), self.read(_SCRATCH, 16)
        if last == _HALT:
            found = _RUNNING if self._execute(_NOP) else _HALTED
        else:
            found = _RUNNING if self._interrupt() else _AFTER_EI
        self._view[:HEADER_BYTES] = header
        self.write(_SCRATCH, scratch)
        return found

    def _set_hidden_state(self, wanted: int) -> None:
        """Set the flip-flops; registers and memory keep their values."""
        header, scratch = bytes(self._view[:HEADER_BYTES]), self.read(_SCRATCH, 16)
        self._execute(_NOP)  # any instruction ends the state after EI
        self._interrupt()  # an interrupt ends a HALT
        if wanted == _HALTED:
            self._execute(_HALT)
        elif wanted == _AFTER_EI:
            self._execute(_EI)
        self._view[:HEADER_BYTES] = header
        self.write(_SCRATCH, scratch)

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

    def _check_hidden_state(self) -> None:
        """Set each hidden state where it can be seen, and find it again."""
        for wanted, opcode in ((_HALTED, _HALT), (_AFTER_EI, _EI), (_RUNNING, _NOP)):
            self._set_hidden_state(wanted)
            self.write(_SCRATCH - 1, bytes((opcode,)))
            self._cpu.pc = _SCRATCH
            found = self._hidden_state()
            if found != wanted:
                raise EmulatorError(
                    f"zx {_version()} does not keep HALT and EI as version 0.13.15 does "
                    f"(set {wanted}, found {found}); install a tested version: "
                    f"pip install '{_TESTED}'"
                )
        self.write(_SCRATCH - 1, b"\x00")
        self._set_hidden_state(_RUNNING)
        self._cpu.pc = 0


def check_layout(view: memoryview | bytes, *, version: str) -> None:
    """Check the state view's size and the first bytes of its ROM.

    Raises:
        EmulatorError: they differ from those the adapter was written for.
    """
    rom = bytes(view[HEADER_BYTES : HEADER_BYTES + len(_ROM_START)])
    if len(view) != _VIEW_BYTES or rom != _ROM_START:
        raise EmulatorError(
            f"zx {version} lays out its state in another way than version 0.13.15: expected "
            f"{_VIEW_BYTES} bytes with a ROM that begins {_ROM_START.hex()}, got {len(view)} bytes "
            f"with one that begins {rom.hex()}; "
            f"install a tested version: pip install '{_TESTED}'"
        )


def _new_processor() -> tuple[_Processor, list[int]]:
    """A `zx` machine and the list of keyboard answers that its port reads come from."""
    try:
        import zx
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            package="zx", extra="spectrum", purpose="the ZX Spectrum"
        ) from error
    cpu = cast(_Processor, zx.Spectrum(headless=True))
    answers = list(port_answers(NO_KEYS))
    # The closure must not reach the machine: zx holds it without telling the garbage collector.
    cpu.set_on_input_callback(lambda address: 0xFF if address & 1 else answers[address >> 8])
    return cpu, answers


def _version() -> str:
    return metadata.version("zx")


def _check_range(address: int, length: int, *, least: int) -> None:
    if length < 0 or address < least or address + length > MEMORY_BYTES:
        raise ValueError(
            f"bytes {address:#06x} to {address + length - 1:#06x} are out of range; "
            f"allowed are {least:#06x} to 0xffff"
        )
