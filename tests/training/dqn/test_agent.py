"""How a DQN model plays in a test."""

from typing import Any

import numpy as np
import pytest
import torch

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.dqn.agent import DQNAgent, dqn_agent
from oakemu_rl.training.episodes import Choose, EpisodePlayer, LiveStates
from oakemu_rl.training.test_bench import TestBench
from tests.training.dqn.parts import config_of, noise_of, small_model
from tests.training.parts import CPU, NUMBER, THREE
from tests.training.worlds import ACTIONS, MASKED_ID

MASKED = EnvironmentOptions(id=MASKED_ID, arguments={"length": 200})
MODES = ("greedy", "sampled")


def chooser(
    model: DQNModel, mode: str, *, test_epsilon: float = 0.5, names: tuple[str, ...] = ()
) -> Choose:
    environment = make_vector_environment(MASKED, count=1)
    return DQNAgent(module=model, test_epsilon=test_epsilon).player(
        masker=ActionMasker(environment.action_spec, names),
        device=CPU,
        mode=mode,
        generator=torch.Generator().manual_seed(0),
    )


def states(count: int = 1) -> LiveStates:
    """The first states of so many episodes, without the masks of the environment."""
    environment = make_vector_environment(MASKED, count=count)
    environment.reset(range(count))
    return LiveStates(
        environments=[environment] * count,
        observations=environment.observations,
        action_masks=None,
    )


def masked_model(**options: Any) -> DQNModel:
    spec = make_vector_environment(MASKED, count=1).observation_spec
    return small_model(spec, actions=ACTIONS, **options)


@pytest.mark.parametrize(
    ("mode", "kind"), [("greedy", {"dueling": True, "noisy": True, "atoms": 5}), ("sampled", {})]
)
def test_in_10_000_steps_with_random_masks_no_action_is_illegal(
    mode: str, kind: dict[str, Any]
) -> None:
    player = EpisodePlayer([make_vector_environment(MASKED, count=1) for _ in range(50)])
    played = player.play(chooser(masked_model(**kind), mode), seeds=range(50))
    assert played is not None
    # An illegal action would have raised in the environment.
    assert sum(episode.length for episode in played) == 10_000
    assert {action for episode in played for action in episode.actions} == set(range(ACTIONS))


def test_greedy_takes_the_greatest_legal_value_and_sampled_a_random_one_at_times() -> None:
    model, seen = masked_model(), states(400)
    with torch.no_grad():
        assert isinstance(seen.observations, np.ndarray)
        values = model(torch.from_numpy(seen.observations))
    best = values.argmax(dim=1).numpy()
    assert (chooser(model, "greedy")(seen) == best).all()
    others = chooser(model, "sampled", test_epsilon=0.5)(seen) != best
    # Half are random, and a fifth of those is the best again.
    assert others.mean() == pytest.approx(0.4, abs=0.08)
    assert (chooser(model, "sampled", test_epsilon=0.0)(seen) == best).all()
    allowed = chooser(model, "greedy", names=("0", "3"))(seen)
    assert (allowed == np.where(values[:, 0] >= values[:, 3], 0, 3)).all()


def test_a_test_is_played_without_noise() -> None:
    model, seen = masked_model(noisy=True), states(50)
    quiet = chooser(model, "greedy")(seen)
    model.resample_noise(torch.Generator().manual_seed(0))
    with torch.no_grad():
        assert isinstance(seen.observations, np.ndarray)
        loud = model(torch.from_numpy(seen.observations)).argmax(dim=1).numpy()
    assert (loud != quiet).any()
    assert (chooser(model, "greedy")(seen) == quiet).all()
    assert not bool(noise_of(model).any())


def test_agents_are_built_as_configured_and_take_up_saved_weights() -> None:
    options: dict[str, Any] = {"dueling": True, "noisy": True, "atoms": 5}
    config = config_of(model=options | {"hidden_sizes": (8,)}, exploration={"test_epsilon": 0.2})
    agent = dqn_agent(config)(NUMBER, THREE)
    assert isinstance(agent, DQNAgent)
    assert agent.test_epsilon == 0.2
    assert (agent.module.is_noisy, agent.module.is_categorical) == (True, True)
    trained = small_model(seed=3, **options)
    trained.resample_noise(torch.Generator().manual_seed(1))
    agent.module.load_state_dict(trained.state_dict())
    trained.remove_noise()
    numbers = torch.linspace(-1.0, 1.0, 9).unsqueeze(1)
    assert torch.equal(agent.module(numbers), trained(numbers))


@pytest.mark.parametrize("mode", MODES)
def test_the_bench_gives_each_seed_the_same_game_again(mode: str) -> None:
    config = DQNExperimentConfiguration(model=config_of().model)
    bench = TestBench(environment=MASKED, agent=dqn_agent(config), count=2, device=CPU)
    weights = masked_model(seed=1).state_dict()
    assert bench.fits(weights)
    played = [bench.play_agent(weights, seeds=[4, 5, 6], mode=mode) for _ in range(2)]
    assert played[0] == played[1]
    other = bench.play_agent(masked_model(seed=2).state_dict(), seeds=[4, 5, 6], mode=mode)
    assert other != played[0]
    bench.close()
