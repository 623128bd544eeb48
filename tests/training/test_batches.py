"""From arrays to tensors."""

import numpy as np
import pytest
import torch
from torch import Tensor

from oakemu_rl.core.masks import NoLegalActionError
from oakemu_rl.training.batches import mask_batch, observation_batch
from tests.training.parts import CPU

META = torch.device("meta")
"""A device that is not the host's memory, wherever the test runs."""


def test_observations_keep_their_dtype_and_are_not_copied_on_the_cpu() -> None:
    frames = np.zeros((2, 1, 3, 3), dtype=np.uint8)
    tensor = observation_batch(frames, CPU)
    assert isinstance(tensor, Tensor)
    assert tensor.dtype == torch.uint8
    frames[0] = 7
    assert int(tensor[0].sum()) == 63


def test_a_mapping_stays_one() -> None:
    batch = observation_batch(
        {"a": np.ones((2, 3), np.float32), "b": np.zeros((2, 1, 2, 2), np.uint8)}, META
    )
    assert not isinstance(batch, Tensor)
    assert {name: (each.shape, each.dtype, each.device) for name, each in batch.items()} == {
        "a": ((2, 3), torch.float32, META),
        "b": ((2, 1, 2, 2), torch.uint8, META),
    }


def test_masks_are_looked_at_before_they_leave_the_hosts_memory() -> None:
    masks = torch.tensor([[True, False], [False, True]])
    moved = mask_batch(masks, META)
    assert moved is not None
    assert moved.device == META
    assert mask_batch(masks, CPU) is masks
    assert mask_batch(None, META) is None
    masks[1] = False
    with pytest.raises(NoLegalActionError, match="environment 1: its action mask allows none of 2"):
        mask_batch(masks, META)
