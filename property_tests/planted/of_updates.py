"""Wrong versions of what surrounds one update: successors, the total, the guards."""

from typing import Any

import torch
from torch import Tensor

from oakemu_rl.core import PPOMinibatchMetrics, SkipCause
from oakemu_rl.core.guards import bad_updates_in_a_row, skip_cause
from oakemu_rl.core.successors import successor_values
from oakemu_rl.core.total_loss import mean_metrics, total_loss
from property_tests.laws import mutant_of


@mutant_of(successor_values)
def next_row_whatever_ended(*, values: Tensor, last_values: Tensor, **_others: Tensor) -> Tensor:
    return torch.cat([values[1:], last_values[None]])


@mutant_of(successor_values)
def final_values_multiplied_in(
    *, values: Tensor, final_values: Tensor, ended: Tensor, last_values: Tensor
) -> Tensor:
    following = torch.cat([values[1:], last_values[None]])
    return following * ~ended + final_values * ended


@mutant_of(successor_values)
def last_step_never_ends(
    *, values: Tensor, final_values: Tensor, ended: Tensor, last_values: Tensor
) -> Tensor:
    right = successor_values(
        values=values, final_values=final_values, ended=ended, last_values=last_values
    )
    return torch.cat([right[:-1], last_values[None]])


@mutant_of(total_loss)
def zero_times_nan(*, weights: Any, **terms: Tensor) -> Tensor:
    return (
        weights.policy * terms["policy_loss"]
        + weights.value * terms["value_loss"]
        - weights.entropy * terms["entropy"]
        + weights.behaviour_cloning * terms["behaviour_cloning_loss"]
    )


@mutant_of(total_loss)
def entropy_is_punished(*, weights: Any, **terms: Tensor) -> Tensor:
    return total_loss(weights=weights, **{**terms, "entropy": -terms["entropy"]})


@mutant_of(mean_metrics)
def skipped_updates_counted(metrics: Any) -> PPOMinibatchMetrics:
    right = mean_metrics(metrics)
    share = sum(not each.skipped for each in metrics) / max(len(metrics), 1)
    return PPOMinibatchMetrics(total_loss=right.total_loss * share)


@mutant_of(mean_metrics)
def only_the_last_update_counts(metrics: Any) -> PPOMinibatchMetrics:
    return mean_metrics(metrics[-1:])


@mutant_of(skip_cause)
def scaler_is_always_to_blame(
    *, loss_finite: bool, gradient_finite: bool, loss_scale: float | None
) -> SkipCause:
    scale = None if loss_scale is None else 2.0
    return skip_cause(loss_finite=loss_finite, gradient_finite=gradient_finite, loss_scale=scale)


@mutant_of(skip_cause)
def loss_is_not_looked_at(
    *, gradient_finite: bool, loss_scale: float | None, **_loss: bool
) -> SkipCause:
    return skip_cause(loss_finite=True, gradient_finite=gradient_finite, loss_scale=loss_scale)


@mutant_of(bad_updates_in_a_row)
def bad_updates_are_never_forgiven(previous: int, cause: SkipCause) -> int:
    return max(previous, bad_updates_in_a_row(previous, cause))


@mutant_of(bad_updates_in_a_row)
def scaler_counts_as_bad(previous: int, cause: SkipCause) -> int:
    return 0 if cause is SkipCause.NONE else previous + 1
