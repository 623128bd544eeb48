"""Minibatches, updaters, and what an update left as it was."""

from typing import Any

import attrs
import torch
from torch import Tensor

from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.masks import action_log_probs, masked_log_probs
from oakemu_rl.core.minibatches import BehaviorCloningMinibatch, RolloutMinibatch
from oakemu_rl.core.weighting import LossWeights
from oakemu_rl.models.ppo import PPOModel
from oakemu_rl.training.ppo.minibatch_update import PPOMinibatchUpdater
from tests.training.parts import CPU, configuration

EVERY_PART = {"trunk", "policy_head", "value_head"}
PPO_WEIGHTS = LossWeights(policy=1.0, value=0.5, entropy=0.01, behaviour_cloning=0.0)
ALL_WEIGHTS = attrs.evolve(PPO_WEIGHTS, behaviour_cloning=1.0)
NOTHING = LossWeights(policy=0.0, value=0.0, entropy=0.0, behaviour_cloning=0.0)
NO_SCALER = torch.amp.GradScaler("cpu", enabled=False)


def updater_of(
    model: PPOModel,
    config: PPOExperimentConfiguration | None = None,
    *,
    optimizer: torch.optim.Optimizer | None = None,
    scaler: torch.amp.GradScaler = NO_SCALER,
    action_mask: Tensor | None = None,
) -> PPOMinibatchUpdater:
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=2e-2, fused=True)
    config = config or configuration()
    return PPOMinibatchUpdater(config, optimizer, CPU, scaler, action_mask)


def rollout_rows(
    model: PPOModel, rows: int = 16, *, masked: bool = False, seed: int = 0
) -> RolloutMinibatch:
    """Rows as the model itself collects them, with advantages at random."""
    generator = torch.Generator().manual_seed(seed)
    observations = torch.randn(rows, 1, generator=generator)
    actions = torch.randint(3, (rows,), generator=generator)
    mask = torch.rand(rows, 3, generator=generator) < 0.5
    mask.scatter_(1, actions[:, None], value=True)
    with torch.no_grad():
        output = model(observations)
    log_probs = masked_log_probs(logits=output.logits, mask=mask if masked else None)
    return RolloutMinibatch(
        observations=observations,
        actions=actions,
        log_probs=action_log_probs(log_probs=log_probs, actions=actions),
        values=output.values,
        advantages=torch.randn(rows, generator=generator),
        returns=torch.randn(rows, generator=generator),
        action_masks=mask if masked else None,
    )


def demonstrated_rows(rows: int = 16, **changes: Any) -> BehaviorCloningMinibatch:
    generator = torch.Generator().manual_seed(9)
    observations = torch.randn(rows, 1, generator=generator)
    fields = {"observations": observations, "actions": (observations[:, 0] > 0).long()}
    return BehaviorCloningMinibatch(**(fields | changes))


def bits_of(model: PPOModel) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def changed(before: dict[str, Tensor], after: dict[str, Tensor]) -> set[str]:
    """The parts of the model in which a bit differs."""
    return {
        name.split(".")[0]
        for name, tensor in before.items()
        if not torch.equal(tensor, after[name])
    }
