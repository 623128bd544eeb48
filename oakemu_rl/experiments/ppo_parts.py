"""The parts of a PPO run, made and joined. What they do is theirs; when they run is the
experiment's."""

import attrs
import torch

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.checkpoints.state import (
    copies,
    generator_state,
    module_state,
    optimizer_state,
    scaler_state,
)
from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.experiments.memory import ROLLOUT_SLOTS
from oakemu_rl.models.ppo import PPOModel, build_ppo_model
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.handshake import RolloutHandshake
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.ppo.actor import PPOActor
from oakemu_rl.training.ppo.learner import PPOLearner


@attrs.frozen(kw_only=True, eq=False)
class PPOParts:
    """Actor and learner with what they share."""

    context: RuntimeContext[PPOExperimentConfiguration]
    actor: PPOActor
    learner: PPOLearner
    learner_model: ThreadSafeModel[PPOModel]
    buffer: RolloutBuffer
    optimizer: torch.optim.Optimizer

    @property
    def env_steps(self) -> int:
        """Environment steps taken so far."""
        return self.actor.env_steps

    def start(self, supervisor: Supervisor, policy: CheckpointPolicy) -> None:
        """Start the learner's thread, and the actor's where it has one of its own."""
        lockstep = self.context.config.run.mode == "lockstep"
        handshake = RolloutHandshake(
            self.buffer.slots, producer=self.actor.produce if lockstep else None
        )
        if not lockstep:
            supervisor.start("actor", lambda: self.actor.run(handshake))
        supervisor.start(
            "learner",
            lambda: self.learner.run(
                self.context.stop_event, lambda: self.env_steps, handshake, policy
            ),
        )

    def capture(self, env_steps: int) -> TrainingState:
        """Copy the run's state as it is; called between two updates."""
        with self.learner_model.updating() as model:
            moments, groups = optimizer_state(self.optimizer)
            return TrainingState(
                env_steps=env_steps,
                iterations=self.learner.iterations,
                tensors={
                    "model": copies(module_state(model)),
                    "optimizer": copies(moments),
                    "generators": {
                        "learner": generator_state(self.learner.generator),
                        "actor": generator_state(self.actor.generator),
                    },
                },
                state={
                    "learner": attrs.asdict(self.learner.runtime_state),
                    "optimizer": groups,
                    "scaler": scaler_state(self.learner.scaler),
                },
            )


def build_ppo_parts(
    context: RuntimeContext[PPOExperimentConfiguration],
    environments: VectorEnvironment,
    masker: ActionMasker,
) -> PPOParts:
    """Make the parts. The same seed makes the same weights."""
    config = context.config

    def build_model() -> PPOModel:
        return build_ppo_model(
            observation_spec=environments.observation_spec,
            action_spec=environments.action_spec,
            options=config.model,
            generator=torch.Generator().manual_seed(derive_seed(context.seed, "model")),
        ).to(context.device)

    learner_model = ThreadSafeModel(build_model())
    buffer = RolloutBuffer(
        steps=config.rollout.steps,
        environments=environments.count,
        observation_spec=environments.observation_spec,
        action_count=environments.action_spec.count,
        device=context.device,
        slots=ROLLOUT_SLOTS,
    )
    optimizer = torch.optim.Adam(
        learner_model.model.parameters(),
        lr=config.optimisation.learning_rate.value(0),
        eps=config.optimisation.adam_epsilon,
        fused=True,
    )
    static_mask = masker.static_mask
    learner = PPOLearner(
        context,
        learner_model,
        buffer,
        optimizer,
        config.optimisation.learning_rate,
        action_mask=None if static_mask is None else static_mask.to(context.device),
    )
    actor = PPOActor(
        context=context,
        environments=environments,
        model=build_model(),
        learner_model=learner_model,
        rollout_buffer=buffer,
        action_masker=masker,
    )
    return PPOParts(
        context=context,
        actor=actor,
        learner=learner,
        learner_model=learner_model,
        optimizer=optimizer,
        buffer=buffer,
    )
