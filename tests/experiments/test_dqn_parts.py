"""How the parts of a DQN run are made, and what is copied out of them."""

import copy
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.config.dqn import (
    DQNExperimentConfiguration,
    DQNModelOptions,
    DQNOptimisationOptions,
    ReplayOptions,
    ShapingOptions,
)
from oakemu_rl.config.options import EnvironmentOptions, RunOptions
from oakemu_rl.core.minibatches import DQNLearnerRuntimeState
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.experiments.dqn_parts import DQNParts, build_dqn_parts
from oakemu_rl.experiments.memory import value_names
from oakemu_rl.metrics import names
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.shaping import reward_shaping
from tests.runtime.background import LIMIT_SECONDS
from tests.training.dqn.parts import same_weights
from tests.training.parts import Outlets, same_bits

SHAPING = ShapingOptions(
    normalize=True,
    potential={"basket": 0.5},
    novelty_weight=0.1,
    novelty_values=("acorn_x", "acorn_y"),
)


def config_of(
    environment: EnvironmentOptions, *, mode: str = "lockstep", **options: Any
) -> DQNExperimentConfiguration:
    replay = {"capacity": 512, "warm_up_steps": 16, **options.pop("replay", {})}
    return DQNExperimentConfiguration(
        environment=environment,
        replay=ReplayOptions(**replay),
        optimisation=DQNOptimisationOptions(
            batch_size=16, steps_per_update=2.0, target_update_every=5
        ),
        run=RunOptions(mode=mode, total_steps=1_000),
        **options,
    )


@pytest.fixture
def made() -> Iterator[Any]:
    """Makes parts, and closes their environments at the end."""
    opened = []

    def make(config: DQNExperimentConfiguration, outlets: Outlets | None = None) -> DQNParts:
        environments = make_vector_environment(
            config.environment, count=config.environment.count, value_names=value_names(config)
        )
        opened.append(environments)
        outlets = outlets or Outlets()
        return build_dqn_parts(
            RuntimeContext(config=config, seed=1, metrics=outlets, events=outlets),
            environments,
            ActionMasker(environments.action_spec, config.environment.actions),
        )

    yield make
    for environments in opened:
        environments.close()


CART_POLE = EnvironmentOptions(id="CartPole-v1", count=2)
ACORNS = EnvironmentOptions(id="acorns", count=2, frame_stack=2)
SMALL_PICTURES = DQNModelOptions(channel_multiplier=0.25, feature_size=16)
RAINBOW = DQNModelOptions(hidden_sizes=(8,), dueling=True, noisy=True, atoms=5)


def advance(parts: DQNParts, *, calls: int) -> None:
    for _ in range(calls):
        parts.actor.step()
        while parts.learner.step(parts.actor.env_steps):
            pass


def test_the_same_seed_makes_the_same_weights_in_model_and_target(made: Any) -> None:
    one, other = made(config_of(CART_POLE)), made(config_of(CART_POLE))
    assert same_weights(one.learner_model.model, one.target_model)
    assert same_weights(one.learner_model.model, other.learner_model.model)
    assert one.target_model is not one.learner_model.model


def test_the_replay_is_the_one_that_is_configured(made: Any) -> None:
    plain = made(config_of(CART_POLE, replay={"n_step": 3})).learner.replay_buffer
    assert (plain.is_prioritised, plain.n_step, plain.capacity) == (False, 3, 512)
    prioritised = made(config_of(CART_POLE, replay={"kind": "prioritised"})).learner.replay_buffer
    assert isinstance(prioritised, PrioritizedReplayBuffer)


def test_a_captured_state_is_left_as_it_was_by_the_training_that_goes_on(made: Any) -> None:
    parts = made(config_of(CART_POLE, model=RAINBOW, replay={"kind": "prioritised"}))
    advance(parts, calls=30)
    captured = parts.capture(60)
    assert captured.env_steps == parts.env_steps == 60
    assert captured.iterations == parts.learner.iterations == 22
    assert set(captured.tensors) == {"model", "target", "optimizer", "generators"}
    before = copy.deepcopy((captured.tensors, captured.state))
    advance(parts, calls=30)
    assert same_bits((captured.tensors, captured.state), before)
    later = parts.capture(120)
    for stem, tensors in captured.tensors.items():
        assert not same_bits(tensors, later.tensors[stem]), stem
    assert captured.state["replay_generator"] != later.state["replay_generator"]
    assert DQNLearnerRuntimeState(**captured.state["learner"]).iterations == 22


def test_what_is_captured_of_a_noisy_model_holds_no_noise(made: Any) -> None:
    parts = made(config_of(CART_POLE, model=RAINBOW))
    advance(parts, calls=20)
    captured = parts.capture(40)
    assert not [name for name in captured.tensors["model"] if name.endswith("_noise")]


def test_shaping_reads_a_games_values_and_its_statistics_go_through_a_checkpoint(made: Any) -> None:
    config = config_of(ACORNS, model=SMALL_PICTURES, shaping=SHAPING, replay={"n_step": 3})
    parts = made(config)
    advance(parts, calls=24)
    assert parts.learner.iterations == 16
    state = parts.capture(48).state
    restored = reward_shaping(config.shaping)
    assert restored is not None
    text = to_json(state, place="state")
    restored.restore(from_json(text, source="state.json")["shaping"])
    assert restored.state() == parts.shaping.state() == state["shaping"]
    moments, visits = state["shaping"]["0"], state["shaping"]["2"]["visits"]
    # Windows of three steps each, of which the newest of an environment may be cut.
    assert 16 * 16 <= moments["count"] <= 3 * 16 * 16
    assert sum(count for _, count in visits) == moments["count"]


def test_raw_and_shaped_returns_are_told_apart_and_the_replay_keeps_the_raw_ones(made: Any) -> None:
    outlets = Outlets()
    parts = made(config_of(CART_POLE, shaping=ShapingOptions(scale=0.5)), outlets)
    advance(parts, calls=120)
    assert parts.learner.iterations > 100
    (raw,) = outlets.series(names.RAW_RETURN_MEAN)
    (shaped,) = outlets.series(names.SHAPED_RETURN_MEAN)
    assert (raw, shaped) == (1.0, 0.5)
    batch = parts.learner.replay_buffer.sample(100, generator=parts.learner.generator)
    assert set(batch.rewards.flatten().tolist()) == {1.0}


@pytest.mark.parametrize("mode", ["lockstep", "threads"])
def test_the_parts_run_to_the_end_and_the_last_save_is_of_the_last_step(
    mode: str, made: Any
) -> None:
    parts = made(config_of(CART_POLE, mode=mode))
    saved: list[int] = []
    policy = CheckpointPolicy(save=saved.append, every_steps=10_000)
    stop = parts.context.stop_event
    with Supervisor(stop, heartbeat_seconds=LIMIT_SECONDS) as supervisor:
        parts.start(supervisor, policy)
        supervisor.watch(until="learner")
    assert parts.env_steps == 1_000
    assert parts.learner.iterations == (1_000 - 16) // 2
    assert saved == [1_000]
    assert {thread.name for thread in threading.enumerate()}.isdisjoint({"actor", "learner"})


@pytest.mark.parametrize("mode", ["lockstep", "threads"])
def test_a_stop_in_the_midst_saves_the_step_at_which_the_actor_came_to_rest(
    mode: str, made: Any
) -> None:
    parts = made(config_of(CART_POLE, mode=mode))
    parts.learner_model.model.register_forward_pre_hook(
        lambda *_: parts.context.stop_event.set() if parts.env_steps > 200 else None
    )
    saved: list[int] = []
    policy = CheckpointPolicy(save=saved.append, every_steps=10_000)
    with Supervisor(parts.context.stop_event, heartbeat_seconds=LIMIT_SECONDS) as supervisor:
        parts.start(supervisor, policy)
        supervisor.watch(until="learner")
    assert 200 < parts.env_steps < 1_000
    assert saved == [parts.env_steps]
