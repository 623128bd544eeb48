"""The names of metrics. Those that stable-baselines3 has too keep its spelling.

A name is `group/what`. Names only: who measures, and when, is decided where the number is made.
"""

from typing import Final

ENV_STEPS: Final = "env_steps"
"""The key under which every record carries its environment step; no metric may take it."""

# The actor's most recent episodes.
EPISODE_RETURN_MEAN: Final = "rollout/ep_rew_mean"
EPISODE_LENGTH_MEAN: Final = "rollout/ep_len_mean"
STALENESS: Final = "rollout/staleness"
"""Versions by which the rollout's policy was behind the newest when it was consumed."""
DROPPED_ROLLOUTS: Final = "rollout/dropped_rollouts"
"""Rollouts left out so far because they were too stale."""

EXPLORATION_RATE: Final = "rollout/exploration_rate"
"""Probability of a random action."""
REPLAY_SIZE: Final = "rollout/replay_size"
"""Steps in the replay that can be drawn."""

# The tester's episodes.
EVALUATION_RETURN_MEAN: Final = "eval/mean_reward"
EVALUATION_RETURN_ERROR: Final = "eval/standard_error"
EVALUATION_LENGTH_MEAN: Final = "eval/mean_ep_length"
EVALUATION_SUCCESS_RATE: Final = "eval/success_rate"

# Updates of the weights, means over the updates since the last record unless said otherwise.
LOSS: Final = "train/loss"
POLICY_LOSS: Final = "train/policy_gradient_loss"
VALUE_LOSS: Final = "train/value_loss"
ENTROPY_LOSS: Final = "train/entropy_loss"
"""The negated entropy, in nats, as stable-baselines3 has it."""
BEHAVIOUR_CLONING_LOSS: Final = "train/behaviour_cloning_loss"
BEHAVIOUR_CLONING_ACCURACY: Final = "train/behaviour_cloning_accuracy"
APPROX_KL: Final = "train/approx_kl"
CLIP_FRACTION: Final = "train/clip_fraction"
CLIP_RANGE: Final = "train/clip_range"
EXPLAINED_VARIANCE: Final = "train/explained_variance"
GRADIENT_NORM: Final = "train/gradient_norm"
"""Norm of the gradient before clipping."""
LEARNING_RATE: Final = "train/learning_rate"
UPDATES: Final = "train/n_updates"
"""Optimizer steps taken so far."""
SKIPPED_UPDATES: Final = "train/skipped_updates"
"""Optimizer steps left out so far because the loss or the gradient was not finite."""
SCALER_BACKOFFS: Final = "train/scaler_backoffs"
"""Optimizer steps left out so far because the gradient scaler lowered its scale."""

# A DQN's updates; means over the rows of the update at which the record was written.
Q_MEAN: Final = "train/q_mean"
"""Values of the actions taken."""
TARGET_MEAN: Final = "train/target_mean"
"""What those values are drawn to."""
ERROR_MEAN: Final = "train/td_error_mean"
"""Magnitudes of the temporal-difference errors."""
ERROR_MAX: Final = "train/td_error_max"
RAW_RETURN_MEAN: Final = "train/raw_return_mean"
"""Discounted rewards of the windows as the environment gave them."""
SHAPED_RETURN_MEAN: Final = "train/shaped_return_mean"
"""The same after reward shaping."""
IMPORTANCE_WEIGHT_MEAN: Final = "train/importance_weight_mean"
TARGET_UPDATES: Final = "train/target_updates"
"""Updates of the target network so far."""
SKIPPED_PRIORITIES: Final = "train/skipped_priorities"
"""Priorities not set so far because the sampled step had been overwritten."""
REFUSED_PRIORITIES: Final = "train/refused_priorities"
"""Priorities not set so far because the error was not finite."""
OUTSIDE_SUPPORT: Final = "train/outside_support"
"""Rows so far whose target left the support of the distribution of returns."""

# The run as a whole.
FPS: Final = "time/fps"
"""Environment steps per second."""
ITERATIONS: Final = "time/iterations"
"""Rollouts consumed so far."""
TIME_ELAPSED: Final = "time/time_elapsed"
"""Seconds since the start."""
TOTAL_TIMESTEPS: Final = "time/total_timesteps"
"""Environment steps so far."""
