"""What the rest of the package asks of an emulator. Adapters live in `oakemu_rl.envs`."""

from collections.abc import Iterable
from typing import Protocol


class Emulator(Protocol):
    """One emulated machine. Instances share nothing, and all that they hand out is a copy.

    Addresses are in [0, 65536). Time advances in whole video frames alone.
    """

    @property
    def frames(self) -> int:
        """Video frames run since the machine was made; `load` does not change it."""

    def run_frames(self, count: int) -> None:
        """Run `count` video frames with the keys that are held."""

    def set_keys(self, keys: Iterable[str]) -> None:
        """Hold exactly these keys, by name, until the next call or `load`."""

    def read(self, address: int, length: int = 1) -> bytes:
        """A copy of `length` bytes of memory from `address`."""

    def write(self, address: int, data: bytes) -> None:
        """Put `data` into memory at `address`; the ROM is refused."""

    def jump(self, *, entry: int, stack: int) -> None:
        """Go on at address `entry` with the stack pointer at `stack`, interrupts off."""

    def screen(self) -> bytes:
        """A copy of the video memory."""

    def border(self) -> int:
        """The colour number of the border."""

    def save(self) -> bytes:
        """The whole state, held keys included: after `load`, all goes on as it would have."""

    def load(self, state: bytes) -> None:
        """Take up a state that `save` returned on this or another machine of the same kind."""

    def close(self) -> None:
        """Free the machine; any later call but `close` raises."""
