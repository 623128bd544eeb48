"""How a PPO model plays in a test: by its policy."""

import attrs
import torch

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.masks import greedy_actions, sample_actions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec
from oakemu_rl.models.ppo import PPOModel, build_ppo_model
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.agents import AgentBuilder
from oakemu_rl.training.batches import mask_batch, observation_batch
from oakemu_rl.training.episodes import Actions, Choose, LiveStates


@attrs.frozen(kw_only=True, eq=False)
class PPOAgent:
    """Takes the likeliest legal action where the mode is greedy, a draw where it is sampled."""

    module: PPOModel

    def player(
        self, *, masker: ActionMasker, device: torch.device, mode: str, generator: torch.Generator
    ) -> Choose:
        """Plays as `mode` says; `generator` belongs to `device`."""

        @torch.inference_mode()
        def choose(states: LiveStates) -> Actions:
            logits = self.module(observation_batch(states.observations, device)).logits
            mask = mask_batch(masker.masks(states.action_masks, rows=len(logits)), device)
            if mode == "greedy":
                actions = greedy_actions(logits=logits, mask=mask)
            else:
                actions = sample_actions(logits=logits, mask=mask, generator=generator)
            chosen: Actions = actions.cpu().numpy()
            return chosen

        return choose


def ppo_agent(options: ModelOptions) -> AgentBuilder:
    """Makes PPO agents with this network; their weights are to be loaded."""

    def build(observation_spec: ObservationSpec, action_spec: ActionSpec) -> PPOAgent:
        model = build_ppo_model(
            observation_spec=observation_spec,
            action_spec=action_spec,
            options=options,
            generator=torch.Generator(),
        )
        return PPOAgent(module=model)

    return build
