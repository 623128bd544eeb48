"""From the environments' arrays to the model's tensors."""

from collections.abc import Mapping

import torch

from oakemu_rl.core.observations import Observations
from oakemu_rl.envs.spaces import Batch


def observation_batch(observations: Batch, device: torch.device) -> Observations:
    """Arrays [B, ...] as tensors on `device`; no copy where both lie in the host's memory."""
    if isinstance(observations, Mapping):
        return {name: torch.from_numpy(array).to(device) for name, array in observations.items()}
    return torch.from_numpy(observations).to(device)
