"""What is copied out of the parts of a run."""

import copy
import threading
from collections.abc import Iterator

import pytest

from oakemu_rl.config.options import EnvironmentOptions, MetricsOptions
from oakemu_rl.config.ppo import OptimisationOptions, PPOExperimentConfiguration, RolloutOptions
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.experiments.ppo_parts import PPOParts, build_ppo_parts
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.training.action_masker import ActionMasker
from tests.training.parts import same_bits

CONFIG = PPOExperimentConfiguration(
    environment=EnvironmentOptions(id="CartPole-v1", count=2),
    rollout=RolloutOptions(steps=16),
    optimisation=OptimisationOptions(minibatch_size=32),
    metrics=MetricsOptions(console="off"),
)


@pytest.fixture
def parts() -> Iterator[PPOParts]:
    environments = make_vector_environment(CONFIG.environment, count=2)
    yield build_ppo_parts(
        RuntimeContext(config=CONFIG),
        environments,
        ActionMasker(environments.action_spec),
    )
    environments.close()


def train_on_one_rollout(parts: PPOParts, handshake: RolloutHandshake) -> None:
    slot = handshake.wait_for_rollout(threading.Event())
    assert slot is not None
    parts.learner.step(parts.actor.env_steps)
    handshake.release(slot)


def test_a_captured_state_is_left_as_it_was_by_the_training_that_goes_on(parts: PPOParts) -> None:
    handshake = RolloutHandshake(producer=parts.actor.produce)
    train_on_one_rollout(parts, handshake)
    captured = parts.capture(32)
    before = copy.deepcopy((captured.tensors, captured.state))
    train_on_one_rollout(parts, handshake)
    assert same_bits((captured.tensors, captured.state), before)
    later = parts.capture(64)
    for stem, tensors in captured.tensors.items():
        assert not same_bits(tensors, later.tensors[stem]), stem
