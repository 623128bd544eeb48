"""Option records refuse wrong values in Python as well, and say which field."""

from collections.abc import Callable

import pytest

from oakemu_rl import config
from oakemu_rl.config.dqn import (
    DQNModelOptions,
    DQNOptimisationOptions,
    ExplorationOptions,
    ReplayOptions,
    ShapingOptions,
)
from oakemu_rl.config.options import CloningOptions, EnvironmentOptions, ModelOptions, RunOptions
from oakemu_rl.config.ppo import LossOptions, OptimisationOptions, RolloutOptions
from oakemu_rl.config.validators import InvalidValueError
from oakemu_rl.core.schedules import constant, linear


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EnvironmentOptions(count=0), "count: got 0, allowed is an integer, at least 1"),
        (lambda: EnvironmentOptions(count=2.0), "count: got 2.0, allowed is an integer"),
        (lambda: EnvironmentOptions(count=True), "count: got True, allowed is an integer"),
        (lambda: EnvironmentOptions(max_episode_steps=1.5), "max_episode_steps: got 1.5, allowed"),
        (lambda: RolloutOptions(gamma=1.01), "gamma: got 1.01, allowed is a finite number, at lea"),
        (lambda: RolloutOptions(gamma=float("nan")), "gamma: got nan, allowed is a finite number"),
        (lambda: RolloutOptions(gamma="1"), "gamma: got '1', allowed is a finite number"),
        (lambda: LossOptions(clip_range=0.0), "clip_range: got 0.0, allowed is a finite number, a"),
        (lambda: ModelOptions(hidden_sizes=[64]), r"hidden_sizes: got \[64\], allowed is a tuple"),
        (lambda: ModelOptions(hidden_sizes=(64, 0)), r"hidden_sizes\[1\]: got 0, allowed is an"),
        (lambda: ModelOptions(activation="gelu"), "activation: got 'gelu', allowed is one of tanh"),
        (lambda: RunOptions(device="cuda:x"), "device: got 'cuda:x', allowed is auto, cpu, cuda"),
        (lambda: RunOptions(seed=2**31), "seed: got 2147483648, allowed is an integer, at least 0"),
        (lambda: OptimisationOptions(learning_rate="fast"), "learning_rate: got 'fast', allowed"),
        (lambda: RunOptions(total_steps=10**400), "total_steps: got 1000"),
        (lambda: OptimisationOptions(learning_rate=True), "learning_rate: got True, allowed is a"),
        (lambda: CloningOptions(weight=linear(1.0, -1.0, 5)), "weight: got -1.0, allowed is a fin"),
        (lambda: DQNModelOptions(atoms=0), "atoms: got 0, allowed is an integer, at least 1, at m"),
        (lambda: DQNModelOptions(atoms=1_002), "atoms: got 1002, allowed is an integer, at least"),
        (lambda: DQNModelOptions(noise_sigma=0.0), "noise_sigma: got 0.0, allowed is a finite nu"),
        (lambda: DQNModelOptions(value_max=float("inf")), "value_max: got inf, allowed is a fini"),
        (lambda: ReplayOptions(kind="prioritized"), "kind: got 'prioritized', allowed is one of"),
        (lambda: ReplayOptions(capacity=1), "capacity: got 1, allowed is an integer, at least 2"),
        (lambda: ReplayOptions(n_step=101), "n_step: got 101, allowed is an integer, at least 1"),
        (lambda: ReplayOptions(importance_exponent=1.5), "importance_exponent: got 1.5, allowed"),
        (lambda: DQNOptimisationOptions(steps_per_update=0.0), "steps_per_update: got 0.0, allow"),
        (lambda: DQNOptimisationOptions(target_update_rate=1.1), "target_update_rate: got 1.1, a"),
        (lambda: ExplorationOptions(epsilon=linear(1.1, 0.0, 9)), "epsilon: got 1.1, allowed is"),
        (lambda: ShapingOptions(potential={"a": float("nan")}), r"potential\.a: got nan, allowed"),
        (lambda: ShapingOptions(potential=["a"]), r"potential: got \['a'\], allowed is a mapping"),
    ],
)
def test_a_wrong_value_is_refused_with_the_name_of_its_field(
    make: Callable[[], object], message: str
) -> None:
    with pytest.raises(InvalidValueError, match=f"^{message}"):
        make()


def test_values_on_the_bounds_are_taken() -> None:
    RolloutOptions(gamma=0.0, gae_lambda=1, max_staleness=0)
    RunOptions(seed=2**31 - 1, device="cuda:1")
    EnvironmentOptions(count=1, max_episode_steps=None)
    ReplayOptions(capacity=2, n_step=100, warm_up_steps=0, importance_exponent=1.0)
    DQNOptimisationOptions(steps_per_update=0.5, target_update_rate=1.0)
    ExplorationOptions(epsilon=linear(1.0, 0.0, 9), test_epsilon=0)


def test_a_number_stands_for_a_constant_schedule() -> None:
    assert OptimisationOptions(learning_rate=1e-3).learning_rate == constant(1e-3)
    assert LossOptions(value_weight=1) == LossOptions(value_weight=constant(1.0))


def test_the_package_gives_every_name_that_it_lists() -> None:
    for name in dir(config):
        assert getattr(config, name).__module__.startswith("oakemu_rl.config.")
