"""The parts of PPO training, made small, and outlets that keep what they are told."""

import copy
import threading
from collections.abc import Mapping
from typing import Any

import attrs
import torch

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.config.options import CloningOptions, EnvironmentOptions, ModelOptions, RunOptions
from oakemu_rl.config.ppo import (
    LossOptions,
    OptimisationOptions,
    PPOExperimentConfiguration,
    RolloutOptions,
)
from oakemu_rl.core.observations import ActionSpec, ObservationSpec, TensorSpec
from oakemu_rl.core.ports import BCSampler
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.models.ppo import PPOModel, build_ppo_model
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.ppo.actor import PPOActor
from oakemu_rl.training.ppo.learner import PPOLearner

CPU = torch.device("cpu")
NUMBER = TensorSpec(shape=(1,), dtype="float32")
THREE = ActionSpec(names=("left", "stay", "right"))
SECTIONS = {
    "environment": EnvironmentOptions,
    "rollout": RolloutOptions,
    "optimisation": OptimisationOptions,
    "loss": LossOptions,
    "cloning": CloningOptions,
    "run": RunOptions,
}


def configuration(**options: Mapping[str, Any]) -> PPOExperimentConfiguration:
    """A configuration with these options in its sections."""
    sections: dict[str, Any] = {name: SECTIONS[name](**given) for name, given in options.items()}
    return PPOExperimentConfiguration(**sections)


@attrs.define
class Outlets:
    """Keeps every record of metrics and every event, in order."""

    records: list[tuple[int, dict[str, float]]] = attrs.field(factory=list)
    events: list[tuple[str, int, dict[str, Any]]] = attrs.field(factory=list)

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        self.records.append((env_steps, dict(values)))

    def record(self, kind: str, /, *, env_steps: int, **details: Any) -> None:
        self.events.append((kind, env_steps, details))

    def close(self) -> None:
        pass

    def series(self, name: str) -> list[float]:
        """What was written under this name."""
        return [values[name] for _, values in self.records if name in values]


def small_model(
    spec: ObservationSpec = NUMBER,
    *,
    actions: int = 3,
    seed: int = 0,
    options: ModelOptions | None = None,
) -> PPOModel:
    """A model with a policy that is far from uniform."""
    model = build_ppo_model(
        observation_spec=spec,
        action_spec=ActionSpec(names=tuple(map(str, range(actions)))),
        options=options or ModelOptions(hidden_sizes=(8,)),
        generator=torch.Generator().manual_seed(seed),
    )
    with torch.no_grad():
        model.policy_head.weight.mul_(100.0)
    return model


def telling_model(actions: int = 3) -> PPOModel:
    """V(x) = 10 x for numbers x >= 0, and equal logits everywhere."""
    model = small_model(actions=actions, options=ModelOptions(hidden_sizes=(1,), activation="relu"))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("weight") else 0.0)
        model.policy_head.weight.zero_()
        model.value_head.weight.fill_(10.0)
    return model


@attrs.define(kw_only=True)
class Parts:
    """An actor and a learner that share a model and a buffer."""

    context: RuntimeContext[PPOExperimentConfiguration]
    outlets: Outlets
    model: ThreadSafeModel[PPOModel]
    buffer: RolloutBuffer
    optimizer: torch.optim.Optimizer
    learner: PPOLearner
    actor: PPOActor | None = None

    @property
    def acting(self) -> PPOActor:
        assert self.actor is not None
        return self.actor


def learning_parts(
    config: PPOExperimentConfiguration,
    *,
    model: PPOModel | None = None,
    spec: ObservationSpec = NUMBER,
    environments: int = 2,
    actions: int = 3,
    action_mask: torch.Tensor | None = None,
    bc_sampler: BCSampler | None = None,
    stop_event: threading.Event | None = None,
) -> Parts:
    """A learner, its model, optimizer and buffer."""
    outlets = Outlets()
    context = RuntimeContext(
        config=config,
        seed=config.run.seed,
        metrics=outlets,
        events=outlets,
        stop_event=stop_event or threading.Event(),
    )
    shared = ThreadSafeModel(model if model is not None else small_model(spec, actions=actions))
    buffer = RolloutBuffer(
        steps=config.rollout.steps,
        environments=environments,
        observation_spec=spec,
        action_count=actions,
    )
    optimizer = torch.optim.Adam(shared.model.parameters(), lr=1e-3, fused=True)
    learner = PPOLearner(
        context,
        shared,
        buffer,
        optimizer,
        config.optimisation.learning_rate,
        action_mask,
        bc_sampler,
    )
    return Parts(
        context=context,
        outlets=outlets,
        model=shared,
        buffer=buffer,
        optimizer=optimizer,
        learner=learner,
    )


def acting_parts(
    config: PPOExperimentConfiguration,
    environments: VectorEnvironment,
    *,
    model: PPOModel | None = None,
    stop_event: threading.Event | None = None,
) -> Parts:
    """A learner and an actor on these environments."""
    spec, actions = environments.observation_spec, environments.action_spec
    masker = ActionMasker(actions, config.environment.actions)
    parts = learning_parts(
        config,
        model=model if model is not None else small_model(spec, actions=actions.count),
        spec=spec,
        environments=environments.count,
        actions=actions.count,
        action_mask=masker.static_mask,
        stop_event=stop_event,
    )
    parts.actor = PPOActor(
        context=parts.context,
        environments=environments,
        model=copy.deepcopy(parts.model.model),
        learner_model=parts.model,
        rollout_buffer=parts.buffer,
        action_masker=masker,
    )
    return parts


def same_bits(one: object, other: object) -> bool:
    """Whether two nests of dicts, lists and tensors are equal, bit for bit."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.dtype == other.dtype and torch.equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(same_bits(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same_bits, one, other))
    return one == other
