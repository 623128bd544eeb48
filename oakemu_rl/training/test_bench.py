"""Environments and a model for tests: plays the agent, chance, or a scripted player on given
seeds."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import numpy as np
import torch
from torch import Tensor

from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.observations import ActionSpec
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.envs.games.players import scripted_player
from oakemu_rl.envs.spaces import Array
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.agents import Agent, AgentBuilder
from oakemu_rl.training.episodes import Choose, EpisodePlayer, PlayedEpisode
from oakemu_rl.training.players import random_player, scripted_choice

Episodes = tuple[PlayedEpisode, ...]


class TestBench:
    """Plays whole episodes from the true start on environments of its own.

    Args:
        environment: what is played.
        agent: makes what plays; weights are copied into its network.
        count: environments that are stepped together.
        device: where the network computes.
        max_episode_steps: steps after which an episode counts as it stands.
        should_stop: cuts episodes short; what was being played then is None.
    """

    __test__ = False  # pytest would take the name for a test class

    def __init__(
        self,
        *,
        environment: EnvironmentOptions,
        agent: AgentBuilder,
        count: int,
        device: torch.device,
        max_episode_steps: int = 20_000,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._options = environment
        self._device = device
        self._should_stop = should_stop
        with ExitStack() as undo:
            environments: list[VectorEnvironment] = []
            for _ in range(count):
                environments.append(make_vector_environment(environment, count=1))
                undo.callback(environments[-1].close)
            first = environments[0]
            self._actions: ActionSpec = first.action_spec
            self._masker = ActionMasker(first.action_spec, environment.actions)
            self._agent: Agent = agent(first.observation_spec, first.action_spec)
            self._agent.module.to(device)
            undo.pop_all()
        self._player = EpisodePlayer(environments, max_episode_steps=max_episode_steps)

    def fits(self, weights: Mapping[str, Tensor]) -> bool:
        """Whether the network has tensors of these names and shapes."""
        own = self._agent.module.state_dict()
        return {name: tensor.shape for name, tensor in own.items()} == {
            name: tensor.shape for name, tensor in weights.items()
        }

    def play_agent(
        self, weights: Mapping[str, Tensor], *, seeds: Sequence[int], mode: str
    ) -> Episodes | None:
        """One episode for each seed with these weights; `mode` is greedy or sampled."""
        self._agent.module.load_state_dict(weights)
        # A generator of this test's own: how long other tests were changes none of its draws.
        generator = torch.Generator(self._device).manual_seed(derive_seed(seeds[0], "draws"))
        choose = self._agent.player(
            masker=self._masker, device=self._device, mode=mode, generator=generator
        )
        return self._play(choose, seeds)

    def play_random(self, *, seeds: Sequence[int]) -> Episodes | None:
        """One episode for each seed with legal actions at random."""
        generator = torch.Generator().manual_seed(derive_seed(seeds[0], "random player"))
        choose = random_player(
            action_count=self._actions.count, masker=self._masker, generator=generator
        )
        return self._play(choose, seeds)

    def play_scripted(self, *, seeds: Sequence[int]) -> Episodes | None:
        """One episode for each seed with the game's scripted player; None where there is none."""
        player = scripted_player(self._options.id)
        return None if player is None else self._play(scripted_choice(player), seeds)

    def frames(self, episode: PlayedEpisode, *, most: int) -> list[Array]:
        """The first pictures of an episode, up to `most`, played again from its seed and actions;
        none where the environment draws none."""
        environment = make_vector_environment(self._options, count=1, render=True)
        try:
            environment.reset([episode.seed])
            frames = [environment.render(0)]
            # The last action is left out: what is drawn after it is the next episode.
            for action in episode.actions[:-1][: most - 1]:
                environment.step(np.array([action], dtype=np.int64))
                frames.append(environment.render(0))
        except NotImplementedError:  # what Gymnasium's Env.render raises where nobody wrote one
            return []
        finally:
            environment.close()
        return [frame for frame in frames if frame is not None]

    @property
    def frames_per_second(self) -> float:
        """How many pictures of an episode make a second."""
        return self._player.environments[0].frames_per_second

    def close(self) -> None:
        """Close the environments."""
        self._player.close()

    def _play(self, choose: Choose, seeds: Sequence[int]) -> Episodes | None:
        return self._player.play(choose, seeds=seeds, should_stop=self._should_stop)
