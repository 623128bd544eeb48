"""Whom an agent is compared with in a test: chance, and a game's scripted player."""

import numpy as np
import torch

from oakemu_rl.core.masks import sample_actions
from oakemu_rl.envs.games.players import ScriptedPlayer
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.episodes import Actions, Choose, LiveStates


def random_player(*, action_count: int, masker: ActionMasker, generator: torch.Generator) -> Choose:
    """Chance: every legal action is equally likely."""

    def choose(states: LiveStates) -> Actions:
        rows = len(states.environments)
        mask = masker.masks(states.action_masks, rows=rows)
        logits = torch.zeros(rows, action_count)
        chosen: Actions = sample_actions(logits=logits, mask=mask, generator=generator).numpy()
        return chosen

    return choose


def scripted_choice(player: ScriptedPlayer) -> Choose:
    """A game's scripted player, which reads the memory instead of the screen."""

    def choose(states: LiveStates) -> Actions:
        return np.array(
            [player.act(environment.values(0)) for environment in states.environments],
            dtype=np.int64,
        )

    return choose
