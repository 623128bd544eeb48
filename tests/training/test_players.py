"""Whole episodes: no illegal action, one seed one episode, whoever plays."""

import gymnasium
import numpy as np
import pytest
import torch
from torch import Tensor

from oakemu_rl.config.options import EnvironmentOptions, ModelOptions
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.episodes import Choose, EpisodePlayer, LiveStates
from oakemu_rl.training.players import random_player
from oakemu_rl.training.ppo.agent import PPOAgent, ppo_agent
from oakemu_rl.training.test_bench import TestBench
from tests.training.parts import CPU, small_model
from tests.training.worlds import ACTIONS, MASKED_ID, Masked

MASKED = EnvironmentOptions(id=MASKED_ID)
CART_POLE = EnvironmentOptions(id="CartPole-v1")
LENGTH = 20
HIDDEN = ModelOptions(hidden_sizes=(8,))


def masked_player(count: int, **arguments: int) -> EpisodePlayer:
    options = EnvironmentOptions(id=MASKED_ID, arguments=arguments)
    return EpisodePlayer([make_vector_environment(options, count=1) for _ in range(count)])


def agent(
    player: EpisodePlayer, mode: str, *, names: tuple[str, ...] = (), seed: int = 0
) -> Choose:
    first = player.environments[0]
    return PPOAgent(module=small_model(first.observation_spec, actions=ACTIONS)).player(
        masker=ActionMasker(first.action_spec, names),
        device=CPU,
        mode=mode,
        generator=torch.Generator().manual_seed(seed),
    )


def chance(player: EpisodePlayer, *, names: tuple[str, ...] = ()) -> Choose:
    return random_player(
        action_count=ACTIONS,
        masker=ActionMasker(player.environments[0].action_spec, names),
        generator=torch.Generator().manual_seed(0),
    )


@pytest.mark.parametrize("who", ["greedy", "sampled", "random"])
def test_in_10_000_steps_with_random_masks_no_action_is_illegal(who: str) -> None:
    player = masked_player(50, length=200)
    choose = chance(player) if who == "random" else agent(player, who)
    played = player.play(choose, seeds=range(50))
    assert played is not None
    # An illegal action would have raised in the environment.
    assert sum(episode.length for episode in played) == 10_000
    assert {action for episode in played for action in episode.actions} == set(range(ACTIONS))


def test_the_greedy_agent_takes_the_likeliest_legal_action_and_the_sampled_one_others_too() -> None:
    player = masked_player(4)
    environment = player.environments[0]
    environment.reset([3])
    model = small_model(environment.observation_spec, actions=ACTIONS)
    masks = environment.action_masks
    assert masks is not None
    assert isinstance(environment.observations, np.ndarray)
    with torch.no_grad():
        logits = model(torch.from_numpy(environment.observations)).logits
    best = int(logits.masked_fill(~torch.from_numpy(masks), -torch.inf).argmax())
    states = LiveStates(
        environments=[environment],
        observations=environment.observations,
        action_masks=masks,
    )
    assert agent(player, "greedy")(states).tolist() == [best]
    choose = agent(player, "sampled")
    drawn = {int(choose(states)[0]) for _ in range(200)}
    assert drawn <= set(np.flatnonzero(masks[0]).tolist())
    assert best in drawn
    assert len(drawn) > 1


def test_actions_that_are_not_allowed_by_name_are_not_played() -> None:
    bench = TestBench(
        environment=EnvironmentOptions(id="CartPole-v1", actions=("1",)),
        agent=ppo_agent(HIDDEN),
        count=2,
        device=CPU,
    )
    played = [
        bench.play_random(seeds=[1, 2]),
        bench.play_agent(cart_pole_weights(), seeds=[1, 2], mode="greedy"),
        bench.play_agent(cart_pole_weights(), seeds=[1, 2], mode="sampled"),
    ]
    bench.close()
    for episodes in played:
        assert episodes is not None
        assert {action for episode in episodes for action in episode.actions} == {1}


@pytest.mark.parametrize("count", [1, 3, 10, 25])
def test_an_episode_is_tied_to_its_seed_and_not_to_the_number_of_environments(count: int) -> None:
    seeds = [11, 7, 3, 3, 9, 40, 41, 42, 43, 44]
    alone = {}
    player = masked_player(1)
    for seed in set(seeds):
        (alone[seed],) = player.play(agent(player, "greedy"), seeds=[seed]) or ()
    together = masked_player(count)
    played = together.play(agent(together, "greedy"), seeds=seeds)
    assert played == tuple(alone[seed] for seed in seeds)
    assert len({episode.actions for episode in alone.values()}) > 1


def test_what_was_played_before_changes_no_episode() -> None:
    player = masked_player(2)
    first = player.play(agent(player, "greedy"), seeds=[1, 2, 3])
    player.play(chance(player), seeds=[8, 9])
    assert player.play(agent(player, "greedy"), seeds=[1, 2, 3]) == first


def test_an_episode_tells_its_score_its_length_its_actions_and_its_success() -> None:
    player = masked_player(1)
    (episode,) = player.play(chance(player), seeds=[5]) or ()
    assert (episode.seed, episode.length, len(episode.actions)) == (5, LENGTH, LENGTH)
    assert episode.score == float(sum(episode.actions))
    assert episode.success is (episode.actions[-1] % 2 == 0)


def test_the_mean_is_of_whole_episodes_though_some_are_longer_than_others() -> None:
    """Longer episodes must not be cut off, nor shorter ones be counted more than once."""
    environments = [
        make_vector_environment(EnvironmentOptions(id=MASKED_ID, arguments={"length": n}), count=1)
        for n in (3, 50)
    ]
    player = EpisodePlayer(environments)
    played = player.play(chance(player), seeds=range(6))
    assert played is not None
    assert [episode.seed for episode in played] == list(range(6))
    assert sorted(episode.length for episode in played) == [3, 3, 3, 3, 3, 50]


def test_a_stop_cuts_a_test_short_and_the_next_one_is_whole() -> None:
    player, asked = masked_player(2), []

    def should_stop() -> bool:
        asked.append(True)
        return len(asked) > 5

    assert player.play(chance(player), seeds=[1, 2, 3], should_stop=should_stop) is None
    assert len(asked) == 6
    assert player.play(agent(player, "greedy"), seeds=[1]) == masked_player(1).play(
        agent(player, "greedy"), seeds=[1]
    )


def test_there_may_be_nothing_to_play() -> None:
    player = masked_player(1)
    assert player.play(chance(player), seeds=[]) == ()


def cart_pole_weights(seed: int = 0) -> dict[str, Tensor]:
    environment = make_vector_environment(CART_POLE, count=1)
    spec = environment.observation_spec
    environment.close()
    return small_model(spec, actions=2, seed=seed, options=HIDDEN).state_dict()


def bench_of(options: EnvironmentOptions, count: int = 3) -> TestBench:
    return TestBench(environment=options, agent=ppo_agent(HIDDEN), count=count, device=CPU)


def test_a_bench_that_cannot_be_made_closes_its_environments() -> None:
    closed: list[Masked] = []

    class Closing(Masked):
        def close(self) -> None:
            closed.append(self)

    name = "oakemu-tests/Closing-v0"
    gymnasium.register(name, entry_point=Closing)
    try:
        with pytest.raises(ConfigurationError, match="unknown action 'jump'"):
            bench_of(EnvironmentOptions(id=name, actions=("jump",)), count=2)
    finally:
        del gymnasium.registry[name]
    assert len(closed) == 2


@pytest.mark.parametrize("mode", ["greedy", "sampled"])
def test_the_bench_plays_the_weights_it_is_given_and_leaves_them_as_they_are(mode: str) -> None:
    bench, other = bench_of(CART_POLE), bench_of(CART_POLE)
    weights = [cart_pole_weights(seed) for seed in (0, 1)]
    before = [{name: tensor.clone() for name, tensor in each.items()} for each in weights]
    played = [bench.play_agent(each, seeds=[4, 5], mode=mode) for each in (*weights, weights[0])]
    assert played[0] == played[2] != played[1]
    assert played[0] == other.play_agent(weights[0], seeds=[4, 5], mode=mode)
    for each, copy in zip(weights, before, strict=True):
        assert all(torch.equal(each[name], copy[name]) for name in copy)
    bench.close()
    other.close()


def test_draws_depend_on_no_global_random_state() -> None:
    bench, found = bench_of(CART_POLE), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        np.random.seed(seed)
        found.append(
            (
                bench.play_random(seeds=[4, 5]),
                bench.play_agent(cart_pole_weights(), seeds=[4, 5], mode="sampled"),
            )
        )
    bench.close()
    assert found[0] == found[1]


def test_an_episode_is_drawn_again_from_its_seed_and_its_actions() -> None:
    options = EnvironmentOptions(id="acorns", max_episode_steps=12)
    bench = bench_of(options, count=1)
    (episode,) = bench.play_scripted(seeds=[3]) or ()
    frames = bench.frames(episode, most=100)
    assert len(frames) == episode.length == 12
    assert {frame.shape for frame in frames} == {frames[0].shape}
    first = bench.frames(episode, most=5)
    assert [frame.tolist() for frame in first] == [frame.tolist() for frame in frames[:5]]
    assert len(bench.frames(episode, most=1)) == 1
    assert bench.frames_per_second > 0
    bench.close()


def test_only_games_of_ours_have_a_scripted_player() -> None:
    bench = bench_of(CART_POLE, count=1)
    assert bench.play_scripted(seeds=[1]) is None
    bench.close()


def test_the_scripted_player_reads_each_games_own_memory() -> None:
    options = EnvironmentOptions(id="acorns", max_episode_steps=40)
    apart, together = bench_of(options, count=1), bench_of(options, count=3)
    seeds = [21, 22, 23]
    expected = [apart.play_scripted(seeds=[seed]) for seed in seeds]
    played = together.play_scripted(seeds=seeds)
    assert played is not None
    assert [(episode,) for episode in played] == expected
    assert len({episode.actions for episode in played}) > 1
    apart.close()
    together.close()


def test_an_episode_that_does_not_end_counts_as_it_stands_after_the_limit() -> None:
    environment = make_vector_environment(CART_POLE, count=1)
    player = EpisodePlayer([environment], max_episode_steps=5)
    episodes = player.play(lambda states: np.array([0], dtype=np.int64), seeds=[1, 2])
    assert episodes is not None
    assert [(each.score, each.length, each.success) for each in episodes] == [(5.0, 5, None)] * 2
