"""How fast DQN runs, acting and learning together, beside stable-baselines3 with the same settings.

Run with: python examples/benchmarks/dqn_speed.py [--rounds 5]

Environment steps per second of this process's CPU time, one torch thread, one environment, one
update for every 4 steps; whole runs, in turn, medians of all rounds. Ours run in lockstep: one
thread, like the peer. `pip install 'oakemu-rl[bench]'` installs the peer.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.config.dqn import (
    DQNExperimentConfiguration,
    DQNLossOptions,
    DQNModelOptions,
    DQNOptimisationOptions,
    ExplorationOptions,
    ReplayOptions,
)
from oakemu_rl.config.options import EnvironmentOptions, RunOptions
from oakemu_rl.core.schedules import constant, linear
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.experiments.dqn_parts import build_dqn_parts
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.training.action_masker import ActionMasker

PIXELS = "oakemu-bench/Falling-v0"
SIDE = 84
WARM_UP = 1_000
RATE = 1e-4
Runs = dict[str, Callable[[], object]]


class Falling(gymnasium.Env[Any, Any]):
    """A block falls, a bar catches it: a game of 84 x 84 pixels that takes next to no time."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0, 255, (1, SIDE, SIDE), np.uint8)
        self.action_space = spaces.Discrete(3)
        self._bar = self._column = self._row = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._bar, self._row = SIDE // 2, 0
        self._column = int(self.np_random.integers(SIDE - 4))
        return self._picture(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._bar = min(max(self._bar + 4 * (int(action) - 1), 0), SIDE - 12)
        self._row += 2
        landed = self._row >= SIDE - 4
        caught = landed and -4 < self._column - self._bar < 12
        return self._picture(), float(caught), landed, False, {}

    def _picture(self) -> Any:
        picture = np.zeros((1, SIDE, SIDE), np.uint8)
        picture[0, self._row : self._row + 4, self._column : self._column + 4] = 255
        picture[0, SIDE - 4 :, self._bar : self._bar + 12] = 128
        return picture


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    gymnasium.register(PIXELS, Falling)
    try:
        import stable_baselines3
    except ModuleNotFoundError:
        sys.exit("stable-baselines3 is not installed; pip install 'oakemu-rl[bench]'")
    print(f"stable-baselines3 {stable_baselines3.__version__}, torch {torch.__version__}")
    compare(
        "CartPole-v1, MLP 64 x 64, batch 64",
        {
            "here": lambda: ours("CartPole-v1", steps=8_000, batch=64, stack=1, capacity=50_000),
            "peer": lambda: peer("CartPole-v1", steps=8_000, batch=64, stack=1, capacity=50_000),
        },
        steps=8_000,
        rounds=rounds,
        goal=2.0,
    )
    compare(
        "84 x 84 x 4 pixels, Nature CNN, batch 32",
        {
            "here": lambda: ours(PIXELS, steps=1_800, batch=32, stack=4, capacity=5_000),
            "peer": lambda: peer(PIXELS, steps=1_800, batch=32, stack=4, capacity=5_000),
        },
        steps=1_800,
        rounds=rounds,
        goal=1.5,
    )


def compare(name: str, runs: Runs, *, steps: int, rounds: int, goal: float) -> None:
    speeds: dict[str, list[float]] = {who: [] for who in runs}
    for _ in range(rounds):
        for who, run in runs.items():
            begun = time.process_time()
            run()
            speeds[who].append(steps / (time.process_time() - begun))
    here, beside = (statistics.median(speeds[who]) for who in ("here", "peer"))
    print(
        f"{name:42} {here:7,.0f} steps/s, stable-baselines3 {beside:7,.0f}: "
        f"{here / beside:.2f} x (goal {goal:g} x)"
    )


def ours(environment: str, *, steps: int, batch: int, stack: int, capacity: int) -> None:
    config = DQNExperimentConfiguration(
        environment=EnvironmentOptions(id=environment, count=1, frame_stack=stack),
        model=DQNModelOptions(hidden_sizes=(64, 64), activation="relu"),
        replay=ReplayOptions(capacity=capacity, warm_up_steps=WARM_UP),
        optimisation=DQNOptimisationOptions(
            learning_rate=constant(RATE), batch_size=batch, target_update_every=125
        ),
        loss=DQNLossOptions(double=False),
        exploration=ExplorationOptions(epsilon=linear(1.0, 0.05, steps=1_000)),
        run=RunOptions(total_steps=steps, mode="lockstep", device="cpu"),
    )
    environments = make_vector_environment(config.environment, count=1)
    parts = build_dqn_parts(
        RuntimeContext(config=config), environments, ActionMasker(environments.action_spec)
    )
    parts.learn(CheckpointPolicy(save=lambda _: None, every_steps=10**9))
    environments.close()


def peer(environment: str, *, steps: int, batch: int, stack: int, capacity: int) -> None:
    from stable_baselines3 import DQN
    from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack

    environments: Any = DummyVecEnv([lambda: gymnasium.make(environment)])
    if stack > 1:
        environments = VecFrameStack(environments, stack, channels_order="first")
    model = DQN(
        "CnnPolicy" if stack > 1 else "MlpPolicy",
        environments,
        learning_rate=RATE,
        buffer_size=capacity,
        learning_starts=WARM_UP,
        batch_size=batch,
        train_freq=4,
        gradient_steps=1,
        target_update_interval=500,
        exploration_fraction=1_000 / steps,
        exploration_final_eps=0.05,
        policy_kwargs={} if stack > 1 else {"net_arch": [64, 64]},
        device="cpu",
        seed=0,
    )
    model.learn(total_timesteps=steps)
    environments.close()


if __name__ == "__main__":
    main()
