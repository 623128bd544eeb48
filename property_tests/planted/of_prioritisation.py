"""Wrong versions of priorities and importance weights."""

from typing import Any

from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.priorities)
def exponent_applied_twice(**arguments: Any) -> Tensor:
    return core.priorities(**arguments).pow(arguments["alpha"])


@mutant_of(core.priorities)
def exponent_before_epsilon(*, td_errors: Tensor, alpha: float, epsilon: float) -> Tensor:
    return td_errors.detach().abs().pow(alpha) + epsilon


@mutant_of(core.priorities)
def priority_of_the_squared_error(*, td_errors: Tensor, alpha: float, epsilon: float) -> Tensor:
    return core.priorities(0.5 * td_errors.square(), alpha=alpha, epsilon=epsilon)


@mutant_of(core.priorities)
def odd_errors_to_the_power_of_0(*, td_errors: Tensor, alpha: float, epsilon: float) -> Tensor:
    return (td_errors.detach().abs() + epsilon).pow(alpha)


@mutant_of(core.priorities)
def signed_errors(*, td_errors: Tensor, alpha: float, epsilon: float) -> Tensor:
    return core.priorities(td_errors.clamp_min(0.0), alpha=alpha, epsilon=epsilon)


@mutant_of(core.priorities)
def priorities_that_carry_gradient(**arguments: Any) -> Tensor:
    return core.priorities(**arguments) + 0.0 * arguments["td_errors"]


@mutant_of(core.importance_weights)
def divided_by_the_largest_of_the_batch(*, probabilities: Tensor, **arguments: Any) -> Tensor:
    arguments["smallest_probability"] = float(probabilities.min())
    return core.importance_weights(probabilities=probabilities, **arguments)


@mutant_of(core.importance_weights)
def not_divided_at_all(*, probabilities: Tensor, size: int, beta: float, **_: float) -> Tensor:
    return (size * probabilities).pow(-beta).float()


@mutant_of(core.importance_weights)
def only_cut_off_at_1(*, probabilities: Tensor, size: int, beta: float, **_: float) -> Tensor:
    return (size * probabilities).pow(-beta).clamp(max=1.0).float()


@mutant_of(core.importance_weights)
def beta_left_out(**arguments: Any) -> Tensor:
    return core.importance_weights(**{**arguments, "beta": 1.0})


@mutant_of(core.importance_weights)
def beta_the_wrong_way_round(**arguments: Any) -> Tensor:
    return core.importance_weights(**{**arguments, "beta": 1.0 - arguments["beta"]})


@mutant_of(core.importance_weights)
def weights_in_float64(**arguments: Any) -> Tensor:
    return core.importance_weights(**arguments).double()
