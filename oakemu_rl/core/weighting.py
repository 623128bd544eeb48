"""The weights of the terms of the PPO loss, and the phases of a run that decide them.

The terms are computed in `ppo_loss`, `masks` and `behaviour_cloning`. This module needs no torch.
"""

from enum import StrEnum
from typing import Any, Protocol

import attrs

from oakemu_rl.core.number_checks import check_not_negative
from oakemu_rl.core.schedules import Schedule


class Phase(StrEnum):
    """What is being learned: demonstrations alone, or the game itself."""

    BOOTSTRAP = "bootstrap"
    TRAINING = "training"


def _check_weight(_instance: Any, attribute: Any, value: Any) -> None:
    check_not_negative(attribute.name, value)


@attrs.frozen(kw_only=True)
class LossWeights:
    """Factors of the terms of the loss, finite and not negative.

    loss = policy * policy_loss + value * value_loss - entropy * mean entropy
           + behaviour_cloning * behaviour_cloning_loss
    """

    policy: float = attrs.field(validator=_check_weight)
    value: float = attrs.field(validator=_check_weight)
    entropy: float = attrs.field(validator=_check_weight)
    behaviour_cloning: float = attrs.field(validator=_check_weight)


class WeightedTerms(Protocol):
    """The options of the PPO terms."""

    @property
    def policy_weight(self) -> float:
        """Weight of the clipped surrogate."""

    @property
    def value_weight(self) -> Schedule:
        """Weight of the value loss."""

    @property
    def entropy_weight(self) -> Schedule:
        """Weight of the entropy bonus."""


class WeightedCloning(Protocol):
    """The options of the cloning term."""

    @property
    def weight(self) -> Schedule:
        """Weight while training."""

    @property
    def bootstrap_weight(self) -> float:
        """Weight in the bootstrap phase."""


class WeightedConfiguration(Protocol):
    """What a PPO configuration tells about weights."""

    @property
    def loss(self) -> WeightedTerms:
        """The PPO terms."""

    @property
    def cloning(self) -> WeightedCloning:
        """The cloning term."""


def loss_weights(
    configuration: WeightedConfiguration, *, step: int, phase: Phase | str
) -> LossWeights:
    """The weights for a rollout that ends at environment step `step`.

    In training each term has its own weight, by schedule where it has one. In the bootstrap phase
    the policy learns by cloning alone: all other weights are 0.

    Raises:
        ValueError: `phase` is none of `Phase`, or `step` is negative.
    """
    if _phase(phase) is Phase.BOOTSTRAP:
        return LossWeights(
            policy=0.0,
            value=0.0,
            entropy=0.0,
            behaviour_cloning=configuration.cloning.bootstrap_weight,
        )
    return LossWeights(
        policy=configuration.loss.policy_weight,
        value=configuration.loss.value_weight.value(step),
        entropy=configuration.loss.entropy_weight.value(step),
        behaviour_cloning=configuration.cloning.weight.value(step),
    )


def learning_phase(*, step: int, bootstrap_steps: int) -> Phase:
    """Bootstrap in environment steps [0, bootstrap_steps), then training.

    Raises:
        ValueError: a number is negative.
    """
    check_not_negative("step", step)
    check_not_negative("bootstrap_steps", bootstrap_steps)
    return Phase.BOOTSTRAP if step < bootstrap_steps else Phase.TRAINING


def _phase(phase: Phase | str) -> Phase:
    if phase not in tuple(Phase):
        raise ValueError(f"phase: expected one of {', '.join(Phase)}, got {phase!r}")
    return Phase(phase)
