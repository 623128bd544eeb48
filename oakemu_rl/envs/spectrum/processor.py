"""The package `zx` as it is driven here: its state view, and the methods that are used.

All of it is private to `zx`, so its layout is checked whenever a machine is made. What the adapter
makes of it is in `machine.py`.
"""

from collections.abc import Callable
from importlib import metadata
from typing import Protocol, cast

from oakemu_rl.core.errors import EmulatorError, MissingExtraError
from oakemu_rl.envs.spectrum.keys import NO_KEYS, port_answers

HEADER_BYTES = 52
"""Registers and timing, ahead of the memory in the state view."""
END_OF_FRAME = 2
AT_BREAKPOINT = 16
TESTED = "zx>=0.13.15,<0.14"

_VIEW_BYTES = 163_892
_ROM_START = bytes((0xF3, 0xAF, 0x11, 0xFF))


class Processor(Protocol):
    """The part of `zx.Spectrum` that is used."""

    pc: int
    sp: int
    iff1: int
    iff2: int
    int_mode: int
    ir: int
    iregp_kind: str
    ticks_since_int: int
    fetches_limit: int
    suppress_interrupts: bool
    border_colour: int

    def _get_state_view(self) -> memoryview: ...
    def _run(self) -> int: ...
    def render_screen(self) -> object: ...
    def set_events(self, events: int) -> object: ...
    def mark_addrs(self, address: int, size: int, marks: int) -> object: ...
    def on_handle_active_int(self) -> bool: ...
    def set_on_input_callback(self, callback: Callable[[int], int]) -> object: ...


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
            f"install a tested version: pip install '{TESTED}'"
        )


def new_processor() -> tuple[Processor, list[int]]:
    """A `zx` machine and the list of keyboard answers that its port reads come from."""
    try:
        import zx
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            package="zx", extra="spectrum", purpose="the ZX Spectrum"
        ) from error
    cpu = cast(Processor, zx.Spectrum(headless=True))
    answers = list(port_answers(NO_KEYS))
    # The closure must not reach the machine: zx holds it without telling the garbage collector.
    cpu.set_on_input_callback(lambda address: 0xFF if address & 1 else answers[address >> 8])
    return cpu, answers


def version() -> str:
    return metadata.version("zx")
