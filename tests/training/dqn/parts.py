"""The parts of DQN training, made small; outlets and comparisons are those of the PPO parts."""

import copy
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import torch

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.config.dqn import (
    DQNExperimentConfiguration,
    DQNLossOptions,
    DQNModelOptions,
    DQNOptimisationOptions,
    ExplorationOptions,
    ReplayOptions,
    ShapingOptions,
)
from oakemu_rl.config.options import EnvironmentOptions, RunOptions
from oakemu_rl.core.observations import ActionSpec, ObservationSpec
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.models.flat import FlatAdam
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.model import ThreadSafeModel
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.dqn.actor import DQNActor
from oakemu_rl.training.dqn.learner import Learner
from oakemu_rl.training.shaping import RewardShapingPipeline, reward_shaping
from tests.training.parts import NUMBER, Outlets

SECTIONS = {
    "environment": EnvironmentOptions,
    "model": DQNModelOptions,
    "replay": ReplayOptions,
    "optimisation": DQNOptimisationOptions,
    "loss": DQNLossOptions,
    "exploration": ExplorationOptions,
    "shaping": ShapingOptions,
    "run": RunOptions,
}
DEFAULTS: dict[str, Mapping[str, Any]] = {
    "model": {"hidden_sizes": (8,)},
    "replay": {"capacity": 64, "warm_up_steps": 8},
    "optimisation": {"batch_size": 8, "steps_per_update": 1.0, "target_update_every": 4},
}


def config_of(**options: Mapping[str, Any]) -> DQNExperimentConfiguration:
    """Eight steps before the first update and one update a step, unless told otherwise."""
    sections: dict[str, Any] = {
        name: SECTIONS[name](**{**DEFAULTS.get(name, {}), **options.get(name, {})})
        for name in DEFAULTS | options
    }
    return DQNExperimentConfiguration(**sections)


def small_model(
    spec: ObservationSpec = NUMBER, *, actions: int = 3, seed: int = 0, **options: Any
) -> DQNModel:
    """A model of which values are far from equal."""
    model = build_dqn_model(
        observation_spec=spec,
        action_spec=ActionSpec(names=tuple(map(str, range(actions)))),
        options=DQNModelOptions(**({"hidden_sizes": (8,)} | options)),
        generator=torch.Generator().manual_seed(seed),
    )
    with torch.no_grad():
        for parameter in model.action_head.parameters():
            parameter.mul_(100.0)
    return model


def telling_model(*slopes: float) -> DQNModel:
    """Q(x, a) = slopes[a] * x for numbers x >= 0."""
    return _with_head_weights(torch.tensor(slopes).unsqueeze(1), actions=len(slopes))


def telling_distributions(*logits: Sequence[float], low: float, high: float) -> DQNModel:
    """The atoms of action a, from `low` to `high`, have the logits `logits[a]` times x."""
    return _with_head_weights(
        torch.tensor(logits).reshape(-1, 1),
        actions=len(logits),
        atoms=len(logits[0]),
        value_min=low,
        value_max=high,
    )


def _with_head_weights(weights: torch.Tensor, *, actions: int, **options: Any) -> DQNModel:
    model = small_model(actions=actions, hidden_sizes=(1,), activation="relu", **options)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if name.endswith("weight") else 0.0)
        dict(model.action_head.named_parameters())["weight"].copy_(weights)
    return model


@attrs.define(kw_only=True)
class Parts:
    """A learner with its models and its replay, and an actor that writes into that."""

    context: RuntimeContext[DQNExperimentConfiguration]
    outlets: Outlets
    model: ThreadSafeModel[DQNModel]
    target: DQNModel
    replay: ReplayBuffer
    optimizer: torch.optim.Optimizer
    learner: Learner
    actor: DQNActor | None = None
    acting_model: DQNModel | None = None

    @property
    def acting(self) -> DQNActor:
        assert self.actor is not None
        return self.actor


def replay_for(
    config: DQNExperimentConfiguration,
    *,
    spec: ObservationSpec = NUMBER,
    environments: int = 1,
    actions: int = 3,
    masked: bool = False,
    value_names: Sequence[str] = (),
) -> ReplayBuffer:
    """An empty replay as the configuration wants it."""
    layout: dict[str, Any] = {
        "capacity": config.replay.capacity,
        "environments": environments,
        "observation_spec": spec,
        "action_count": actions,
        "n_step": config.replay.n_step,
        "masked": masked,
        "value_names": value_names,
    }
    if config.replay.kind == "prioritised":
        return PrioritizedReplayBuffer(
            alpha=config.replay.priority_exponent,
            epsilon=config.replay.priority_epsilon,
            **layout,
        )
    return ReplayBuffer(**layout)


def learning_parts(
    config: DQNExperimentConfiguration,
    *,
    model: DQNModel | None = None,
    target: DQNModel | None = None,
    replay: ReplayBuffer | None = None,
    spec: ObservationSpec = NUMBER,
    actions: int = 3,
    masker: ActionMasker | None = None,
    shaping: RewardShapingPipeline | None = None,
    optimizer: Callable[[DQNModel], torch.optim.Optimizer] | None = None,
) -> Parts:
    """A learner; the target is a copy of the model, and the optimizer a flat Adam, unless given."""
    outlets = Outlets()
    context = RuntimeContext(
        config=config,
        seed=config.run.seed,
        metrics=outlets,
        events=outlets,
        stop_event=threading.Event(),
    )
    if model is None:
        options = attrs.asdict(config.model, recurse=False)
        model = small_model(spec, actions=actions, **options)
    shared = ThreadSafeModel(model)
    target = copy.deepcopy(model) if target is None else target
    replay = replay_for(config, spec=spec, actions=actions) if replay is None else replay
    made = FlatAdam(model, lr=1e-3, eps=1e-8) if optimizer is None else optimizer(model)
    learner = Learner(
        context,
        shared,
        target,
        replay,
        made,
        config.optimisation.learning_rate,
        action_masker=masker,
        reward_shaping=shaping,
    )
    return Parts(
        context=context,
        outlets=outlets,
        model=shared,
        target=target,
        replay=replay,
        optimizer=made,
        learner=learner,
    )


def acting_parts(
    config: DQNExperimentConfiguration,
    environments: VectorEnvironment,
    *,
    model: DQNModel | None = None,
    in_one_thread: bool = True,
    updates: Callable[[], int] | None = None,
) -> Parts:
    """A learner, and an actor on these environments: with the learner's own model, or another.

    The actor hears of the learner's updates, or of what `updates` says.
    """
    environments.reset(range(environments.count))
    spec, actions = environments.observation_spec, environments.action_spec
    masker = ActionMasker(actions, config.environment.actions)
    shaping = reward_shaping(config.shaping)
    parts = learning_parts(
        config,
        model=model,
        replay=replay_for(
            config,
            spec=spec,
            environments=environments.count,
            actions=actions.count,
            masked=environments.action_masks is not None,
            value_names=() if shaping is None else shaping.value_names,
        ),
        spec=spec,
        actions=actions.count,
        masker=masker,
        shaping=shaping,
    )
    own = parts.model.model
    parts.acting_model = own if in_one_thread else copy.deepcopy(own)
    parts.actor = DQNActor(
        context=parts.context,
        environments=environments,
        model=parts.acting_model,
        learner_model=parts.model,
        replay=lambda: parts.learner.replay_buffer,
        updates=updates or (lambda: parts.learner.iterations),
        action_masker=masker,
    )
    return parts


def write_episode(
    replay: ReplayBuffer,
    observations: Sequence[float],
    *,
    rewards: Sequence[float],
    actions: Sequence[int] = (),
    terminated: bool = False,
    truncated: bool = False,
    masks: Sequence[Sequence[bool]] | None = None,
    values: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Write an episode of one environment; there is one observation more than there are rewards.

    `masks` and `values` belong to the observations.
    """

    def seen(place: int) -> dict[str, Any]:
        return {
            "observations": np.array([[observations[place]]], dtype=np.float32),
            "action_masks": None if masks is None else np.array([masks[place]]),
            "values": {
                name: np.array([numbers[place]], np.float32)
                for name, numbers in (values or {}).items()
            },
        }

    replay.begin(**seen(0))
    for step, reward in enumerate(rewards):
        last = step == len(rewards) - 1
        following = {f"next_{name}": value for name, value in seen(step + 1).items()}
        replay.add(
            ReplayStep(
                actions=np.array([actions[step] if actions else 0]),
                rewards=np.array([reward], dtype=np.float32),
                terminated=np.array([last and terminated]),
                truncated=np.array([last and truncated]),
                valid=np.array([True]),
                **following,
            )
        )


def fill(parts: Parts, *, steps: int = 40, seed: int = 0) -> None:
    """One long episode at random numbers, with random actions and rewards."""
    random = np.random.default_rng(seed)
    write_episode(
        parts.replay,
        random.normal(size=steps + 1).tolist(),
        rewards=random.normal(size=steps).tolist(),
        actions=random.integers(3, size=steps).tolist(),
    )


def noise_of(model: torch.nn.Module | None) -> torch.Tensor:
    """All noise of a noisy model, copied."""
    assert model is not None
    found = [each.flatten() for name, each in model.named_buffers() if name.endswith("_noise")]
    return torch.cat(found)


def bits_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """All that the model saves, copied."""
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def same_weights(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    """Whether two models save the same bits."""
    theirs = other.state_dict()
    return all(torch.equal(tensor, theirs[name]) for name, tensor in one.state_dict().items())
