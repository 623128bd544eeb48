"""Wrong versions of distributions over returns."""

from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.categorical_projection)
def mass_of_whole_positions_lost(**arguments: Any) -> Tensor:
    """The neighbours below and above are the same atom there, and their distance is 0."""
    core.categorical_projection(**arguments)
    support, probabilities = arguments["support"], arguments["next_probabilities"]
    moved = arguments["rewards"].unsqueeze(1) + arguments["discounts"].unsqueeze(1) * support
    gap = support[1] - support[0]
    positions = (moved.clamp(support[0], support[-1]) - support[0]) / gap
    below, above = positions.floor(), positions.ceil()
    masses = torch.zeros_like(probabilities)
    masses.scatter_add_(1, below.long(), probabilities * (above - positions))
    return masses.scatter_add_(1, above.long(), probabilities * (positions - below)).detach()


@mutant_of(core.categorical_projection)
def places_beyond_the_last_atom_by_rounding(**arguments: Any) -> Tensor:
    core.categorical_projection(**arguments)
    support, probabilities = arguments["support"], arguments["next_probabilities"]
    discounts = arguments["discounts"].unsqueeze(1)
    probabilities = torch.where(discounts == 0.0, 1.0 / len(support), probabilities)
    moved = arguments["rewards"].unsqueeze(1) + discounts * support
    gaps = len(support) - 1
    inside = moved.clamp(support[0], support[-1]) - support[0]
    positions = inside * (gaps / (support[-1] - support[0]))
    below = positions.floor().long().clamp(0, gaps - 1)
    masses = torch.zeros_like(probabilities)
    masses.scatter_add_(1, below, probabilities * (1 - (positions - below)))
    return masses.scatter_add_(1, below + 1, probabilities * (positions - below)).detach()


@mutant_of(core.categorical_projection)
def all_mass_to_the_nearest_atom(**arguments: Any) -> Tensor:
    right = core.categorical_projection(**arguments)
    support = arguments["support"]
    means = (right * support).sum(dim=1, keepdim=True)
    nearest = (support - means).abs().argmin(dim=1, keepdim=True)
    return torch.zeros_like(right).scatter_(1, nearest, 1.0)


@mutant_of(core.categorical_projection)
def masses_shared_the_wrong_way_round(**arguments: Any) -> Tensor:
    flipped = {
        **arguments,
        "support": -arguments["support"].flip(0),
        "rewards": -arguments["rewards"],
    }
    return core.categorical_projection(**flipped)


@mutant_of(core.categorical_projection)
def probabilities_times_zero(**arguments: Any) -> Tensor:
    right = core.categorical_projection(**arguments)
    return right + 0.0 * arguments["next_probabilities"].sum(dim=1, keepdim=True).detach()


@mutant_of(core.categorical_projection)
def mass_beyond_the_ends_dropped(**arguments: Any) -> Tensor:
    right, support = core.categorical_projection(**arguments), arguments["support"]
    moved = arguments["rewards"].unsqueeze(1) + arguments["discounts"].unsqueeze(1) * support
    inside = (moved >= support[0]) & (moved <= support[-1])
    return right * inside.float().mean(dim=1, keepdim=True)


@mutant_of(core.categorical_projection)
def atoms_not_discounted(**arguments: Any) -> Tensor:
    discounts = arguments["discounts"]
    return core.categorical_projection(**{**arguments, "discounts": (discounts != 0.0).float()})


@mutant_of(core.categorical_projection)
def projection_that_carries_gradient(**arguments: Any) -> Tensor:
    return core.categorical_projection(**arguments) + 0.0 * arguments["rewards"].unsqueeze(1)


@mutant_of(core.categorical_projection)
def any_support_passes(**arguments: Any) -> Tensor:
    support = arguments["support"].detach()
    even = torch.linspace(float(support.min()), float(support.max()), len(support))
    return core.categorical_projection(**{**arguments, "support": even})


@mutant_of(core.rows_outside_support)
def every_atom_beyond_an_end_counts(**arguments: Any) -> Tensor:
    core.rows_outside_support(**arguments)
    support = arguments["support"]
    moved = arguments["rewards"].unsqueeze(1) + arguments["discounts"].unsqueeze(1) * support
    return ((moved < support[0]) | (moved > support[-1])).any(dim=1).sum()


@mutant_of(core.rows_outside_support)
def only_the_upper_end_counts(**arguments: Any) -> Tensor:
    raised = arguments["rewards"].clamp_min(float(arguments["support"][0]))
    return core.rows_outside_support(**{**arguments, "rewards": raised})


@mutant_of(core.rows_outside_support)
def share_of_rows(**arguments: Any) -> Tensor:
    return core.rows_outside_support(**arguments) / len(arguments["rewards"])


@mutant_of(core.expected_values)
def likeliest_atom(*, probabilities: Tensor, support: Tensor) -> Tensor:
    return support[probabilities.argmax(dim=2)]


@mutant_of(core.expected_values)
def mean_over_the_atoms(*, probabilities: Tensor, support: Tensor) -> Tensor:
    return (probabilities * support).mean(dim=2)


@mutant_of(core.atoms_of_actions)
def atoms_of_the_first_row(*, atoms: Tensor, actions: Tensor) -> Tensor:
    return atoms[0][actions.long()]


@mutant_of(core.atoms_of_actions)
def atoms_without_gradient(*, atoms: Tensor, actions: Tensor) -> Tensor:
    return core.atoms_of_actions(atoms=atoms.detach(), actions=actions) + 0.0 * atoms.sum()


@mutant_of(core.categorical_loss)
def zero_times_minus_infinity(*, log_probabilities: Tensor, targets: Tensor) -> Tensor:
    return -(targets.detach() * log_probabilities).sum(dim=1)


@mutant_of(core.categorical_loss)
def entropy_of_the_targets_taken_off(*, log_probabilities: Tensor, targets: Tensor) -> Tensor:
    right = core.categorical_loss(log_probabilities=log_probabilities, targets=targets)
    return right + torch.special.entr(targets.detach()).sum(dim=1)


@mutant_of(core.categorical_loss)
def target_distributions_receive_gradient(*, log_probabilities: Tensor, targets: Tensor) -> Tensor:
    right = core.categorical_loss(log_probabilities=log_probabilities, targets=targets)
    return right + 0.0 * targets.sum()


@mutant_of(core.categorical_loss)
def mean_of_the_atoms_and_not_their_sum(*, log_probabilities: Tensor, targets: Tensor) -> Tensor:
    right = core.categorical_loss(log_probabilities=log_probabilities, targets=targets)
    return right / targets.shape[1]


@mutant_of(core.expected_values)
def a_product_of_half_precision_under_autocast(**arguments: Any) -> Tensor:
    core.expected_values(**arguments)
    return arguments["probabilities"].float() @ arguments["support"].float()
