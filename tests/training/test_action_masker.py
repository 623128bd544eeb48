"""Actions that are allowed by name, and those that a state allows."""

import numpy as np
import pytest
import torch

from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.core.observations import ActionSpec
from oakemu_rl.training.action_masker import ActionMasker

SPEC = ActionSpec(names=("NOOP", "LEFT", "RIGHT", "FIRE"))


def test_names_become_a_mask_whatever_their_order() -> None:
    mask = ActionMasker(SPEC, ["RIGHT", "NOOP"]).static_mask
    assert mask is not None
    assert (mask.dtype, mask.tolist()) == (torch.bool, [True, False, True, False])


def test_without_names_and_without_masks_of_states_there_is_no_mask() -> None:
    masker = ActionMasker(SPEC)
    assert masker.static_mask is None
    assert masker.masks(None, rows=3) is None


def test_allowed_names_hold_in_every_state() -> None:
    masks = ActionMasker(SPEC, ["LEFT"]).masks(None, rows=2)
    assert masks is not None
    assert masks.tolist() == [[False, True, False, False]] * 2


def test_masks_of_states_are_taken_as_they_are_without_names() -> None:
    states = np.array([[True, False, True, False], [False, False, False, True]])
    masks = ActionMasker(SPEC).masks(states, rows=2)
    assert masks is not None
    assert masks.tolist() == states.tolist()


def test_an_action_must_be_allowed_by_its_name_and_by_the_state() -> None:
    states = np.array([[True, False, True, True], [False, True, False, True]])
    masks = ActionMasker(SPEC, ["LEFT", "FIRE"]).masks(states, rows=2)
    assert masks is not None
    assert masks.tolist() == [[False, False, False, True], [False, True, False, True]]
    assert states[0].tolist() == [True, False, True, True]


def test_an_unknown_name_is_told_with_the_nearest_one_and_all_that_are_allowed() -> None:
    with pytest.raises(ConfigurationError) as raised:
        ActionMasker(SPEC, ["LEFT", "RIHGT"])
    assert str(raised.value) == (
        "environment.actions: unknown action 'RIHGT'; did you mean RIGHT? "
        "(allowed: NOOP, LEFT, RIGHT, FIRE)"
    )
    with pytest.raises(ConfigurationError, match=r"unknown action 'jump' \(allowed: NOOP"):
        ActionMasker(SPEC, ["jump"])
