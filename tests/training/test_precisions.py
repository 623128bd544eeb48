"""The precisions of the configuration."""

import attrs
import pytest
import torch

from oakemu_rl.config.dqn import DQNOptimisationOptions
from oakemu_rl.config.ppo import OptimisationOptions
from oakemu_rl.training.precisions import PRECISIONS


@pytest.mark.parametrize("options", [OptimisationOptions, DQNOptimisationOptions])
def test_each_name_that_may_be_configured_is_a_type_of_floats(options: type) -> None:
    assert set(PRECISIONS) == {"float32", "bfloat16", "float16"}
    for name, dtype in PRECISIONS.items():
        assert options(precision=name).precision == name
        assert str(dtype) == f"torch.{name}"
        assert dtype.is_floating_point
    assert PRECISIONS[attrs.fields(options).precision.default] is torch.float32
