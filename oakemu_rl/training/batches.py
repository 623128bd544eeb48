"""From the environments' arrays to the model's tensors."""

from collections.abc import Mapping

import torch
from torch import Tensor

from oakemu_rl.core.masks import check_masks
from oakemu_rl.core.observations import Observations
from oakemu_rl.envs.spaces import Batch


def observation_batch(observations: Batch, device: torch.device) -> Observations:
    """Arrays [B, ...] as tensors on `device`; no copy where both lie in the host's memory."""
    if isinstance(observations, Mapping):
        return {name: torch.from_numpy(array).to(device) for name, array in observations.items()}
    return torch.from_numpy(observations).to(device)


def mask_batch(masks: Tensor | None, device: torch.device) -> Tensor | None:
    """Masks [B, A] in the host's memory, on `device`.

    They are looked at before they leave: on an accelerator that would mean to wait for it, so that
    nobody does it there.

    Raises:
        NoLegalActionError: a row allows no action.
    """
    if masks is None or device.type == "cpu":
        return masks
    check_masks(masks)
    return masks.to(device)
