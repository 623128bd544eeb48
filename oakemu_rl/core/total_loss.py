"""The one number that PPO descends, and the mean of what its minibatches measured."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

import attrs
from torch import Tensor

from oakemu_rl.core.checks import check_shape
from oakemu_rl.core.minibatches import PPOMinibatchMetrics
from oakemu_rl.core.weighting import LossWeights


def total_loss(
    *,
    weights: LossWeights,
    policy_loss: Tensor,
    value_loss: Tensor,
    entropy: Tensor,
    behaviour_cloning_loss: Tensor,
) -> Tensor:
    """`w_policy * L_policy + w_value * L_value - w_entropy * H + w_bc * L_bc`, all scalars.

    A term of weight 0 is left out, so that it passes no gradient and, where it is not finite, no
    NaN.

    Raises:
        ValueError: a term is not a scalar.
    """
    terms = {
        "policy_loss": (weights.policy, policy_loss),
        "value_loss": (weights.value, value_loss),
        "entropy": (-weights.entropy, entropy),
        "behaviour_cloning_loss": (weights.behaviour_cloning, behaviour_cloning_loss),
    }
    loss = policy_loss.new_zeros(())
    for name, (weight, term) in terms.items():
        check_shape(name, term, (), "")
        if weight != 0.0:
            loss = loss + weight * term
    return loss


def mean_metrics(metrics: Sequence[PPOMinibatchMetrics]) -> PPOMinibatchMetrics:
    """The mean of each field over the updates that were taken; zeros where none was."""
    taken = [each for each in metrics if not each.skipped]
    if not taken:
        return PPOMinibatchMetrics()
    measured = [
        field.name
        for field in attrs.fields(PPOMinibatchMetrics)
        if field.name not in ("skipped", "skip_cause")
    ]
    means: dict[str, Any] = {
        name: fmean(float(getattr(each, name)) for each in taken) for name in measured
    }
    return PPOMinibatchMetrics(**means)
