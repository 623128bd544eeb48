"""The records that one gradient update consumes and returns, and the learners' counters.

Letters: B rows, A actions. Tensor records compare by identity.
"""

from enum import IntEnum

import attrs
from torch import Tensor

from oakemu_rl.core.observations import Observations


@attrs.frozen(kw_only=True, eq=False)
class RolloutMinibatch:
    """On-policy rows. `log_probs` and `values` are those recorded when collecting.

    Shapes:
        observations [B, ...]; actions [B] int64; log_probs, values, advantages, returns [B]
        float32; action_masks [B, A] bool, true where the action is legal, or None where all are.
    """

    observations: Observations
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    advantages: Tensor
    returns: Tensor
    action_masks: Tensor | None = None


@attrs.frozen(kw_only=True, eq=False)
class BehaviorCloningMinibatch:
    """Demonstrated rows: in `observations` the demonstrator took `actions`.

    Shapes:
        observations [B, ...]; actions [B] int64; weights [B] or None for equal weights;
        action_masks [B, A] bool or None.
    """

    observations: Observations
    actions: Tensor
    weights: Tensor | None = None
    action_masks: Tensor | None = None


class SkipCause(IntEnum):
    """Why an optimizer step was not taken."""

    NONE = 0
    NON_FINITE_LOSS = 1
    NON_FINITE_GRADIENT = 2
    SCALER_BACKOFF = 3
    NOTHING_TO_LEARN = 4
    """Every term of the loss had weight 0."""


@attrs.frozen(kw_only=True)
class PPOMinibatchMetrics:
    """What one minibatch update measured; every field is a plain number.

    `gradient_norm` is the norm before clipping. `skipped` is true where weights and moments were
    left as they were, and `skip_cause` says why; a scaler's back-off is a cause of its own.
    """

    total_loss: float = 0.0
    policy_loss: float = 0.0
    value_loss: float = 0.0
    entropy: float = 0.0
    behaviour_cloning_loss: float = 0.0
    behaviour_cloning_accuracy: float = 0.0
    approx_kl: float = 0.0
    clip_fraction: float = 0.0
    explained_variance: float = 0.0
    gradient_norm: float = 0.0
    skipped: bool = False
    skip_cause: SkipCause = SkipCause.NONE


@attrs.frozen(kw_only=True)
class PPOLearnerRuntimeState:
    """The counters of `PPOLearner`. `iterations` count optimizer steps that were taken."""

    iterations: int = 0
    rollouts_collected: int = 0


@attrs.frozen(kw_only=True)
class DQNUpdateMetrics:
    """What one DQN update measured; every field is a plain number.

    `loss` is what was descended, `mean_q` the mean value of the actions taken. `td_error_mean` and
    `td_error_max` are of absolute errors. Returns are those of the sampled windows, before and
    after shaping. `outside_support` counts rows whose target a categorical model cannot hold.
    `gradient_norm` is the norm before clipping. `skipped` is true where weights and moments were
    left as they were, and `skip_cause` says why.
    """

    loss: float = 0.0
    mean_q: float = 0.0
    td_error_mean: float = 0.0
    td_error_max: float = 0.0
    target_mean: float = 0.0
    gradient_norm: float = 0.0
    raw_return_mean: float = 0.0
    shaped_return_mean: float = 0.0
    weight_mean: float = 0.0
    outside_support: int = 0
    skipped: bool = False
    skip_cause: SkipCause = SkipCause.NONE


@attrs.frozen(kw_only=True)
class DQNLearnerRuntimeState:
    """The counters of the DQN `Learner`.

    `iterations` count optimizer steps that were taken, `target_updates` how often the target
    network was moved, `total_skipped_updates` priorities that came too late, for transitions that
    had been overwritten.
    """

    iterations: int = 0
    target_updates: int = 0
    total_skipped_updates: int = 0
