"""The parts of a DQN run, made and joined. What they do is theirs; when they run is the
experiment's."""

from collections.abc import Sequence

import attrs
import torch

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.checkpoints.state import (
    copies,
    generator_state,
    module_state,
    optimizer_state,
    scaler_state,
)
from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.experiments.memory import replay_shape
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.models.flat import FlatAdam
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.dqn.actor import DQNActor
from oakemu_rl.training.dqn.learner import Learner
from oakemu_rl.training.progress import SETTLE_SECONDS
from oakemu_rl.training.shaping import RewardShaper, RewardShapingPipeline, reward_shaping

MOST_FLAT_WEIGHTS = 100_000
"""Weights of a network up to which it pays to lay them out as one tensor."""


@attrs.frozen(kw_only=True, eq=False)
class DQNParts:
    """Actor and learner with what they share."""

    context: RuntimeContext[DQNExperimentConfiguration]
    actor: DQNActor
    learner: Learner
    learner_model: ThreadSafeModel[DQNModel]
    target_model: DQNModel
    optimizer: torch.optim.Optimizer
    shaping: RewardShapingPipeline | None

    @property
    def env_steps(self) -> int:
        """Environment steps taken so far."""
        return self.actor.env_steps

    def start(self, supervisor: Supervisor, policy: CheckpointPolicy) -> None:
        """Start the learner's thread, and the actor's where it has one of its own."""
        if not self._lockstep:
            supervisor.start("actor", self.actor.run)
        supervisor.start("learner", lambda: self.learn(policy))

    def learn(self, policy: CheckpointPolicy) -> None:
        """Run the learner's loop in the calling thread; in lockstep the actor's steps as well."""
        current_step = self._step_and_count if self._lockstep else self._count
        self.learner.run(self.context.stop_event, current_step, policy)

    def capture(self, env_steps: int) -> TrainingState:
        """Copy the run's state as it is; called between two updates."""
        with self.learner_model.updating() as model:
            moments, groups = optimizer_state(self.optimizer)
            return TrainingState(
                env_steps=env_steps,
                iterations=self.learner.iterations,
                tensors={
                    "model": copies(module_state(model)),
                    "target": copies(module_state(self.target_model)),
                    "optimizer": copies(moments),
                    "generators": {
                        "actor_noise": generator_state(self.actor.noise),
                        "learner_noise": generator_state(self.learner.noise),
                    },
                },
                state={
                    "learner": attrs.asdict(self.learner.runtime_state),
                    "optimizer": groups,
                    "scaler": scaler_state(self.learner.scaler),
                    "actor_generator": self.actor.generator.bit_generator.state,
                    "replay_generator": self.learner.generator.bit_generator.state,
                    "shaping": {} if self.shaping is None else self.shaping.state(),
                },
            )

    @property
    def _lockstep(self) -> bool:
        return self.context.config.run.mode == "lockstep"

    def _count(self) -> int:
        if self.context.stop_event.is_set():
            self.actor.settle(seconds=SETTLE_SECONDS)
        return self.env_steps

    def _step_and_count(self) -> int:
        if not (self.actor.finished or self.context.stop_event.is_set()):
            self.actor.step()
        return self.env_steps


def build_dqn_parts(
    context: RuntimeContext[DQNExperimentConfiguration],
    environments: VectorEnvironment,
    masker: ActionMasker,
    *,
    shapers: Sequence[RewardShaper] = (),
) -> DQNParts:
    """Make the parts. The same seed makes the same weights; `shapers` come after those of the
    configuration."""
    config = context.config

    def build_model() -> DQNModel:
        return build_dqn_model(
            observation_spec=environments.observation_spec,
            action_spec=environments.action_spec,
            options=config.model,
            generator=torch.Generator().manual_seed(derive_seed(context.seed, "model")),
        ).to(context.device)

    learner_model, target_model = ThreadSafeModel(build_model()), build_model()
    optimizer = build_optimizer(learner_model.model, config)
    shaping = reward_shaping(config.shaping, others=shapers)
    learner = Learner(
        context,
        learner_model,
        target_model,
        build_replay(config, environments, shapers=shapers),
        optimizer,
        config.optimisation.learning_rate,
        action_masker=masker,
        reward_shaping=shaping,
    )
    actor = DQNActor(
        context=context,
        environments=environments,
        model=learner_model.model if config.run.mode == "lockstep" else build_model(),
        learner_model=learner_model,
        replay=lambda: learner.replay_buffer,
        updates=lambda: learner.iterations,
        action_masker=masker,
    )
    return DQNParts(
        context=context,
        actor=actor,
        learner=learner,
        learner_model=learner_model,
        target_model=target_model,
        optimizer=optimizer,
        shaping=shaping,
    )


def build_optimizer(model: DQNModel, config: DQNExperimentConfiguration) -> torch.optim.Adam:
    """Adam over all parameters as one where the network is small, else over each by itself.

    The one gradient of all parameters has to be cleared and added to, which costs a large network
    more than it saves.
    """
    rate, epsilon = config.optimisation.learning_rate.value(0), config.optimisation.adam_epsilon
    if sum(parameter.numel() for parameter in model.parameters()) <= MOST_FLAT_WEIGHTS:
        return FlatAdam(model, lr=rate, eps=epsilon)
    return torch.optim.Adam(model.parameters(), lr=rate, eps=epsilon, fused=True)


def build_replay(
    config: DQNExperimentConfiguration,
    environments: VectorEnvironment,
    *,
    shapers: Sequence[RewardShaper] = (),
) -> ReplayBuffer:
    """The replay that the configuration asks for, empty."""
    shape = replay_shape(config, environments, shapers=shapers)
    if config.replay.kind == "prioritised":
        return PrioritizedReplayBuffer(
            alpha=config.replay.priority_exponent, epsilon=config.replay.priority_epsilon, **shape
        )
    return ReplayBuffer(**shape)
