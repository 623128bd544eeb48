"""OakEmu-RL: trains agents on games in an emulator, and on discrete-action Gymnasium environments.

A name is imported when it is first asked for: importing the package starts nothing, and pulls in
neither torch nor any extra. The functions of the core are in `oakemu_rl.core`.
"""

from typing import TYPE_CHECKING

from oakemu_rl._lazy import lazy_exports

if TYPE_CHECKING:
    from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer as PrioritizedReplayBuffer
    from oakemu_rl.buffers.replay import PriorityUpdate as PriorityUpdate
    from oakemu_rl.buffers.replay import ReplayBuffer as ReplayBuffer
    from oakemu_rl.buffers.replay import ReplayStep as ReplayStep
    from oakemu_rl.buffers.rollout import RolloutBuffer as RolloutBuffer
    from oakemu_rl.buffers.slots import RolloutStep as RolloutStep
    from oakemu_rl.buffers.slots import RolloutStorage as RolloutStorage
    from oakemu_rl.checkpoints.checkpoint import Checkpoint as Checkpoint
    from oakemu_rl.checkpoints.checkpoint import load_checkpoint as load_checkpoint
    from oakemu_rl.checkpoints.checkpointer import Checkpointer as Checkpointer
    from oakemu_rl.checkpoints.manager import CheckpointManager as CheckpointManager
    from oakemu_rl.checkpoints.policy import CheckpointPolicy as CheckpointPolicy
    from oakemu_rl.checkpoints.training_state import TrainingState as TrainingState
    from oakemu_rl.config.dqn import DQNExperimentConfiguration as DQNExperimentConfiguration
    from oakemu_rl.config.dqn import DQNLossOptions as DQNLossOptions
    from oakemu_rl.config.dqn import DQNModelOptions as DQNModelOptions
    from oakemu_rl.config.dqn import DQNOptimisationOptions as DQNOptimisationOptions
    from oakemu_rl.config.dqn import ExplorationOptions as ExplorationOptions
    from oakemu_rl.config.dqn import ReplayOptions as ReplayOptions
    from oakemu_rl.config.dqn import ShapingOptions as ShapingOptions
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
    from oakemu_rl.core.minibatches import BehaviorCloningMinibatch as BehaviorCloningMinibatch
    from oakemu_rl.core.minibatches import DQNLearnerRuntimeState as DQNLearnerRuntimeState
    from oakemu_rl.core.minibatches import DQNUpdateMetrics as DQNUpdateMetrics
    from oakemu_rl.core.minibatches import PPOLearnerRuntimeState as PPOLearnerRuntimeState
    from oakemu_rl.core.minibatches import PPOMinibatchMetrics as PPOMinibatchMetrics
    from oakemu_rl.core.minibatches import RolloutMinibatch as RolloutMinibatch
    from oakemu_rl.core.minibatches import SkipCause as SkipCause
    from oakemu_rl.core.observations import ActionSpec as ActionSpec
    from oakemu_rl.core.observations import TensorSpec as TensorSpec
    from oakemu_rl.core.ports import BCSampler as BCSampler
    from oakemu_rl.core.ports import EventLog as EventLog
    from oakemu_rl.core.ports import MetricsWriter as MetricsWriter
    from oakemu_rl.core.ports import TesterSignal as TesterSignal
    from oakemu_rl.core.schedules import Schedule as Schedule
    from oakemu_rl.core.schedules import constant as constant
    from oakemu_rl.core.schedules import cosine as cosine
    from oakemu_rl.core.schedules import exponential as exponential
    from oakemu_rl.core.schedules import linear as linear
    from oakemu_rl.core.schedules import sequence as sequence
    from oakemu_rl.core.transitions import TransitionBatch as TransitionBatch
    from oakemu_rl.core.weighting import LossWeights as LossWeights
    from oakemu_rl.core.weighting import Phase as Phase
    from oakemu_rl.envs.factory import make_environment as make_environment
    from oakemu_rl.envs.factory import make_vector_environment as make_vector_environment
    from oakemu_rl.envs.games.game_env import SpectrumGame as SpectrumGame
    from oakemu_rl.envs.vector import VectorEnvironment as VectorEnvironment
    from oakemu_rl.envs.vector import VectorStep as VectorStep
    from oakemu_rl.experiments.dqn import DQNExperiment as DQNExperiment
    from oakemu_rl.experiments.evaluation import evaluate_run as evaluate_run
    from oakemu_rl.experiments.ppo import PPOExperiment as PPOExperiment
    from oakemu_rl.experiments.result import ExperimentResult as ExperimentResult
    from oakemu_rl.models.dqn import DQNModel as DQNModel
    from oakemu_rl.models.dqn import build_dqn_model as build_dqn_model
    from oakemu_rl.models.flat import FlatAdam as FlatAdam
    from oakemu_rl.models.ppo import PolicyValue as PolicyValue
    from oakemu_rl.models.ppo import PPOModel as PPOModel
    from oakemu_rl.models.ppo import build_ppo_model as build_ppo_model
    from oakemu_rl.runtime.context import RuntimeContext as RuntimeContext
    from oakemu_rl.runtime.handshake import RolloutHandshake as RolloutHandshake
    from oakemu_rl.runtime.model import ModelSnapshot as ModelSnapshot
    from oakemu_rl.runtime.model import ThreadSafeModel as ThreadSafeModel
    from oakemu_rl.runtime.supervision import Supervisor as Supervisor
    from oakemu_rl.training.action_masker import ActionMasker as ActionMasker
    from oakemu_rl.training.dqn.actor import DQNActor as DQNActor
    from oakemu_rl.training.dqn.learner import Learner as Learner
    from oakemu_rl.training.evaluation import Evaluation as Evaluation
    from oakemu_rl.training.ppo.actor import PPOActor as PPOActor
    from oakemu_rl.training.ppo.learner import PPOLearner as PPOLearner
    from oakemu_rl.training.ppo.minibatch_update import PPOMinibatchUpdater as PPOMinibatchUpdater
    from oakemu_rl.training.shaping import RewardShaper as RewardShaper
    from oakemu_rl.training.shaping import RewardShapingPipeline as RewardShapingPipeline
    from oakemu_rl.training.shaping import RewardWindows as RewardWindows
    from oakemu_rl.training.test_bench import TestBench as TestBench
    from oakemu_rl.training.tester import Tester as Tester

_EXPORTS = {
    "buffers.prioritised": ("PrioritizedReplayBuffer",),
    "buffers.replay": (
        "PriorityUpdate",
        "ReplayBuffer",
        "ReplayStep",
    ),
    "buffers.rollout": ("RolloutBuffer",),
    "buffers.slots": (
        "RolloutStep",
        "RolloutStorage",
    ),
    "checkpoints.checkpoint": (
        "Checkpoint",
        "load_checkpoint",
    ),
    "checkpoints.checkpointer": ("Checkpointer",),
    "checkpoints.manager": ("CheckpointManager",),
    "checkpoints.policy": ("CheckpointPolicy",),
    "checkpoints.training_state": ("TrainingState",),
    "config.dqn": (
        "DQNExperimentConfiguration",
        "DQNLossOptions",
        "DQNModelOptions",
        "DQNOptimisationOptions",
        "ExplorationOptions",
        "ReplayOptions",
        "ShapingOptions",
    ),
    "config.loading": (
        "load_configuration",
        "load_saved_configuration",
        "save_configuration",
    ),
    "config.options": (
        "CheckpointOptions",
        "CloningOptions",
        "EnvironmentOptions",
        "EvaluationOptions",
        "MetricsOptions",
        "ModelOptions",
        "RunOptions",
    ),
    "config.ppo": (
        "LossOptions",
        "OptimisationOptions",
        "PPOExperimentConfiguration",
        "RolloutOptions",
    ),
    "core.errors": (
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
    "core.minibatches": (
        "BehaviorCloningMinibatch",
        "DQNLearnerRuntimeState",
        "DQNUpdateMetrics",
        "PPOLearnerRuntimeState",
        "PPOMinibatchMetrics",
        "RolloutMinibatch",
        "SkipCause",
    ),
    "core.observations": (
        "ActionSpec",
        "TensorSpec",
    ),
    "core.ports": (
        "BCSampler",
        "EventLog",
        "MetricsWriter",
        "TesterSignal",
    ),
    "core.schedules": (
        "Schedule",
        "constant",
        "cosine",
        "exponential",
        "linear",
        "sequence",
    ),
    "core.transitions": ("TransitionBatch",),
    "core.weighting": (
        "LossWeights",
        "Phase",
    ),
    "envs.factory": (
        "make_environment",
        "make_vector_environment",
    ),
    "envs.games.game_env": ("SpectrumGame",),
    "envs.vector": (
        "VectorEnvironment",
        "VectorStep",
    ),
    "experiments.dqn": ("DQNExperiment",),
    "experiments.evaluation": ("evaluate_run",),
    "experiments.ppo": ("PPOExperiment",),
    "experiments.result": ("ExperimentResult",),
    "models.dqn": (
        "DQNModel",
        "build_dqn_model",
    ),
    "models.flat": ("FlatAdam",),
    "models.ppo": (
        "PPOModel",
        "PolicyValue",
        "build_ppo_model",
    ),
    "runtime.context": ("RuntimeContext",),
    "runtime.handshake": ("RolloutHandshake",),
    "runtime.model": (
        "ModelSnapshot",
        "ThreadSafeModel",
    ),
    "runtime.supervision": ("Supervisor",),
    "training.action_masker": ("ActionMasker",),
    "training.dqn.actor": ("DQNActor",),
    "training.dqn.learner": ("Learner",),
    "training.evaluation": ("Evaluation",),
    "training.ppo.actor": ("PPOActor",),
    "training.ppo.learner": ("PPOLearner",),
    "training.ppo.minibatch_update": ("PPOMinibatchUpdater",),
    "training.shaping": (
        "RewardShaper",
        "RewardShapingPipeline",
        "RewardWindows",
    ),
    "training.test_bench": ("TestBench",),
    "training.tester": ("Tester",),
}

__getattr__, __dir__ = lazy_exports(__name__, _EXPORTS)
