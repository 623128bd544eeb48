"""Sampled batches with numbers that are known, for tests of an update alone."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.models.dqn import DQNModel
from oakemu_rl.models.flat import FlatAdam
from oakemu_rl.training.dqn.update import DQNUpdate, DQNUpdater
from tests.training.parts import CPU

NO_SCALER = torch.amp.GradScaler("cpu", enabled=False)


def batch_of(
    *,
    rewards: Sequence[Sequence[float]] = ((1.0,),),
    terminated: Sequence[bool] | None = None,
    observations: Sequence[float] | None = None,
    next_observations: Sequence[float] | None = None,
    actions: Sequence[int] | None = None,
    lengths: Sequence[int] | None = None,
    **fields: Any,
) -> TransitionBatch:
    """Rows with these rewards; observations are 1, actions 0 and windows full unless given."""
    count, width = len(rewards), len(rewards[0])

    def numbers(given: Sequence[float] | None) -> Tensor:
        return torch.tensor(given or [1.0] * count).unsqueeze(1)

    return TransitionBatch(
        observations=numbers(observations),
        next_observations=numbers(next_observations),
        actions=torch.tensor(actions or [0] * count),
        rewards=torch.tensor(rewards),
        lengths=torch.tensor(lengths or [width] * count),
        terminated=torch.tensor(terminated or [False] * count),
        indices=torch.arange(count),
        serials=torch.arange(count),
        size=count,
        **fields,
    )


def updater_of(
    config: DQNExperimentConfiguration,
    model: DQNModel,
    *,
    scaler: torch.amp.GradScaler = NO_SCALER,
    action_mask: Tensor | None = None,
) -> DQNUpdater:
    """An updater with an optimizer of its own."""
    return DQNUpdater(config, FlatAdam(model, lr=1e-3, eps=1e-8), CPU, scaler, action_mask)


def update(
    config: DQNExperimentConfiguration,
    batch: TransitionBatch,
    *,
    model: DQNModel,
    target: DQNModel,
    beta: float = 0.4,
    rewards: Tensor | None = None,
    action_mask: Tensor | None = None,
) -> DQNUpdate:
    """One update of `model`."""
    return updater_of(config, model, action_mask=action_mask).update(
        batch,
        rewards=batch.rewards if rewards is None else rewards,
        model=model,
        target_model=target,
        beta=beta,
    )
