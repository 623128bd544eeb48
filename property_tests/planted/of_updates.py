"""Wrong versions of what goes into an update, what may come out of it, and of successor values."""

from collections.abc import Sequence
from typing import Any

import attrs
import torch
from torch import Tensor

from oakemu_rl.core import guards, successors
from oakemu_rl.core import total_loss as losses
from oakemu_rl.core.minibatches import PPOMinibatchMetrics, SkipCause
from property_tests.laws import mutant_of


@mutant_of(guards.skip_cause)
def overflow_is_always_the_scalers(
    *, loss_finite: bool, gradient_finite: bool, loss_scale: float | None
) -> SkipCause:
    cause = guards.skip_cause(
        loss_finite=loss_finite, gradient_finite=gradient_finite, loss_scale=loss_scale
    )
    scaled = cause is SkipCause.NON_FINITE_GRADIENT and loss_scale is not None
    return SkipCause.SCALER_BACKOFF if scaled else cause


@mutant_of(guards.skip_cause)
def loss_is_not_looked_at(*, gradient_finite: bool, loss_scale: float | None, **_: Any) -> Any:
    return guards.skip_cause(
        loss_finite=True, gradient_finite=gradient_finite, loss_scale=loss_scale
    )


@mutant_of(guards.skip_cause)
def scale_of_none_is_a_scale(*, loss_scale: float | None, **flags: Any) -> SkipCause:
    return guards.skip_cause(loss_scale=2.0 if loss_scale is None else loss_scale, **flags)


@mutant_of(guards.bad_updates_in_a_row)
def backoff_counts_as_bad(previous: int, cause: SkipCause) -> int:
    return 0 if cause is SkipCause.NONE else previous + 1


@mutant_of(guards.bad_updates_in_a_row)
def backoff_clears_the_count(previous: int, cause: SkipCause) -> int:
    return previous + 1 if cause in guards.BAD else 0


@mutant_of(guards.bad_updates_in_a_row)
def bad_ones_are_never_forgiven(previous: int, cause: SkipCause) -> int:
    return previous + int(cause in guards.BAD)


@mutant_of(losses.total_loss)
def entropy_is_a_cost(*, entropy: Tensor, **others: Any) -> Tensor:
    return losses.total_loss(entropy=-entropy, **others)


@mutant_of(losses.total_loss)
def weight_of_zero_multiplies(
    *, weights: Any, policy_loss: Any, value_loss: Any, entropy: Any, behaviour_cloning_loss: Any
) -> Any:
    return (
        weights.policy * policy_loss
        + weights.value * value_loss
        - weights.entropy * entropy
        + weights.behaviour_cloning * behaviour_cloning_loss
    )


@mutant_of(losses.total_loss)
def values_are_only_watched(*, value_loss: Tensor, **others: Any) -> Tensor:
    return losses.total_loss(value_loss=value_loss.detach(), **others)


@mutant_of(losses.mean_metrics)
def skipped_ones_are_averaged(metrics: Sequence[PPOMinibatchMetrics]) -> PPOMinibatchMetrics:
    return losses.mean_metrics([attrs.evolve(each, skipped=False) for each in metrics])


@mutant_of(losses.mean_metrics)
def the_last_one_speaks_for_all(metrics: Sequence[PPOMinibatchMetrics]) -> PPOMinibatchMetrics:
    return losses.mean_metrics([each for each in metrics if not each.skipped][-1:])


@mutant_of(losses.mean_metrics)
def sum_for_mean(metrics: Sequence[PPOMinibatchMetrics]) -> PPOMinibatchMetrics:
    mean = losses.mean_metrics(metrics)
    count = sum(not each.skipped for each in metrics)
    return attrs.evolve(mean, policy_loss=mean.policy_loss * count)


@mutant_of(successors.successor_values)
def next_row_after_an_end(*, ended: Tensor, **others: Any) -> Tensor:
    return successors.successor_values(ended=torch.zeros_like(ended), **others)


@mutant_of(successors.successor_values)
def end_seen_a_step_late(*, ended: Tensor, **others: Any) -> Tensor:
    later = torch.cat([torch.zeros_like(ended[:1]), ended[:-1]])
    return successors.successor_values(ended=later, **others)


@mutant_of(successors.successor_values)
def last_row_is_its_own_successor(*, values: Tensor, last_values: Tensor, **others: Any) -> Tensor:
    return successors.successor_values(
        values=values, last_values=values[-1] + 0.0 * last_values, **others
    )


@mutant_of(successors.successor_values)
def final_values_times_flags(
    *, values: Tensor, final_values: Tensor, ended: Tensor, last_values: Tensor
) -> Tensor:
    following = torch.cat([values[1:], last_values[None]])
    return final_values * ended + following * ~ended
