"""The Spectrum adapter: exact states, keys, independence, and its checks."""

import hashlib
from collections.abc import Callable

import numpy as np
import psutil
import pytest

from oakemu_rl.core.emulator import Emulator
from oakemu_rl.core.errors import EmulatorError
from oakemu_rl.envs.spectrum.machine import SpectrumMachine

ENTRY, STACK = 0x8000, 0xFD00
HALT, EI, DI = 0x76, 0xFB, 0xF3
RUNNING, HALTED, AFTER_EI = 0, 1, 2

# loop: LD A,0DFh; IN A,(0FEh); LD (9000h),A; INC (9001h) through HL; JR loop
READ_KEYS = bytes.fromhex("F3 3E DF DB FE 32 00 90 21 01 90 34 18 F3".replace(" ", ""))


def machine_with(program: bytes) -> SpectrumMachine:
    machine = SpectrumMachine()
    machine.write(ENTRY, program)
    machine.jump(entry=ENTRY, stack=STACK)
    return machine


def digest(machine: Emulator) -> str:
    return hashlib.sha256(machine.save()).hexdigest()


def random_program(generator: np.random.Generator) -> bytes:
    """Any opcodes at all, or gentle ones among many EI and a few HALT, so that frames end there."""
    code = generator.integers(0, 256, 0x7000, dtype=np.uint8)
    if generator.random() < 0.5:
        gentle = np.array([0x00, 0x04, 0x0D, 0x14, 0x3C, 0x80, 0xA9, 0x70], np.uint8)
        code = generator.choice(gentle, code.size)
        code[generator.random(code.size) < 0.5] = EI
        code[generator.random(code.size) < generator.choice([0.0, 0.0002])] = HALT
        code[-3:] = 0xC3, 0x00, 0x80  # JP 8000h
    return code.tobytes()


@pytest.mark.parametrize("first_seed", [0, 100, 200, 300])
def test_a_loaded_state_goes_on_as_the_saved_one_did_from_hundreds_of_points(
    first_seed: int,
) -> None:
    machine, other = SpectrumMachine(), SpectrumMachine()
    hidden_states = set()
    for seed in range(first_seed, first_seed + 100):
        generator = np.random.default_rng(seed)
        machine.write(ENTRY, random_program(generator))
        machine.jump(entry=ENTRY, stack=STACK)
        machine.run_frames(int(generator.integers(1, 4)))
        saved = machine.save()
        hidden_states.add(saved[-1])
        assert machine.save() == saved
        machine.run_frames(2)
        expected = machine.save()
        for restored in (machine, other):
            restored.load(saved)
            assert restored.save() == saved
            restored.run_frames(2)
            assert restored.save() == expected
    assert hidden_states == {RUNNING, HALTED, AFTER_EI}


def test_saving_does_not_disturb_a_run() -> None:
    generator = np.random.default_rng(7)
    program = random_program(generator)
    plain, saved_often = machine_with(program), machine_with(program)
    for _ in range(40):
        plain.run_frames(1)
        saved_often.run_frames(1)
        saved_often.save()
    assert digest(plain) == digest(saved_often)


@pytest.mark.parametrize(
    ("hidden", "program"),
    [(HALTED, bytes((DI, HALT))), (AFTER_EI, bytes([EI] * 0x7000))],
    ids=["halted", "after EI"],
)
def test_a_state_of_each_hidden_kind_overrides_each_other(hidden: int, program: bytes) -> None:
    machine = machine_with(program)
    machine.run_frames(1)
    saved = machine.save()
    assert saved[-1] == hidden
    running = machine_with(READ_KEYS)
    running.run_frames(1)
    began = running.save()
    assert began[-1] == RUNNING
    running.load(saved)
    assert running.save() == saved
    running.load(began)
    assert running.save() == began


def test_the_screen_is_there_at_once_after_a_load() -> None:
    machine = SpectrumMachine()
    machine.run_frames(30)
    saved, screen = machine.save(), machine.screen()
    machine.run_frames(70)
    assert machine.screen() != screen
    machine.load(saved)
    assert machine.screen() == screen


def test_keys_held_now_do_not_survive_a_load() -> None:
    never_held, held = machine_with(READ_KEYS), machine_with(READ_KEYS)
    start = held.save()
    held.set_keys(["P"])
    held.run_frames(3)
    held.load(start)
    for machine in (never_held, held):
        machine.run_frames(30)
    assert digest(held) == digest(never_held)


def test_keys_held_when_a_state_was_saved_are_held_again() -> None:
    machine = machine_with(READ_KEYS)
    machine.set_keys(["P"])
    saved = machine.save()
    machine.set_keys([])
    machine.load(saved)
    machine.run_frames(1)
    assert machine.read(0x9000) == bytes((0xBE,))


def test_a_program_reads_the_keys_that_are_held() -> None:
    machine = machine_with(READ_KEYS)
    for keys, answer in (([], 0xBF), (["O"], 0xBD), (["P", "O", "Y"], 0xAC), (["A"], 0xBF)):
        machine.set_keys(keys)
        machine.run_frames(1)
        assert machine.read(0x9000) == bytes((answer,))


def test_machines_in_one_process_run_as_they_run_alone() -> None:
    programs = [random_program(np.random.default_rng(seed)) for seed in range(3)]

    def alone(program: bytes) -> list[str]:
        machine = machine_with(program)
        return [(machine.run_frames(1), digest(machine))[1] for _ in range(10)]

    together: list[list[str]] = [[], [], []]
    machines = [machine_with(program) for program in programs]
    for _ in range(10):
        for machine, hashes in zip(machines, together, strict=True):
            machine.set_keys([])
            machine.run_frames(1)
            hashes.append(digest(machine))
    assert together == [alone(program) for program in programs]


def test_memory_begins_as_zeros_behind_the_rom() -> None:
    machine = SpectrumMachine()
    assert machine.read(0x0000, 4) == bytes.fromhex("f3af11ff")
    assert machine.read(0x4000, 0xC000) == bytes(0xC000)


def test_what_is_read_is_a_copy() -> None:
    machine = SpectrumMachine()
    before = machine.screen()
    machine.write(0x4000, b"\xff" * 6912)
    assert before == bytes(6912)
    assert machine.screen() == b"\xff" * 6912


def test_frames_are_counted_and_loading_does_not_turn_them_back() -> None:
    machine = SpectrumMachine()
    saved = machine.save()
    machine.run_frames(5)
    machine.load(saved)
    machine.run_frames(2)
    assert machine.frames == 7


def test_making_and_closing_machines_does_not_grow_the_process() -> None:
    process = psutil.Process()
    for _ in range(20):
        SpectrumMachine().close()
    before = process.memory_info().rss
    for _ in range(100):
        machine = SpectrumMachine()
        machine.run_frames(1)
        machine.close()
    grown = process.memory_info().rss - before
    assert grown < 20 * 2**20, f"100 machines of 0.7 MiB left {grown / 2**20:.1f} MiB behind"


@pytest.mark.parametrize(
    "use",
    [
        lambda machine: machine.run_frames(1),
        lambda machine: machine.set_keys([]),
        lambda machine: machine.read(0x4000),
        lambda machine: machine.write(0x4000, b"x"),
        lambda machine: machine.jump(entry=ENTRY, stack=STACK),
        lambda machine: machine.screen(),
        lambda machine: machine.border(),
        lambda machine: machine.save(),
        lambda machine: machine.load(b""),
    ],
)
def test_a_closed_machine_refuses_every_use(use: Callable[[SpectrumMachine], object]) -> None:
    machine = SpectrumMachine()
    machine.close()
    machine.close()
    with pytest.raises(EmulatorError, match="was closed"):
        use(machine)


@pytest.mark.parametrize(("address", "length"), [(0xFFFF, 2), (-1, 1), (0x4000, -1)])
def test_reading_outside_memory_is_refused(address: int, length: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        SpectrumMachine().read(address, length)


@pytest.mark.parametrize("address", [0x3FFF, 0xFFFF])
def test_writing_to_the_rom_or_past_the_end_is_refused(address: int) -> None:
    with pytest.raises(ValueError, match="allowed are 0x4000 to 0xffff"):
        SpectrumMachine().write(address, b"ab")


@pytest.mark.parametrize(
    "spoil",
    [lambda state: state[:100], lambda state: state[1:], lambda state: state[:-1] + b"\x03"],
    ids=["cut short", "begun late", "no such flip-flop"],
)
def test_what_is_no_saved_state_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    machine = SpectrumMachine()
    state = machine.save()
    machine.run_frames(1)
    before = machine.save()
    with pytest.raises(EmulatorError, match="no saved state of a Spectrum"):
        machine.load(spoil(state))
    assert machine.save() == before
