"""The replay's speed and memory, against other libraries in the same run.

    python examples/benchmarks/replay_speed.py [memory] [prioritised] [images] [small] [compressed]

Each figure is printed with its goal. Times are CPU time of one thread; those that are compared take
turns, and the medians of 20 turns are shown. The peers come with `pip install 'oakemu-rl[bench]'`;
one that is missing is left out, and a line says so.
"""

import argparse
import importlib
import statistics
import time
import warnings
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import psutil
import torch

from oakemu_rl import TensorSpec
from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.envs.factory import make_vector_environment

TURNS, WARM_UP = 20, 3
VECTOR = TensorSpec(shape=(4,), dtype="float32")
IMAGE = TensorSpec(shape=(4, 84, 84), dtype="uint8")
EPISODE = 500


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    # Memory comes first: later, what was given back would be taken again unseen.
    parts = {
        "memory": measure_memory,
        "prioritised": compare_prioritised,
        "images": compare_images,
        "small": time_small_batches,
        "compressed": compare_compression,
    }
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}; all of them, without")
    chosen = parser.parse_args().parts
    for name in chosen:
        if name not in parts:
            parser.error(f"unknown part {name!r}; there are {', '.join(parts)}")
    torch.set_num_threads(1)
    for name in chosen or parts:
        parts[name]()


# A million items, drawn by priority


def compare_prioritised(items: int = 1_000_000) -> None:
    print(f"Prioritised replay of {items:,} vectors: sample and update, us")
    rng = np.random.default_rng(0)
    numbers = rng.standard_normal((items, 4), dtype=np.float32)
    buffers: dict[str, Callable[[int], Callable[[], object]]] = {
        "library": library_prioritised(items, numbers, rng)
    }
    if cpprb := peer("cpprb"):
        buffers["cpprb"] = cpprb_prioritised(cpprb, numbers, rng)
    if tianshou := peer("tianshou", "tianshou.data"):
        buffers["tianshou"] = tianshou_prioritised(tianshou, numbers, rng)
    for rows, against, goal in ((32, "cpprb", 1.3), (256, "tianshou", 1.0)):
        medians = in_turns({name: cycle(rows) for name, cycle in buffers.items()}, calls=200)
        show(f"{rows} items", medians)
        if against in medians:
            ratio = medians["library"] / medians[against]
            print(f"  library / {against} = {ratio:.2f} (goal: at most {goal})")


def library_prioritised(
    items: int, numbers: np.ndarray, rng: np.random.Generator
) -> Callable[[int], Callable[[], object]]:
    lanes = 50
    replay = PrioritizedReplayBuffer(
        capacity=items,
        environments=lanes,
        observation_spec=VECTOR,
        action_count=2,
        alpha=0.6,
        epsilon=1e-6,
    )
    fill(replay, numbers.reshape(-1, lanes, 4))
    for _ in range(3 * items // 10_000):
        batch = replay.sample(10_000, generator=rng)
        replay.update_priorities(batch.indices.numpy(), batch.serials.numpy(), rng.random(10_000))

    def cycle(rows: int) -> Callable[[], object]:
        def sample_and_update() -> None:
            batch = replay.sample(rows, generator=rng)
            replay.update_priorities(batch.indices.numpy(), batch.serials.numpy(), rng.random(rows))

        return sample_and_update

    return cycle


def cpprb_prioritised(
    cpprb: ModuleType, numbers: np.ndarray, rng: np.random.Generator
) -> Callable[[int], Callable[[], object]]:
    vector, number = {"shape": 4}, {"shape": 1}
    fields = {"obs": vector, "next_obs": vector, "act": number, "rew": number, "done": number}
    replay = cpprb.PrioritizedReplayBuffer(len(numbers), fields, alpha=0.6)
    for part in np.split(numbers, 100):
        zeros = np.zeros(len(part))
        others = dict.fromkeys(("act", "rew", "done"), zeros)
        replay.add(obs=part, next_obs=part, **others, priorities=rng.random(len(part)))

    def cycle(rows: int) -> Callable[[], object]:
        def sample_and_update() -> None:
            batch = replay.sample(rows, beta=0.4)
            replay.update_priorities(batch["indexes"], rng.random(rows))

        return sample_and_update

    return cycle


def tianshou_prioritised(
    tianshou: ModuleType, numbers: np.ndarray, rng: np.random.Generator
) -> Callable[[int], Callable[[], object]]:
    replay = tianshou.PrioritizedReplayBuffer(len(numbers), alpha=0.6, beta=0.4)
    flags = {"rew": 0.0, "terminated": False, "truncated": False, "done": False}
    step = {"obs": numbers[0], "obs_next": numbers[0], "act": 0, "info": {}}
    replay.add(tianshou.Batch(**step, **flags))
    # A million single adds would take minutes: it is filled from within.
    replay._meta.obs[:] = replay._meta.obs_next[:] = numbers
    replay._size = len(numbers)
    replay.update_weight(np.arange(len(numbers)), rng.random(len(numbers)))

    def cycle(rows: int) -> Callable[[], object]:
        def sample_and_update() -> None:
            _, indices = replay.sample(rows)
            replay.update_weight(indices, rng.random(rows))

        return sample_and_update

    return cycle


# Stacks of frames


def compare_images(items: int = 20_000, goal: float = 1.5) -> None:
    print(f"Uniform replay of {items:,} stacks of 4 x 84 x 84 and their next: sample, us")
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 256, (EPISODE + 1, *IMAGE.shape), dtype=np.uint8)
    replay = ReplayBuffer(
        capacity=items, environments=1, observation_spec=IMAGE, action_count=6, frame_stack=4
    )
    fill(replay, np.resize(frames, (items, 1, *IMAGE.shape)))
    samplers = {"library": lambda rows: lambda: replay.sample(rows, generator=rng)}
    if baselines := peer("stable_baselines3", "stable_baselines3.common.buffers"):
        for name, lean in (("SB3", False), ("SB3 lean", True)):
            samplers[name] = baselines_sampler(baselines, items, frames, lean=lean)
    for rows in (32, 256):
        medians = in_turns({name: sampler(rows) for name, sampler in samplers.items()}, calls=5)
        show(f"{rows} items", medians)
        if rows == 256:
            for name, median in list(medians.items())[1:]:
                ratio = median / medians["library"]
                print(f"  {name} / library = {ratio:.2f} (goal: at least {goal})")


def baselines_sampler(
    baselines: ModuleType, items: int, frames: np.ndarray, *, lean: bool
) -> Callable[[int], Callable[[], object]]:
    from gymnasium.spaces import Box, Discrete

    replay = baselines.ReplayBuffer(
        items,
        Box(0, 255, IMAGE.shape, np.uint8),
        Discrete(6),
        device="cpu",
        optimize_memory_usage=lean,
        handle_timeout_termination=not lean,
    )
    zero, no = np.zeros(1), np.zeros(1, dtype=bool)
    for t in range(items):
        seen, following = frames[t % EPISODE], frames[t % EPISODE + 1]
        replay.add(seen[None], following[None], zero, zero, no, [{}])
    return lambda rows: lambda: replay.sample(rows)


# Small batches


def time_small_batches(items: int = 100_000) -> None:
    print(f"Uniform replay of {items:,} vectors, one environment, us")
    rng = np.random.default_rng(0)
    replay = ReplayBuffer(capacity=items, environments=1, observation_spec=VECTOR, action_count=2)
    fill(replay, rng.standard_normal((items, 1, 4), dtype=np.float32))
    observations = np.zeros((1, 4), dtype=np.float32)
    replay.begin(observations=observations)
    step = plain_step(observations)
    calls: dict[str, Callable[[], object]] = {
        "sample 64 (goal: 25)": lambda: replay.sample(64, generator=rng),
        "add 1 (goal: 8)": lambda: replay.add(step),
    }
    show("one call", in_turns(calls, calls=200))


# Memory


def measure_memory(items: int = 1_000_000, written: int = 100_000) -> None:
    frame = 84 * 84
    shape = {
        "environments": 1,
        "observation_spec": IMAGE,
        "action_count": 18,
        "frame_stack": 4,
        "masked": True,
    }
    told = PrioritizedReplayBuffer.size_bytes(capacity=items, **shape)
    print(f"Memory of {items:,} frames of 84 x 84, masks and priorities")
    print(f"  told: {told / 1e9:.3f} GB, {told / items / frame:.4f} of the frames (goal: 1.02)")
    before = psutil.Process().memory_info().rss
    replay = PrioritizedReplayBuffer(capacity=written, alpha=0.6, epsilon=1e-6, **shape)
    fill(replay, np.broadcast_to(np.ones(1, dtype=np.uint8), (written, 1, *IMAGE.shape)))
    replay.sample(32, generator=np.random.default_rng(0))
    grown = psutil.Process().memory_info().rss - before
    print(
        f"  resident after {written:,}: {grown / 1e6:,.1f} MB, "
        f"{grown / written / frame:.4f} of the frames; told {replay.nbytes / 1e6:,.1f} MB"
    )


# Compression


def compare_compression(items: int = 10_000) -> None:
    environments = make_vector_environment(EnvironmentOptions(id="acorns", frame_stack=4), count=4)
    rng = np.random.default_rng(0)
    replays = {
        kind: ReplayBuffer(
            capacity=items,
            environments=4,
            observation_spec=environments.observation_spec,
            action_count=environments.action_spec.count,
            frame_stack=4,
            compression=kind,
        )
        for kind in ("none", "zstd")
    }
    environments.reset([0, 1, 2, 3])
    for replay in replays.values():
        replay.begin(observations=environments.observations)
    for _ in range(items // 4):
        actions = rng.integers(environments.action_spec.count, size=4)
        result = environments.step(actions)
        for replay in replays.values():
            replay.add(
                ReplayStep(
                    actions=actions,
                    rewards=result.rewards,
                    terminated=result.terminated,
                    truncated=result.truncated,
                    valid=result.valid,
                    next_observations=result.next_observations,
                )
            )
            replay.begin(rows=result.began, observations=environments.observations)
    environments.close()
    print(f"Acorns, {items:,} frames of 30 x 64: plain and compressed")
    for kind, replay in replays.items():
        print(f"  {kind:8} {replay.nbytes / items:8.0f} bytes an item")
    samplers = {
        kind: lambda replay=replay: replay.sample(32, generator=rng)
        for kind, replay in replays.items()
    }
    show("sample 32, us", in_turns(samplers, calls=20))


def plain_step(observations: np.ndarray, *, ended: bool = False) -> ReplayStep:
    count = len(observations)
    return ReplayStep(
        actions=np.zeros(count, dtype=np.int64),
        rewards=np.zeros(count, dtype=np.float32),
        terminated=np.full(count, ended),
        truncated=np.zeros(count, dtype=bool),
        valid=np.ones(count, dtype=bool),
        next_observations=observations,
    )


def fill(replay: ReplayBuffer, observations: np.ndarray) -> None:
    """Write these observations [T, N, ...], in episodes of one length."""
    for t, row in enumerate(observations):
        if t % EPISODE == 0:
            replay.begin(observations=row)
        else:
            replay.add(plain_step(row, ended=t % EPISODE == EPISODE - 1))


def peer(package: str, module: str | None = None) -> Any:
    """The module to compare with; None where the package is missing, and a line that says so."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(module or package)
    except ModuleNotFoundError:
        print(f"  {package} is not installed: pip install 'oakemu-rl[bench]'")
        return None


def in_turns(calls_of: Mapping[str, Callable[[], object]], *, calls: int) -> dict[str, float]:
    """The medians in microseconds of one call; each turn makes `calls` of them in a row."""
    taken: dict[str, list[float]] = {name: [] for name in calls_of}
    for turn in range(WARM_UP + TURNS):
        for name, call in calls_of.items():
            begun = time.process_time()
            for _ in range(calls):
                call()
            if turn >= WARM_UP:
                taken[name].append((time.process_time() - begun) / calls * 1e6)
    return {name: statistics.median(times) for name, times in taken.items()}


def show(what: str, medians: Mapping[str, float]) -> None:
    print(f"  {what}: " + ", ".join(f"{name} {median:,.1f}" for name, median in medians.items()))


if __name__ == "__main__":
    main()
