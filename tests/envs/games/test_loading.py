"""Game files: what is read, and how each fault is told."""

import re
from pathlib import Path

import pytest

from oakemu_rl.core.errors import GameError
from oakemu_rl.envs.games.definition import MemoryValue
from oakemu_rl.envs.games.loading import load_game


def test_a_file_is_read_into_a_definition(write_game) -> None:
    path = write_game()
    game = load_game(path)
    assert game.name == "counting"
    assert game.settings.title == "Counting"
    assert tuple(game.settings.actions) == ("noop", "left")
    assert game.settings.values["wide"] == MemoryValue(address=0x9003, type="u16")
    assert game.program == (path.parent / "counting.bin").read_bytes()
    assert game.reward.names == {"frame"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("frame_skip = 4", "frame_skips = 4", "timing.frame_skips: unknown key"),
        ("frame_skip = 4", 'frame_skip = "4"', 'timing.frame_skip: got "4" (a string)'),
        ("frame_skip = 4", "frame_skip = 0", "timing.frame_skip: got 0, allowed is"),
        (
            "frame_skip = 4",
            "frame_skip = 4\nhold_frames = 5",
            "timing.hold_frames: got 5, allowed is at most timing.frame_skip, 4",
        ),
        ('["O"]', '["o"]', "actions.left: no key is called 'o'; did you mean 'O'?"),
        (
            "{ frames = 3 }",
            '{ frames = 3, keys = ["SPCE"] }',
            "reset.start_up[0].keys: no key is called 'SPCE'; did you mean 'SPACE'?",
        ),
        ('["seed"]', '["sed"]', "reset.seeds: no value is called 'sed'; did you mean 'seed'?"),
        ("0x9003 }", "0x0003 }", "reset.seeds: got seed, allowed is values in RAM"),
        ("0x9003, type", "0xFFFF, type", "values.wide.address: got 65535, allowed is at most"),
        ('"u16"', '"i16"', 'values.wide.type: got "i16"'),
        ("frame = {", "min = {", "values: got min, allowed is letters"),
        ('noop = []\nleft = ["O"]', "", "actions: got none, allowed is at least one"),
        ("entry = 0x8000", "entry = 0x9000", "program.entry: got 36864, allowed is an address in"),
        ("address = 0x8000", "address = 0x3000", "program.address: got 12288, allowed is"),
        ("frame == 13", "fram == 13", "episode.terminated: no value is called 'fram'"),
        ("frame - prev", "frame / prev", "episode.reward: 'frame / previous.frame' in"),
        ('kind = "memory"', 'kind = "screen"', "observation.values: got ['frame', 'held'"),
        ('["frame", "held", "wide"]', "[]", "observation.values: got [], allowed is at least one"),
        (
            'kind = "memory"',
            'kind = "both"\nplay_area = { x = 2, width = 100 }',
            "observation.play_area: the play area's width is 100 from 2, allowed are multiples",
        ),
        ('kind = "memory"', 'kind = "memory"\nshrink = 3', "observation.shrink: got 3"),
        ('"counting.bin"', '"absent.bin"', "program.file: "),
    ],
)
def test_a_fault_is_told_by_file_path_value_and_what_is_allowed(
    write_game, old: str, new: str, message: str
) -> None:
    path = write_game((old, new))
    with pytest.raises(GameError, match=re.escape(f"{path}: {message}")):
        load_game(path)


@pytest.mark.parametrize("program", [b"", bytes(0x8001)])
def test_a_program_must_fit_into_memory(write_game, program: bytes) -> None:
    path = write_game(program=program)
    with pytest.raises(GameError, match=rf"got {len(program)} bytes, allowed is 1 to 32768 bytes"):
        load_game(path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(GameError, match=r"absent\.toml: there is no such file"):
        load_game(tmp_path / "absent.toml")
