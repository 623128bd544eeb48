"""Whether what a run allocates at its start fits into the memory that is free."""

import psutil

from oakemu_rl.buffers.slots import RolloutStorage
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.envs.vector import VectorEnvironment

ROLLOUT_SLOTS = 2
"""One slot fills while the other is learned from."""


def require_rollout_memory(
    config: PPOExperimentConfiguration, environments: VectorEnvironment
) -> None:
    """Refuse rollouts that are larger than the free memory.

    Raises:
        ConfigurationError: names both sizes and the settings that decide.
    """
    needed = ROLLOUT_SLOTS * RolloutStorage.size_bytes(
        steps=config.rollout.steps,
        environments=environments.count,
        observation_spec=environments.observation_spec,
        action_count=environments.action_spec.count,
    )
    free = psutil.virtual_memory().available
    if needed > free:
        raise ConfigurationError(
            f"rollout.steps: {config.rollout.steps:,} steps of {environments.count:,} environments "
            f"need {needed / 1e9:,.1f} GB for {ROLLOUT_SLOTS} rollouts, {free / 1e9:,.1f} GB are "
            "free; lower rollout.steps or environment.count"
        )
