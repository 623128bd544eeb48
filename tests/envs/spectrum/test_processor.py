"""What `zx` must be like for the adapter to drive it."""

import sys

import pytest

from oakemu_rl.core.errors import EmulatorError, MissingExtraError
from oakemu_rl.envs.spectrum.machine import SpectrumMachine
from oakemu_rl.envs.spectrum.processor import check_layout


@pytest.mark.parametrize("view", [bytes(163_892), bytes.fromhex("f3af11ff") * 10])
def test_another_layout_of_the_state_names_the_version_and_the_way_out(view: bytes) -> None:
    with pytest.raises(EmulatorError, match=r"zx 9\.9 .*pip install 'zx>=0\.13\.15,<0\.14'"):
        check_layout(view, version="9.9")


def test_without_the_package_the_extra_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zx", None)
    with pytest.raises(MissingExtraError, match=r"'zx'.*pip install 'oakemu-rl\[spectrum\]'"):
        SpectrumMachine()
