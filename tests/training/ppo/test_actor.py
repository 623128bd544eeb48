"""The actor: what it collects, beside what it belongs, and that its seed decides all of it."""

import threading
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torch import Tensor

from oakemu_rl.config.options import EnvironmentOptions, ModelOptions
from oakemu_rl.core.errors import EnvironmentFaultError
from oakemu_rl.core.masks import action_log_probs, masked_log_probs
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.metrics import names
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.ppo.agent import ppo_agent
from oakemu_rl.training.test_bench import TestBench
from tests.envs.counting import MODES, Counting, vectorised
from tests.training.parts import CPU, Parts, acting_parts, configuration, telling_model
from tests.training.worlds import Calling, Masked

NEVER = threading.Event()


def collect(parts: Parts, handshake: RolloutHandshake | None = None) -> int:
    """Let the actor produce one rollout, select it, and return its slot, which is then free."""
    handshake = handshake or RolloutHandshake()
    parts.acting.produce(handshake)
    slot = handshake.wait_for_rollout(NEVER)
    assert slot is not None
    parts.buffer.select(slot)
    handshake.release(slot)
    return slot


def counting_parts(
    steps: int,
    *,
    mode: AutoresetMode = AutoresetMode.DISABLED,
    count: int = 1,
    gae_lambda: float = 0.0,
    total_steps: int = 1_000,
    actions: tuple[str, ...] = (),
    **changes: Any,
) -> Parts:
    """Environments that count 0, 1, 2, 3 and end, and V(x) = 10 x."""
    config = configuration(
        environment={"actions": actions},
        rollout={"steps": steps, "gamma": 1.0, "gae_lambda": gae_lambda},
        run={"total_steps": total_steps},
    )
    environments = vectorised(*[lambda: Counting(**changes)] * count, mode=mode)
    return acting_parts(config, environments, model=telling_model())


def pairs(parts: Parts) -> list[tuple[float, float]]:
    """(s, s') of every valid row: with gamma 1 and lambda 0 a return is r + V(s'), V(x) = 10 x."""
    storage = parts.buffer.storage
    assert isinstance(storage.observations, Tensor)
    rows = storage.valid.flatten()
    successors = (storage.returns - storage.rewards).flatten()[rows] / 10
    starts = storage.observations.flatten()[rows]
    return list(zip(starts.tolist(), successors.tolist(), strict=True))


ONE_EPISODE = [(0.0, 1.0), (1.0, 2.0), (2.0, 3.0)]


def test_the_step_after_an_end_that_only_resets_is_no_experience() -> None:
    parts = counting_parts(12, mode=AutoresetMode.NEXT_STEP)
    collect(parts)
    assert pairs(parts) == ONE_EPISODE * 3
    assert parts.acting.env_steps == 9
    invalid = (~parts.buffer.storage.valid).flatten().nonzero().flatten()
    assert invalid.tolist() == [3, 7, 11]
    minibatches = parts.buffer.on_policy_minibatches(5, epochs=1, generator=torch.Generator())
    assert [len(batch.actions) for batch in minibatches] == [5, 4]


def test_a_reset_may_fall_on_the_border_of_two_rollouts() -> None:
    parts, found = counting_parts(2, mode=AutoresetMode.NEXT_STEP), []
    handshake = RolloutHandshake()
    for _ in range(6):
        collect(parts, handshake)
        found += pairs(parts)
    assert found == ONE_EPISODE * 3
    assert parts.acting.env_steps == 9
    assert parts.buffer.env_steps == 9


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("terminates", [False, True])
def test_whatever_the_reset_mode_the_same_steps_are_collected(
    mode: AutoresetMode, terminates: bool
) -> None:
    idle = mode is AutoresetMode.NEXT_STEP
    parts = counting_parts(12 if idle else 9, mode=mode, terminates=terminates)
    collect(parts)
    last = (2.0, 0.0 if terminates else 3.0)
    assert pairs(parts) == [*ONE_EPISODE[:2], last] * 3
    assert parts.acting.env_steps == 9


def test_only_where_a_time_limit_cut_an_episode_is_its_last_observation_valued() -> None:
    for terminates, expected in ((False, [0.0, 0.0, 30.0]), (True, [0.0, 0.0, 0.0])):
        parts = counting_parts(3, count=2, terminates=terminates)
        collect(parts)
        assert parts.buffer.storage.final_values.T.tolist() == [expected, expected]


def test_a_rollout_that_is_cut_off_is_bootstrapped_from_the_state_it_stopped_in() -> None:
    parts = counting_parts(2)
    collect(parts)
    assert pairs(parts) == [(0.0, 1.0), (1.0, 2.0)]


def test_advantages_are_discounted_by_the_configuration() -> None:
    parts = counting_parts(3, gae_lambda=1.0)
    collect(parts)
    # Rewards 1, 2, 3, then V = 30: returns 36, 35, 33; V(s) = 0, 10, 20.
    assert parts.buffer.storage.returns.flatten().tolist() == [36.0, 35.0, 33.0]
    assert parts.buffer.storage.advantages.flatten().tolist() == [36.0, 25.0, 13.0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("masks", ["info", "method"])
def test_rewards_flags_and_masks_lie_beside_the_observation_they_belong_to(
    mode: AutoresetMode, masks: str
) -> None:
    parts = counting_parts(16, mode=mode, count=3, masks=masks)
    collect(parts)
    storage = parts.buffer.storage
    assert isinstance(storage.observations, Tensor)
    counts = storage.observations.squeeze(-1)
    legal = torch.arange(3) != (counts % 3)[..., None]
    rows = storage.valid
    assert torch.equal(storage.action_masks[rows], legal[rows])
    assert torch.equal(storage.rewards[rows], counts[rows] + 1)
    assert torch.equal(storage.truncated[rows], counts[rows] == 2)
    assert not storage.terminated.any()
    assert storage.values[rows].tolist() == (10 * counts[rows]).tolist()
    chosen = legal.gather(2, storage.actions[..., None]).squeeze(-1)
    assert bool(chosen[rows].all())
    assert storage.log_probs[rows].tolist() == pytest.approx([-0.6931] * int(rows.sum()), abs=1e-4)


def test_the_actions_that_are_allowed_by_name_are_the_only_ones_taken() -> None:
    parts = counting_parts(64, count=2, actions=("0", "2"))
    collect(parts)
    storage = parts.buffer.storage
    assert set(storage.actions.flatten().tolist()) == {0, 2}
    assert storage.action_masks.flatten(0, 1).unique(dim=0).tolist() == [[True, False, True]]


def test_log_probs_and_values_are_those_of_the_policy_that_chose() -> None:
    config = configuration(rollout={"steps": 32})
    environments = vectorised(Masked, Masked)
    parts = acting_parts(config, environments)
    collect(parts)
    storage = parts.buffer.storage.flat(CPU)
    with torch.no_grad():
        output = parts.model.model(storage.observations)
    log_probs = masked_log_probs(logits=output.logits, mask=storage.action_masks)
    chosen = action_log_probs(log_probs=log_probs, actions=storage.actions)
    assert torch.allclose(storage.log_probs, chosen, atol=1e-5)
    assert torch.allclose(storage.values, output.values, atol=1e-5)


def test_a_rollout_has_one_version_though_newer_weights_are_published_meanwhile() -> None:
    def change_policy(_: int) -> None:
        with parts.model.updating() as model, torch.no_grad():
            model.value_head.bias.add_(1.0)
            parts.model.publish()

    config = configuration(rollout={"steps": 4}, run={"total_steps": 1_000})
    environments = vectorised(lambda: Calling(change_policy))
    parts = acting_parts(config, environments, model=telling_model())
    handshake = RolloutHandshake()
    for version in (0, 4, 8):
        collect(parts, handshake)
        storage = parts.buffer.storage
        assert isinstance(storage.observations, Tensor)
        assert parts.buffer.version == version
        assert torch.equal(storage.values, 10 * storage.observations.squeeze(-1) + version)


def test_a_stop_leaves_the_rollout_unfinished_and_unpublished() -> None:
    stop = threading.Event()
    config = configuration(rollout={"steps": 100}, run={"total_steps": 1_000})
    environments = vectorised(lambda: Calling(lambda step: stop.set() if step == 7 else None))
    parts = acting_parts(config, environments, stop_event=stop)
    handshake = RolloutHandshake()
    parts.acting.run(handshake)
    assert parts.acting.env_steps == 7
    assert set(handshake.phases) == {"free"}
    assert not handshake.closed


def test_the_last_rollout_closes_the_handshake() -> None:
    parts = counting_parts(4, count=2, total_steps=15)
    handshake = RolloutHandshake()
    parts.acting.run(handshake)
    assert handshake.closed
    assert parts.acting.env_steps == 16
    taken = [handshake.wait_for_rollout(NEVER) for _ in range(3)]
    assert taken == [0, 1, None]


def test_late_episodes_and_the_speed_are_reported() -> None:
    parts = counting_parts(9)
    collect(parts)
    ((env_steps, values),) = parts.outlets.records
    assert (env_steps, values[names.TOTAL_TIMESTEPS]) == (9, 9)
    assert (values[names.EPISODE_RETURN_MEAN], values[names.EPISODE_LENGTH_MEAN]) == (6.0, 3.0)
    assert values[names.FPS] > 0.0
    assert values[names.TIME_ELAPSED] > 0.0


def test_rewards_of_numpys_float64_are_stored_as_float32() -> None:
    parts = acting_parts(configuration(rollout={"steps": 3}), vectorised(Calling))
    collect(parts)
    assert parts.buffer.storage.rewards.dtype == torch.float32
    assert parts.buffer.storage.rewards.flatten().tolist() == pytest.approx([1.1] * 3)


def test_observations_may_be_a_mapping() -> None:
    space = gymnasium.spaces.Dict(
        {
            "count": gymnasium.spaces.Box(0.0, 9.0, (1,), np.float32),
            "parity": gymnasium.spaces.Discrete(2),
        }
    )
    environments = vectorised(lambda: Counting(space=space))
    parts = acting_parts(configuration(rollout={"steps": 4}), environments)
    collect(parts)
    observations = parts.buffer.storage.observations
    assert not isinstance(observations, Tensor)
    assert observations["count"].flatten().tolist() == [0.0, 1.0, 2.0, 0.0]
    assert observations["parity"].argmax(dim=-1).flatten().tolist() == [0, 1, 0, 0]


def test_a_state_in_which_no_allowed_action_is_legal_is_named() -> None:
    environments = vectorised(lambda: Counting(masks="method"), lambda: Counting(masks="method"))
    first = environments.action_spec.names[0]
    config = configuration(environment={"actions": (first,)}, rollout={"steps": 4})
    parts = acting_parts(config, environments)
    with pytest.raises(EnvironmentFaultError, match="environment 0: its action mask allows none"):
        collect(parts)


def test_a_failing_environment_is_told_with_its_thread_and_its_number() -> None:
    def fail(step: int) -> None:
        if step == 5:
            raise ValueError("boom")

    stop = threading.Event()
    environments = vectorised(Calling, Calling, lambda: Calling(fail))
    parts = acting_parts(configuration(), environments, stop_event=stop)

    def train() -> None:
        with Supervisor(stop) as supervisor:
            supervisor.start("actor", lambda: parts.acting.run(RolloutHandshake()))
            supervisor.watch(until="actor")

    with pytest.raises(ValueError, match="boom") as raised:
        train()
    assert str(raised.value) == "boom"
    assert raised.value.__notes__ == [
        "raised in environment 2 of 'Calling'",
        "raised in the actor thread",
    ]
    assert "actor" not in [thread.name for thread in threading.enumerate()]


def played(seed: int, *, count: int = 1, disturbed: bool = False) -> list[list[float]]:
    """Observations, actions, rewards and log-probabilities of 1,000 steps of CartPole."""
    config = configuration(
        environment={"id": "CartPole-v1"}, rollout={"steps": 250}, run={"seed": seed}
    )
    environments = make_vector_environment(config.environment, count=count)
    parts = acting_parts(config, environments)
    handshake, found = RolloutHandshake(), []
    for _ in range(4 // count):
        collect(parts, handshake)
        storage = parts.buffer.storage
        assert isinstance(storage.observations, Tensor)
        columns = [storage.actions, storage.rewards, storage.log_probs, storage.observations]
        found += [column.flatten().tolist() for column in columns]
        if disturbed:
            disturb()
    environments.close()
    return found


def disturb() -> None:
    """What must change nothing: another environment, a test, and everybody's random states."""
    options = EnvironmentOptions(id="CartPole-v1")
    bench = TestBench(environment=options, agent=ppo_agent(ModelOptions()), count=2, device=CPU)
    bench.play_random(seeds=[1, 2, 3])
    bench.close()
    make_vector_environment(options, count=3).close()
    torch.manual_seed(7)
    np.random.seed(7)
    gymnasium.make("CartPole-v1").action_space.seed(7)


def test_the_seed_decides_every_action_and_nothing_else_does() -> None:
    one = played(5)
    assert played(5) == one
    assert played(5, disturbed=True) == one
    assert played(6) != one


def test_each_environment_has_a_seed_of_its_own() -> None:
    config = configuration(rollout={"steps": 1}, run={"seed": 3})
    environments = make_vector_environment(EnvironmentOptions(id="CartPole-v1"), count=3)
    parts = acting_parts(config, environments)
    collect(parts)
    observations = parts.buffer.storage.observations
    assert isinstance(observations, Tensor)
    alone = gymnasium.make("CartPole-v1")
    for index in range(3):
        expected, _ = alone.reset(seed=derive_seed(3, "environment", index))
        assert observations[0, index].tolist() == expected.tolist()
    assert len({tuple(row) for row in observations[0].tolist()}) == 3


def test_a_vector_environment_made_elsewhere_trains_as_well() -> None:
    envs = SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 2)
    parts = acting_parts(configuration(rollout={"steps": 64}), VectorEnvironment(envs))
    collect(parts)
    assert parts.acting.env_steps == int(parts.buffer.storage.valid.sum()) < 128
