"""How a DQN model plays in a test: by its action values."""

import attrs
import torch

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.exploration import epsilon_greedy_actions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.agents import AgentBuilder
from oakemu_rl.training.batches import mask_batch, observation_batch
from oakemu_rl.training.episodes import Actions, Choose, LiveStates


@attrs.frozen(kw_only=True, eq=False)
class DQNAgent:
    """Takes the legal action of greatest value; where the mode is sampled, a random legal one with
    probability `test_epsilon`. A noisy model plays without its noise, which is taken from it."""

    module: DQNModel
    test_epsilon: float

    def player(
        self, *, masker: ActionMasker, device: torch.device, mode: str, generator: torch.Generator
    ) -> Choose:
        """Plays as `mode` says; `generator` belongs to `device`."""
        epsilon = 0.0 if mode == "greedy" else self.test_epsilon
        self.module.remove_noise()

        @torch.inference_mode()
        def choose(states: LiveStates) -> Actions:
            observations = observation_batch(states.observations, device)
            rows = len(states.environments)
            mask = mask_batch(masker.masks(states.action_masks, rows=rows), device)
            actions = epsilon_greedy_actions(
                q_values=self.module(observations, mask),
                mask=mask,
                epsilon=epsilon,
                generator=generator,
            )
            chosen: Actions = actions.cpu().numpy()
            return chosen

        return choose


def dqn_agent(configuration: DQNExperimentConfiguration) -> AgentBuilder:
    """Makes DQN agents with this network; their weights are to be loaded."""

    def build(observation_spec: ObservationSpec, action_spec: ActionSpec) -> DQNAgent:
        model = build_dqn_model(
            observation_spec=observation_spec,
            action_spec=action_spec,
            options=configuration.model,
            generator=torch.Generator(),
        )
        return DQNAgent(module=model, test_epsilon=configuration.exploration.test_epsilon)

    return build
