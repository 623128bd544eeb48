"""What is larger than the free memory is refused with both numbers; a container's limit counts."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.config.dqn import DQNExperimentConfiguration, ReplayOptions, ShapingOptions
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.experiments import memory
from oakemu_rl.experiments.dqn_parts import build_replay
from oakemu_rl.experiments.memory import (
    replay_shape,
    require_replay_memory,
    require_rollout_memory,
    value_names,
)
from tests.training.worlds import ACTIONS, MASKED_ID

CART_POLE = EnvironmentOptions(id="CartPole-v1", count=2)
Patch = pytest.MonkeyPatch


def set_free(monkeypatch: Patch, size: int) -> None:
    """So much is free on the machine."""
    monkeypatch.setattr(memory, "free_memory", lambda: size)


@pytest.fixture
def cart_pole() -> Iterator[VectorEnvironment]:
    environments = make_vector_environment(CART_POLE, count=2)
    yield environments
    environments.close()


def replaying(**options: Any) -> DQNExperimentConfiguration:
    return DQNExperimentConfiguration(
        environment=CART_POLE, replay=ReplayOptions(capacity=10_000, **options)
    )


@pytest.mark.parametrize("kind", ["uniform", "prioritised"])
def test_a_replay_that_just_fits_is_taken_and_one_byte_less_is_refused(
    kind: str, cart_pole: VectorEnvironment, monkeypatch: Patch
) -> None:
    config = replaying(kind=kind, n_step=3)
    buffer = PrioritizedReplayBuffer if kind == "prioritised" else ReplayBuffer
    needed = buffer.size_bytes(**replay_shape(config, cart_pole))
    set_free(monkeypatch, needed)
    require_replay_memory(config, cart_pole)
    set_free(monkeypatch, needed - 1)
    with pytest.raises(ConfigurationError, match=r"^replay.capacity: 10,000 steps need "):
        require_replay_memory(config, cart_pole)


def test_both_numbers_and_the_way_out_are_told(
    cart_pole: VectorEnvironment, monkeypatch: Patch
) -> None:
    set_free(monkeypatch, 3 * 10**9)
    config = DQNExperimentConfiguration(replay=ReplayOptions(capacity=10**9))
    needed = ReplayBuffer.size_bytes(**replay_shape(config, cart_pole)) / 1e9
    with pytest.raises(ConfigurationError) as caught:
        require_replay_memory(config, cart_pole)
    assert str(caught.value) == (
        f"replay.capacity: 1,000,000,000 steps need {needed:,.1f} GB, 3.0 GB are free; "
        "lower replay.capacity"
    )


@pytest.mark.parametrize(("count", "stack"), [(1, 1), (8, 1), (8, 4), (3, 2)])
def test_a_replay_that_never_holds_a_batch_is_refused_and_one_slot_more_learns(
    count: int, stack: int
) -> None:
    options = EnvironmentOptions(id="CartPole-v1", count=count, frame_stack=stack)
    environments = make_vector_environment(options, count=count)
    least = count * (-(-32 // count) + stack)

    def config_of(capacity: int) -> DQNExperimentConfiguration:
        return DQNExperimentConfiguration(
            environment=options, replay=ReplayOptions(capacity=capacity, warm_up_steps=32)
        )

    with pytest.raises(
        ConfigurationError, match=rf"^replay.capacity: .* raise replay.capacity to {least} or more"
    ):
        require_replay_memory(config_of(least - 1), environments)
    require_replay_memory(config_of(least), environments)
    replay = build_replay(config_of(least), environments)
    seen: dict[str, Any] = {"observations": environments.observations}
    replay.begin(**seen)
    flags = np.zeros(count, dtype=np.bool_)
    held = []
    for _ in range(2 * least):
        replay.add(
            ReplayStep(
                actions=np.zeros(count, dtype=np.int64),
                rewards=np.zeros(count, dtype=np.float32),
                terminated=flags,
                truncated=flags,
                valid=~flags,
                next_observations=environments.observations,
            )
        )
        held.append(len(replay))
    assert held[-1] == min(held[least:]) == count * -(-32 // count)
    environments.close()


def test_rollouts_that_do_not_fit_are_refused_too(
    cart_pole: VectorEnvironment, monkeypatch: Patch
) -> None:
    config = PPOExperimentConfiguration(environment=CART_POLE)
    require_rollout_memory(config, cart_pole)
    set_free(monkeypatch, 1_000)
    with pytest.raises(ConfigurationError, match=r"^rollout.steps: .* lower rollout.steps or env"):
        require_rollout_memory(config, cart_pole)


def test_the_shape_of_a_replay_is_that_of_the_environment_and_the_settings() -> None:
    options = EnvironmentOptions(id=MASKED_ID, count=3)
    environments = make_vector_environment(options, count=3)
    config = DQNExperimentConfiguration(
        environment=options, replay=ReplayOptions(capacity=2_000, n_step=5, compression="zstd")
    )
    assert replay_shape(config, environments) == {
        "capacity": 2_000,
        "environments": 3,
        "observation_spec": environments.observation_spec,
        "action_count": ACTIONS,
        "frame_stack": 1,
        "n_step": 5,
        "masked": True,
        "value_names": (),
        "compression": "zstd",
    }
    environments.close()


def test_the_values_that_are_kept_are_those_that_shaping_reads() -> None:
    assert value_names(DQNExperimentConfiguration()) == ()
    shaping = ShapingOptions(potential={"x": 1.0}, novelty_weight=0.5, novelty_values=("room", "x"))
    assert value_names(DQNExperimentConfiguration(shaping=shaping)) == ("x", "room")
