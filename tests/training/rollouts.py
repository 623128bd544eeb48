"""Rollouts as the actor leaves them, for tests of the learner alone."""

from typing import Any

import torch
from torch import Tensor

from oakemu_rl.buffers.slots import RolloutStep
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.masks import action_log_probs, combine_masks, masked_log_probs, sample_actions
from tests.training.parts import Parts, configuration

STEPS, ENVIRONMENTS = 8, 2
ROWS = STEPS * ENVIRONMENTS


def config_of(**options: Any) -> PPOExperimentConfiguration:
    """16 rows a rollout, in minibatches of 4, for 3 epochs, unless told otherwise."""
    defaults: dict[str, dict[str, Any]] = {
        "rollout": {"steps": STEPS},
        "optimisation": {"minibatch_size": 4, "ppo_epochs": 3},
        "cloning": {"minibatch_size": 4},
    }
    merged = {name: defaults.get(name, {}) | options.get(name, {}) for name in defaults | options}
    return configuration(**merged)


def collect(
    parts: Parts,
    slot: int = 0,
    *,
    seed: int = 0,
    replayed: Tensor | None = None,
    valid: Tensor | None = None,
    masks: Tensor | None = None,
    unrecorded_mask: Tensor | None = None,
    version: int | None = None,
    env_steps: int = 0,
) -> None:
    """Fill a slot with what the shared model does at random observations."""
    buffer, model = parts.buffer, parts.model.model
    generator = torch.Generator().manual_seed(seed)
    shape = (buffer.steps, buffer.environments)
    buffer.begin(slot, version=parts.model.version if version is None else version)
    none = torch.zeros(shape, dtype=torch.bool)
    for t in range(buffer.steps):
        observations = torch.randn(buffer.environments, 1, generator=generator)
        recorded = None if masks is None else masks[t]
        mask = combine_masks(unrecorded_mask, recorded)
        with torch.no_grad():
            output = model(observations)
        actions = sample_actions(logits=output.logits, mask=mask, generator=generator)
        log_probs = masked_log_probs(logits=output.logits, mask=mask)
        step = RolloutStep(
            observations=observations,
            actions=actions,
            log_probs=action_log_probs(log_probs=log_probs, actions=actions),
            values=output.values,
            final_values=torch.zeros(buffer.environments),
            rewards=torch.randn(buffer.environments, generator=generator),
            terminated=none[t],
            truncated=none[t],
            valid=(~none if valid is None else valid)[t],
            replayed=None if replayed is None else replayed[t],
            action_masks=recorded,
        )
        buffer.write(slot, step)
    buffer.finalise(
        slot,
        last_values=torch.zeros(buffer.environments),
        gamma=0.99,
        gae_lambda=0.95,
        env_steps=env_steps,
    )


def replayed_rows(count: int) -> Tensor:
    """The first `count` rows, [T, N]."""
    return (torch.arange(ROWS) < count).reshape(STEPS, ENVIRONMENTS)


def part_bits(parts: Parts) -> dict[str, list[Tensor]]:
    found: dict[str, list[Tensor]] = {}
    for name, tensor in parts.model.model.state_dict().items():
        found.setdefault(name.split(".")[0], []).append(tensor.clone())
    return found


def moved(parts: Parts, before: dict[str, list[Tensor]]) -> set[str]:
    after = part_bits(parts)
    return {
        name for name, tensors in before.items() if not all(map(torch.equal, tensors, after[name]))
    }
