"""What a record may hold."""

import math

import numpy as np
import pytest
import torch

from oakemu_rl.metrics.values import checked_values


@pytest.mark.parametrize(
    "value", [torch.tensor(1.0), torch.tensor(1.0, requires_grad=True), True, "1", None, [1.0], 1j]
)
def test_what_is_no_plain_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(TypeError, match=f"'train/loss' must be .* got {type(value).__name__}"):
        checked_values({"train/loss": value})  # type: ignore[dict-item]


def test_numbers_become_plain_ones_and_keep_their_kind() -> None:
    values = checked_values({"a": np.float32(0.5), "b": np.int64(2**53 + 1), "c": 3, "d": math.inf})
    assert values == {"a": 0.5, "b": 2**53 + 1, "c": 3, "d": math.inf}
    assert [type(value) for value in values.values()] == [float, int, int, float]


def test_the_key_of_the_step_is_not_for_a_metric() -> None:
    with pytest.raises(ValueError, match="no metric may be called 'env_steps'"):
        checked_values({"env_steps": 1.0})
