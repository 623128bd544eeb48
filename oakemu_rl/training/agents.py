"""What plays in a test: a network, and how it chooses actions. Each algorithm has its own."""

from collections.abc import Callable
from typing import Protocol

import torch
from torch import nn

from oakemu_rl.core.observations import ActionSpec, ObservationSpec
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.episodes import Choose


class Agent(Protocol):
    """A network into which weights are loaded, and the player that it makes."""

    @property
    def module(self) -> nn.Module:
        """The network."""

    def player(
        self, *, masker: ActionMasker, device: torch.device, mode: str, generator: torch.Generator
    ) -> Choose:
        """Plays as `mode` says, greedy or sampled; `generator` belongs to `device`."""


AgentBuilder = Callable[[ObservationSpec, ActionSpec], Agent]
"""Makes an agent that fits the observations and actions of an environment."""
