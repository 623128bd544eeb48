"""The values of true successors: a worked table, and arguments that are refused."""

from typing import Any

import pytest
import torch

from oakemu_rl.core.successors import successor_values


def arguments() -> dict[str, Any]:
    return {
        "values": torch.tensor([[1.0, 5.0], [2.0, 6.0]]),
        "final_values": torch.tensor([[torch.nan, 70.0], [30.0, torch.nan]]),
        "ended": torch.tensor([[False, True], [True, False]]),
        "last_values": torch.tensor([3.0, 7.0]),
    }


def test_a_step_is_followed_by_the_next_row_unless_its_episode_ended() -> None:
    assert successor_values(**arguments()).tolist() == [[2.0, 70.0], [30.0, 7.0]]


@pytest.mark.parametrize("name", ["values", "final_values", "ended", "last_values"])
def test_another_shape_is_refused_by_name(name: str) -> None:
    wrong = arguments()
    with pytest.raises(ValueError, match=f"^{name}: expected shape"):
        successor_values(**wrong | {name: wrong[name][None]})


def test_flags_must_be_bool() -> None:
    wrong = arguments()
    with pytest.raises(TypeError, match="ended: expected a bool tensor"):
        successor_values(**wrong | {"ended": wrong["ended"].float()})
