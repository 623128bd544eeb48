"""Wrong versions of seeds, observations and checks."""

import math
from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from oakemu_rl.core import checks, number_checks, precision
from property_tests.laws import mutant_of


@mutant_of(core.derive_seed)
def index_left_out(seed: int, role: str, index: int = 0) -> int:
    return core.derive_seed(seed, role, 0 * index)


@mutant_of(core.derive_seed)
def seeds_added(seed: int, role: str, index: int = 0) -> int:
    core.derive_seed(seed, role, index)
    return (core.derive_seed(0, role) + seed + index) % 2**31


@mutant_of(core.map_observations)
def only_the_first_is_mapped(function: Any, observations: Any) -> Any:
    if isinstance(observations, Tensor):
        return function(observations)
    first = next(iter(observations))
    return {**observations, first: function(observations[first])}


@mutant_of(core.observation_tensors)
def lone_tensor_without_a_name(observations: Any) -> Any:
    return {"": observations} if isinstance(observations, Tensor) else dict(observations)


@mutant_of(core.observation_specs)
def lone_spec_without_a_name(spec: Any) -> Any:
    return {"": spec} if isinstance(spec, core.TensorSpec) else dict(spec)


@mutant_of(core.batch_size)
def size_of_the_last_dimension(observations: Any) -> int:
    return int(next(iter(core.observation_tensors(observations).values())).shape[-1])


@mutant_of(checks.check_floating)
def integers_pass_for_floating(name: str, tensor: Tensor) -> None:
    if tensor.dtype == torch.bool:
        checks.check_floating(name, tensor)


@mutant_of(checks.check_bool)
def bytes_pass_for_bool(name: str, tensor: Tensor) -> None:
    if tensor.dtype != torch.uint8:
        checks.check_bool(name, tensor)


@mutant_of(checks.check_integer)
def bool_passes_for_an_integer(name: str, tensor: Tensor) -> None:
    if tensor.dtype != torch.bool:
        checks.check_integer(name, tensor)


@mutant_of(checks.check_integer)
def only_int64_passes(name: str, tensor: Tensor) -> None:
    checks.check_integer(name, tensor if tensor.dtype == torch.int64 else tensor.float())


@mutant_of(checks.check_dimensions)
def more_dimensions_pass(name: str, tensor: Tensor, letters: str) -> None:
    if tensor.dim() < len(letters):
        checks.check_dimensions(name, tensor, letters)


@mutant_of(checks.check_shape)
def equal_sizes_pass(name: str, tensor: Tensor, shape: Any, letters: str) -> None:
    if tensor.numel() != math.prod(shape):
        checks.check_shape(name, tensor, shape, letters)


@mutant_of(checks.check_mask)
def a_mask_of_one_row_passes_for_all(name: str, mask: Tensor, rows_and_actions: Any) -> None:
    if mask.dim() != 2 or mask.shape[0] != 1:
        checks.check_mask(name, mask, rows_and_actions)


@mutant_of(checks.check_mask)
def numbers_pass_for_truth_values(name: str, mask: Tensor, rows_and_actions: Any) -> None:
    if mask.dtype == torch.bool:
        checks.check_mask(name, mask, rows_and_actions)


@mutant_of(number_checks.is_finite)
def any_integer_is_finite(value: float) -> bool:
    return isinstance(value, int) or math.isfinite(value)


@mutant_of(number_checks.is_finite)
def only_nan_is_not_finite(value: float) -> bool:
    return value == value


@mutant_of(number_checks.check_fraction)
def percentages_pass(name: str, value: float) -> None:
    number_checks.check_fraction(name, value / 100)


@mutant_of(number_checks.check_not_negative)
def infinity_passes(name: str, value: float) -> None:
    if not math.isinf(value) or value < 0:
        number_checks.check_not_negative(name, value)


@mutant_of(number_checks.check_positive)
def zero_passes_for_positive(name: str, value: float) -> None:
    number_checks.check_not_negative(name, value)


@mutant_of(precision.at_least_float32)
def always_float64(tensor: Tensor) -> Tensor:
    return tensor.double()


@mutant_of(precision.at_least_float32)
def always_float32(tensor: Tensor) -> Tensor:
    return tensor.float()


@mutant_of(precision.in_float32)
def left_in_its_precision(tensor: Tensor) -> Tensor:
    return tensor


@mutant_of(precision.in_float32)
def in_float32_without_gradient(tensor: Tensor) -> Tensor:
    return tensor.detach().float()


@mutant_of(precision.constant)
def constant_with_a_gradient(tensor: Tensor) -> Tensor:
    return tensor.float()


@mutant_of(precision.constant)
def constant_in_its_precision(tensor: Tensor) -> Tensor:
    return tensor.detach()
