"""How fast the emulator and a game's environment step, per second of this process's CPU time.

Run with: python examples/benchmarks/emulator_speed.py

A step is four video frames. The first line is the package zx alone, with a program that only
waits, in the instruction that zx gets through fastest. The second sets keys, runs the frames and
copies the screen's bytes; the third is the whole environment, with rewards and the observation that
an agent sees. Medians of 20 rounds, taken in turn, each some episodes' worth of steps with random
actions.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
import zx

from oakemu_rl.envs.games.game_env import SpectrumGame
from oakemu_rl.envs.games.registry import find_game
from oakemu_rl.envs.spectrum.machine import SpectrumMachine
from oakemu_rl.envs.spectrum.screen import grey_image

ROUNDS, STEPS = 20, 200
FRAME_SKIP = 4
GOAL = 2000


def main() -> None:
    generator = np.random.default_rng(0)
    actions = generator.integers(3, size=STEPS).tolist()
    screen = generator.integers(0, 256, 6912, dtype=np.uint8).tobytes()
    alone, emulator, environment, images = steps_per_second(
        waiting_steps(),
        emulator_steps(actions),
        game_steps(actions),
        lambda: [grey_image(screen, shrink=4) for _ in range(STEPS)],
    )
    report("zx alone: 4 frames of waiting", alone)
    report("emulator: keys, 4 frames, screen bytes", emulator)
    report("environment: Acorns, 30 x 64 observation", environment)
    print(f"{'grey 48 x 64 image of a screen':42} {1e6 / statistics.median(images):8.1f} us")
    ratio = statistics.median(emulator) / statistics.median(alone)
    print(f"the emulator is {ratio:.1f} x as fast as zx alone; goal: {GOAL:,} steps/s")


def waiting_steps() -> Callable[[], object]:
    """Steps of zx without the adapter: DJNZ to itself, and again, without an end."""
    cpu = zx.Spectrum(headless=True)
    cpu.write(0x8000, bytes((0x10, 0xFE, 0x18, 0xFC)))
    cpu.pc = 0x8000

    def wait() -> None:
        for _ in range(STEPS * FRAME_SKIP):
            while not cpu._run() & 2:
                pass

    return wait


def emulator_steps(actions: list[int]) -> Callable[[], object]:
    """Steps of a bare machine that plays Acorns."""
    definition = find_game("acorns")
    program = definition.settings.program
    keys = list(definition.settings.actions.values())
    machine = SpectrumMachine()
    machine.write(program.address, definition.program)
    machine.jump(entry=program.entry, stack=program.stack)
    for press in definition.settings.reset.start_up:
        machine.set_keys(press.keys)
        machine.run_frames(press.frames)
    start = machine.save()

    def play() -> None:
        machine.load(start)
        for action in actions:
            machine.set_keys(keys[action])
            machine.run_frames(FRAME_SKIP)
            machine.screen()

    return play


def game_steps(actions: list[int]) -> Callable[[], object]:
    """Steps of the environment, a reset included wherever an episode ends."""
    environment = SpectrumGame("acorns")
    environment.reset(seed=0)

    def play() -> None:
        for action in actions:
            _, _, terminated, truncated, _ = environment.step(action)
            if terminated or truncated:
                environment.reset()

    return play


def steps_per_second(*plays: Callable[[], object]) -> list[list[float]]:
    """The speeds of each in every round, after one round to warm up."""
    for play in plays:
        play()
    speeds: list[list[float]] = [[] for _ in plays]
    for _ in range(ROUNDS):
        for play, each in zip(plays, speeds, strict=True):
            begun = time.process_time()
            play()
            each.append(STEPS / (time.process_time() - begun))
    return speeds


def report(name: str, speeds: list[float]) -> None:
    print(
        f"{name:42} {statistics.median(speeds):8,.0f} steps/s "
        f"(slowest round {min(speeds):,.0f}, fastest {max(speeds):,.0f})"
    )


if __name__ == "__main__":
    main()
