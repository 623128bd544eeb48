"""The functional core: pure functions over immutable records.

Nothing here holds a thread, lock, clock, file, logger, global random state, module or optimizer. A
name is imported when it is first asked for, so that the package itself costs nothing.
"""

from typing import TYPE_CHECKING

from oakemu_rl._lazy import lazy_exports

if TYPE_CHECKING:
    from oakemu_rl.core.advantages import Advantages as Advantages
    from oakemu_rl.core.advantages import generalized_advantages as generalized_advantages
    from oakemu_rl.core.advantages import normalize_advantages as normalize_advantages
    from oakemu_rl.core.behaviour_cloning import (
        behaviour_cloning_accuracy as behaviour_cloning_accuracy,
    )
    from oakemu_rl.core.behaviour_cloning import behaviour_cloning_loss as behaviour_cloning_loss
    from oakemu_rl.core.cadence import checkpoint_due as checkpoint_due
    from oakemu_rl.core.cadence import is_stale as is_stale
    from oakemu_rl.core.cadence import rollouts_needed as rollouts_needed
    from oakemu_rl.core.categorical import atoms_of_actions as atoms_of_actions
    from oakemu_rl.core.categorical import categorical_loss as categorical_loss
    from oakemu_rl.core.categorical import categorical_projection as categorical_projection
    from oakemu_rl.core.categorical import expected_values as expected_values
    from oakemu_rl.core.categorical import rows_outside_support as rows_outside_support
    from oakemu_rl.core.errors import CheckpointError as CheckpointError
    from oakemu_rl.core.errors import ConfigurationError as ConfigurationError
    from oakemu_rl.core.errors import DivergenceError as DivergenceError
    from oakemu_rl.core.errors import EmulatorError as EmulatorError
    from oakemu_rl.core.errors import EnvironmentFaultError as EnvironmentFaultError
    from oakemu_rl.core.errors import GameError as GameError
    from oakemu_rl.core.errors import MissingExtraError as MissingExtraError
    from oakemu_rl.core.errors import OakEmuError as OakEmuError
    from oakemu_rl.core.errors import RunFolderError as RunFolderError
    from oakemu_rl.core.errors import StorageError as StorageError
    from oakemu_rl.core.errors import UnsupportedEnvironmentError as UnsupportedEnvironmentError
    from oakemu_rl.core.errors import UserError as UserError
    from oakemu_rl.core.errors import WorkerError as WorkerError
    from oakemu_rl.core.exploration import epsilon_greedy_actions as epsilon_greedy_actions
    from oakemu_rl.core.handshake import TRANSITIONS as TRANSITIONS
    from oakemu_rl.core.handshake import IllegalTransitionError as IllegalTransitionError
    from oakemu_rl.core.handshake import SlotPhase as SlotPhase
    from oakemu_rl.core.handshake import SlotSignal as SlotSignal
    from oakemu_rl.core.handshake import advance as advance
    from oakemu_rl.core.masks import NoLegalActionError as NoLegalActionError
    from oakemu_rl.core.masks import action_log_probs as action_log_probs
    from oakemu_rl.core.masks import check_masks as check_masks
    from oakemu_rl.core.masks import combine_masks as combine_masks
    from oakemu_rl.core.masks import greedy_actions as greedy_actions
    from oakemu_rl.core.masks import masked_entropy as masked_entropy
    from oakemu_rl.core.masks import masked_log_probs as masked_log_probs
    from oakemu_rl.core.masks import sample_actions as sample_actions
    from oakemu_rl.core.minibatches import BehaviorCloningMinibatch as BehaviorCloningMinibatch
    from oakemu_rl.core.minibatches import DQNLearnerRuntimeState as DQNLearnerRuntimeState
    from oakemu_rl.core.minibatches import DQNUpdateMetrics as DQNUpdateMetrics
    from oakemu_rl.core.minibatches import PPOLearnerRuntimeState as PPOLearnerRuntimeState
    from oakemu_rl.core.minibatches import PPOMinibatchMetrics as PPOMinibatchMetrics
    from oakemu_rl.core.minibatches import RolloutMinibatch as RolloutMinibatch
    from oakemu_rl.core.minibatches import SkipCause as SkipCause
    from oakemu_rl.core.n_step import NStep as NStep
    from oakemu_rl.core.n_step import n_step_returns as n_step_returns
    from oakemu_rl.core.n_step import window_returns as window_returns
    from oakemu_rl.core.observations import ActionSpec as ActionSpec
    from oakemu_rl.core.observations import Observations as Observations
    from oakemu_rl.core.observations import ObservationSpec as ObservationSpec
    from oakemu_rl.core.observations import TensorSpec as TensorSpec
    from oakemu_rl.core.observations import batch_size as batch_size
    from oakemu_rl.core.observations import map_observations as map_observations
    from oakemu_rl.core.observations import observation_specs as observation_specs
    from oakemu_rl.core.observations import observation_tensors as observation_tensors
    from oakemu_rl.core.ports import BCSampler as BCSampler
    from oakemu_rl.core.ports import EventLog as EventLog
    from oakemu_rl.core.ports import MetricsWriter as MetricsWriter
    from oakemu_rl.core.ports import TesterSignal as TesterSignal
    from oakemu_rl.core.ppo_loss import PolicyLoss as PolicyLoss
    from oakemu_rl.core.ppo_loss import clipped_policy_loss as clipped_policy_loss
    from oakemu_rl.core.ppo_loss import explained_variance as explained_variance
    from oakemu_rl.core.ppo_loss import kl_estimate as kl_estimate
    from oakemu_rl.core.ppo_loss import value_loss as value_loss
    from oakemu_rl.core.prioritisation import importance_weights as importance_weights
    from oakemu_rl.core.prioritisation import priorities as priorities
    from oakemu_rl.core.q_loss import huber_loss as huber_loss
    from oakemu_rl.core.q_loss import squared_loss as squared_loss
    from oakemu_rl.core.q_loss import td_errors as td_errors
    from oakemu_rl.core.q_loss import weighted_mean as weighted_mean
    from oakemu_rl.core.q_targets import next_actions as next_actions
    from oakemu_rl.core.q_targets import target_q_values as target_q_values
    from oakemu_rl.core.reward_shaping import RewardMoments as RewardMoments
    from oakemu_rl.core.reward_shaping import clipped as clipped
    from oakemu_rl.core.reward_shaping import merge_rewards as merge_rewards
    from oakemu_rl.core.reward_shaping import normalized_rewards as normalized_rewards
    from oakemu_rl.core.reward_shaping import novelty_bonuses as novelty_bonuses
    from oakemu_rl.core.reward_shaping import potential_shaping as potential_shaping
    from oakemu_rl.core.reward_shaping import scaled as scaled
    from oakemu_rl.core.reward_shaping import signs as signs
    from oakemu_rl.core.schedules import Schedule as Schedule
    from oakemu_rl.core.schedules import constant as constant
    from oakemu_rl.core.schedules import cosine as cosine
    from oakemu_rl.core.schedules import exponential as exponential
    from oakemu_rl.core.schedules import linear as linear
    from oakemu_rl.core.schedules import sequence as sequence
    from oakemu_rl.core.scores import confidence_interval as confidence_interval
    from oakemu_rl.core.scores import standard_error as standard_error
    from oakemu_rl.core.scores import student_quantile as student_quantile
    from oakemu_rl.core.seeding import derive_seed as derive_seed
    from oakemu_rl.core.statistics import Moments as Moments
    from oakemu_rl.core.statistics import batch_moments as batch_moments
    from oakemu_rl.core.statistics import merge_moments as merge_moments
    from oakemu_rl.core.throttle import may_act as may_act
    from oakemu_rl.core.throttle import may_learn as may_learn
    from oakemu_rl.core.throttle import updates_due as updates_due
    from oakemu_rl.core.transitions import TransitionBatch as TransitionBatch
    from oakemu_rl.core.weighting import LossWeights as LossWeights
    from oakemu_rl.core.weighting import Phase as Phase
    from oakemu_rl.core.weighting import learning_phase as learning_phase
    from oakemu_rl.core.weighting import loss_weights as loss_weights

_EXPORTS = {
    "advantages": (
        "Advantages",
        "generalized_advantages",
        "normalize_advantages",
    ),
    "behaviour_cloning": (
        "behaviour_cloning_accuracy",
        "behaviour_cloning_loss",
    ),
    "cadence": (
        "checkpoint_due",
        "is_stale",
        "rollouts_needed",
    ),
    "categorical": (
        "atoms_of_actions",
        "categorical_loss",
        "categorical_projection",
        "expected_values",
        "rows_outside_support",
    ),
    "errors": (
        "CheckpointError",
        "ConfigurationError",
        "DivergenceError",
        "EmulatorError",
        "EnvironmentFaultError",
        "GameError",
        "MissingExtraError",
        "OakEmuError",
        "RunFolderError",
        "StorageError",
        "UnsupportedEnvironmentError",
        "UserError",
        "WorkerError",
    ),
    "exploration": ("epsilon_greedy_actions",),
    "handshake": (
        "IllegalTransitionError",
        "SlotPhase",
        "SlotSignal",
        "TRANSITIONS",
        "advance",
    ),
    "masks": (
        "NoLegalActionError",
        "action_log_probs",
        "check_masks",
        "combine_masks",
        "greedy_actions",
        "masked_entropy",
        "masked_log_probs",
        "sample_actions",
    ),
    "minibatches": (
        "BehaviorCloningMinibatch",
        "DQNLearnerRuntimeState",
        "DQNUpdateMetrics",
        "PPOLearnerRuntimeState",
        "PPOMinibatchMetrics",
        "RolloutMinibatch",
        "SkipCause",
    ),
    "n_step": (
        "NStep",
        "n_step_returns",
        "window_returns",
    ),
    "observations": (
        "ActionSpec",
        "ObservationSpec",
        "Observations",
        "TensorSpec",
        "batch_size",
        "map_observations",
        "observation_specs",
        "observation_tensors",
    ),
    "ports": (
        "BCSampler",
        "EventLog",
        "MetricsWriter",
        "TesterSignal",
    ),
    "ppo_loss": (
        "PolicyLoss",
        "clipped_policy_loss",
        "explained_variance",
        "kl_estimate",
        "value_loss",
    ),
    "prioritisation": (
        "importance_weights",
        "priorities",
    ),
    "q_loss": (
        "huber_loss",
        "squared_loss",
        "td_errors",
        "weighted_mean",
    ),
    "q_targets": (
        "next_actions",
        "target_q_values",
    ),
    "reward_shaping": (
        "RewardMoments",
        "clipped",
        "merge_rewards",
        "normalized_rewards",
        "novelty_bonuses",
        "potential_shaping",
        "scaled",
        "signs",
    ),
    "schedules": (
        "Schedule",
        "constant",
        "cosine",
        "exponential",
        "linear",
        "sequence",
    ),
    "scores": (
        "confidence_interval",
        "standard_error",
        "student_quantile",
    ),
    "seeding": ("derive_seed",),
    "statistics": (
        "Moments",
        "batch_moments",
        "merge_moments",
    ),
    "throttle": (
        "may_act",
        "may_learn",
        "updates_due",
    ),
    "transitions": ("TransitionBatch",),
    "weighting": (
        "LossWeights",
        "Phase",
        "learning_phase",
        "loss_weights",
    ),
}

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
