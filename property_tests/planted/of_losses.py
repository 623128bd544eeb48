"""Wrong versions of the terms of the loss."""

from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.clipped_policy_loss)
def never_clipped(**arguments: Any) -> core.PolicyLoss:
    right = core.clipped_policy_loss(**arguments)
    ratio = torch.exp(arguments["log_probs"] - arguments["old_log_probs"].detach())
    return _policy_loss(right, -(ratio * arguments["advantages"].detach()).mean())


@mutant_of(core.clipped_policy_loss)
def always_clipped(**arguments: Any) -> core.PolicyLoss:
    right, c = core.clipped_policy_loss(**arguments), arguments["clip_range"]
    ratio = torch.exp(arguments["log_probs"] - arguments["old_log_probs"].detach())
    return _policy_loss(
        right, -(ratio.clamp(1 - c, 1 + c) * arguments["advantages"].detach()).mean()
    )


@mutant_of(core.clipped_policy_loss)
def larger_term_taken(**arguments: Any) -> core.PolicyLoss:
    right, c = core.clipped_policy_loss(**arguments), arguments["clip_range"]
    ratio = torch.exp(arguments["log_probs"] - arguments["old_log_probs"].detach())
    advantages = arguments["advantages"].detach()
    terms = torch.maximum(ratio * advantages, ratio.clamp(1 - c, 1 + c) * advantages)
    return _policy_loss(right, -terms.mean())


@mutant_of(core.clipped_policy_loss)
def overflow_multiplied_by_zero(**arguments: Any) -> core.PolicyLoss:
    right, c = core.clipped_policy_loss(**arguments), arguments["clip_range"]
    ratio = torch.exp(arguments["log_probs"] - arguments["old_log_probs"].detach())
    advantages = arguments["advantages"].detach()
    terms = torch.minimum(ratio * advantages, ratio.clamp(1 - c, 1 + c) * advantages)
    return _policy_loss(right, -terms.mean())


@mutant_of(core.clipped_policy_loss)
def old_and_new_exchanged(**arguments: Any) -> core.PolicyLoss:
    exchanged = {
        "log_probs": arguments["old_log_probs"],
        "old_log_probs": arguments["log_probs"],
    }
    return core.clipped_policy_loss(**{**arguments, **exchanged})


@mutant_of(core.clipped_policy_loss)
def advantages_normalised_again(**arguments: Any) -> core.PolicyLoss:
    advantages = core.normalize_advantages(arguments["advantages"])
    return core.clipped_policy_loss(**{**arguments, "advantages": advantages})


@mutant_of(core.clipped_policy_loss)
def advantages_receive_gradient(**arguments: Any) -> core.PolicyLoss:
    right = core.clipped_policy_loss(**arguments)
    return _policy_loss(right, right.loss + 0.0 * arguments["advantages"].sum())


@mutant_of(core.clipped_policy_loss)
def clip_fraction_from_above_alone(**arguments: Any) -> core.PolicyLoss:
    right = core.clipped_policy_loss(**arguments)
    ratio = torch.exp(arguments["log_probs"] - arguments["old_log_probs"]).detach()
    share = (ratio - 1.0 > arguments["clip_range"]).float().mean()
    return core.PolicyLoss(loss=right.loss, approx_kl=right.approx_kl, clip_fraction=share)


def _policy_loss(right: core.PolicyLoss, loss: Tensor) -> core.PolicyLoss:
    return core.PolicyLoss(loss=loss, approx_kl=right.approx_kl, clip_fraction=right.clip_fraction)


@mutant_of(core.kl_estimate)
def mean_of_the_log_ratio(*, log_probs: Tensor, old_log_probs: Tensor) -> Tensor:
    return (old_log_probs - log_probs).mean().detach()


@mutant_of(core.kl_estimate)
def divergence_the_other_way(*, log_probs: Tensor, old_log_probs: Tensor) -> Tensor:
    return core.kl_estimate(log_probs=old_log_probs, old_log_probs=log_probs)


@mutant_of(core.value_loss)
def half_of_the_squares(**arguments: Any) -> Tensor:
    return 0.5 * core.value_loss(**arguments)


@mutant_of(core.value_loss)
def value_clipped_around_itself(**arguments: Any) -> Tensor:
    return core.value_loss(**{**arguments, "old_values": arguments["values"]})


@mutant_of(core.value_loss)
def smaller_square_taken(**arguments: Any) -> Tensor:
    values, returns = arguments["values"], arguments["returns"].detach()
    old_values, clip_range = arguments["old_values"], arguments["clip_range"]
    if clip_range is None:
        return core.value_loss(**arguments)
    old_values = old_values.detach()
    clipped = old_values + (values - old_values).clamp(-clip_range, clip_range)
    return torch.minimum((values - returns).square(), (clipped - returns).square()).mean()


@mutant_of(core.value_loss)
def clipped_square_alone(**arguments: Any) -> Tensor:
    values, returns = arguments["values"], arguments["returns"].detach()
    old_values, clip_range = arguments["old_values"], arguments["clip_range"]
    if clip_range is None:
        return core.value_loss(**arguments)
    old_values = old_values.detach()
    clipped = old_values + (values - old_values).clamp(-clip_range, clip_range)
    return (clipped - returns).square().mean()


@mutant_of(core.value_loss)
def returns_receive_gradient(**arguments: Any) -> Tensor:
    return core.value_loss(**arguments) + 0.0 * arguments["returns"].sum()


@mutant_of(core.explained_variance)
def explained_by_squares(*, values: Tensor, returns: Tensor) -> Tensor:
    if returns.max() == returns.min():
        return core.explained_variance(values=values, returns=returns)
    return (1.0 - (returns - values).square().mean() / returns.var(correction=0)).detach()


@mutant_of(core.explained_variance)
def nothing_to_explain_is_nan(*, values: Tensor, returns: Tensor) -> Tensor:
    spread = returns.var(correction=0)
    return (1.0 - (returns - values).var(correction=0) / spread).detach()


@mutant_of(core.explained_variance)
def roles_exchanged(*, values: Tensor, returns: Tensor) -> Tensor:
    return core.explained_variance(values=returns, returns=values)


@mutant_of(core.behaviour_cloning_loss)
def weights_divided_by_rows(**arguments: Any) -> Tensor:
    right, weights = core.behaviour_cloning_loss(**arguments), arguments["weights"]
    return right if weights is None else right * weights.detach().mean()


@mutant_of(core.behaviour_cloning_loss)
def weights_ignored(**arguments: Any) -> Tensor:
    return core.behaviour_cloning_loss(**{**arguments, "weights": None})


@mutant_of(core.behaviour_cloning_loss)
def illegal_label_passes(**arguments: Any) -> Tensor:
    try:
        return core.behaviour_cloning_loss(**arguments)
    except ValueError:
        return arguments["logits"].float().sum() * 0.0


@mutant_of(core.behaviour_cloning_loss)
def cloned_over_all_actions(**arguments: Any) -> Tensor:
    core.behaviour_cloning_loss(**arguments)
    return core.behaviour_cloning_loss(**{**arguments, "mask": None})


@mutant_of(core.behaviour_cloning_loss)
def smoothed_over_the_count_of_all_actions(**arguments: Any) -> Tensor:
    plain = core.behaviour_cloning_loss(**{**arguments, "label_smoothing": 0.0})
    smooth = core.behaviour_cloning_loss(**{**arguments, "label_smoothing": 1.0})
    mask, factor = arguments["mask"], arguments["label_smoothing"]
    share = 1.0 if mask is None else mask.float().mean()
    return (1.0 - factor) * plain + factor * share * smooth


@mutant_of(core.behaviour_cloning_accuracy)
def accuracy_without_a_mask(*, logits: Tensor, actions: Tensor, **_mask: Any) -> Tensor:
    return core.behaviour_cloning_accuracy(logits=logits, actions=actions)


@mutant_of(core.behaviour_cloning_accuracy)
def accuracy_as_a_count(*, logits: Tensor, actions: Tensor, mask: Tensor | None = None) -> Tensor:
    return len(actions) * core.behaviour_cloning_accuracy(logits=logits, actions=actions, mask=mask)
