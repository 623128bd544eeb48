"""The configuration of a PPO experiment."""

import attrs

from oakemu_rl.config.options import (
    CheckpointOptions,
    CloningOptions,
    EnvironmentOptions,
    EvaluationOptions,
    MetricsOptions,
    ModelOptions,
    RunOptions,
)
from oakemu_rl.config.validators import as_schedule, number, one_of, optional, schedule
from oakemu_rl.core.schedules import Schedule, constant


@attrs.frozen(kw_only=True)
class RolloutOptions:
    """How experience is collected and turned into advantages."""

    steps: int = attrs.field(default=128, validator=number(least=1))
    """Steps of each environment in one rollout, T."""
    gamma: float = attrs.field(default=0.99, validator=number(least=0.0, most=1.0))
    """Discount per environment step."""
    gae_lambda: float = attrs.field(default=0.95, validator=number(least=0.0, most=1.0))
    """Decay of generalised advantage estimation."""
    max_staleness: int = attrs.field(default=2, validator=number(least=0))
    """Published versions a rollout's policy may lie behind; an older one is dropped and counted."""


@attrs.frozen(kw_only=True)
class OptimisationOptions:
    """How weights move."""

    learning_rate: Schedule = attrs.field(
        default=constant(3e-4), converter=as_schedule, validator=schedule()
    )
    ppo_epochs: int = attrs.field(default=4, validator=number(least=1))
    """Passes over one on-policy rollout."""
    minibatch_size: int = attrs.field(default=256, validator=number(least=1))
    max_gradient_norm: float = attrs.field(default=0.5, validator=number(above=0.0))
    adam_epsilon: float = attrs.field(default=1e-5, validator=number(above=0.0))
    normalize_advantages: bool = True
    """Whether advantages are normalised in each minibatch."""
    target_kl: float | None = attrs.field(default=None, validator=optional(number(above=0.0)))
    """An estimate of the KL divergence above which the rollout's remaining updates are left out."""
    precision: str = attrs.field(
        default="float32", validator=one_of("float32", "bfloat16", "float16")
    )
    """Type of the forward pass; float16 uses a gradient scaler."""
    max_bad_updates: int = attrs.field(default=10, validator=number(least=1))
    """Updates in a row skipped for a loss or gradient that is not finite, before the run stops."""


@attrs.frozen(kw_only=True)
class LossOptions:
    """The terms of the PPO loss."""

    clip_range: float = attrs.field(default=0.2, validator=number(above=0.0))
    """Bound on the change of the probability ratio."""
    value_clip_range: float | None = attrs.field(
        default=None, validator=optional(number(above=0.0))
    )
    """Bound on the change of a value, in units of the return; none leaves values unclipped."""
    policy_weight: float = attrs.field(default=1.0, validator=number(least=0.0))
    value_weight: Schedule = attrs.field(
        default=constant(0.5), converter=as_schedule, validator=schedule()
    )
    entropy_weight: Schedule = attrs.field(
        default=constant(0.0), converter=as_schedule, validator=schedule()
    )


@attrs.frozen(kw_only=True)
class PPOExperimentConfiguration:
    """All that a PPO run is made from. Paths of fields are those of the file and of the flags."""

    environment: EnvironmentOptions = attrs.field(factory=EnvironmentOptions)
    model: ModelOptions = attrs.field(factory=ModelOptions)
    rollout: RolloutOptions = attrs.field(factory=RolloutOptions)
    optimisation: OptimisationOptions = attrs.field(factory=OptimisationOptions)
    loss: LossOptions = attrs.field(factory=LossOptions)
    cloning: CloningOptions = attrs.field(factory=CloningOptions)
    evaluation: EvaluationOptions = attrs.field(factory=EvaluationOptions)
    checkpoints: CheckpointOptions = attrs.field(factory=CheckpointOptions)
    metrics: MetricsOptions = attrs.field(factory=MetricsOptions)
    run: RunOptions = attrs.field(factory=RunOptions)
