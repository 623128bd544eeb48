"""Configurations: option records, and the strict edge through which they are read.

A name is imported when it is first asked for, so that the package itself costs nothing.
"""

from typing import TYPE_CHECKING

from oakemu_rl._lazy import lazy_exports

if TYPE_CHECKING:
    from oakemu_rl.config.dqn import DQNExperimentConfiguration as DQNExperimentConfiguration
    from oakemu_rl.config.dqn import DQNLossOptions as DQNLossOptions
    from oakemu_rl.config.dqn import DQNModelOptions as DQNModelOptions
    from oakemu_rl.config.dqn import DQNOptimisationOptions as DQNOptimisationOptions
    from oakemu_rl.config.dqn import ExplorationOptions as ExplorationOptions
    from oakemu_rl.config.dqn import ReplayOptions as ReplayOptions
    from oakemu_rl.config.dqn import ShapingOptions as ShapingOptions
    from oakemu_rl.config.loading import configuration_hash as configuration_hash
    from oakemu_rl.config.loading import load_configuration as load_configuration
    from oakemu_rl.config.loading import load_saved_configuration as load_saved_configuration
    from oakemu_rl.config.loading import save_configuration as save_configuration
    from oakemu_rl.config.options import CheckpointOptions as CheckpointOptions
    from oakemu_rl.config.options import CloningOptions as CloningOptions
    from oakemu_rl.config.options import EnvironmentOptions as EnvironmentOptions
    from oakemu_rl.config.options import EvaluationOptions as EvaluationOptions
    from oakemu_rl.config.options import MetricsOptions as MetricsOptions
    from oakemu_rl.config.options import ModelOptions as ModelOptions
    from oakemu_rl.config.options import RunOptions as RunOptions
    from oakemu_rl.config.ppo import LossOptions as LossOptions
    from oakemu_rl.config.ppo import OptimisationOptions as OptimisationOptions
    from oakemu_rl.config.ppo import PPOExperimentConfiguration as PPOExperimentConfiguration
    from oakemu_rl.config.ppo import RolloutOptions as RolloutOptions
    from oakemu_rl.config.validators import InvalidValueError as InvalidValueError

_EXPORTS = {
    "dqn": (
        "DQNExperimentConfiguration",
        "DQNLossOptions",
        "DQNModelOptions",
        "DQNOptimisationOptions",
        "ExplorationOptions",
        "ReplayOptions",
        "ShapingOptions",
    ),
    "loading": (
        "configuration_hash",
        "load_configuration",
        "load_saved_configuration",
        "save_configuration",
    ),
    "options": (
        "CheckpointOptions",
        "CloningOptions",
        "EnvironmentOptions",
        "EvaluationOptions",
        "MetricsOptions",
        "ModelOptions",
        "RunOptions",
    ),
    "ppo": (
        "LossOptions",
        "OptimisationOptions",
        "PPOExperimentConfiguration",
        "RolloutOptions",
    ),
    "validators": ("InvalidValueError",),
}

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
