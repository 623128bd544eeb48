"""Whether what a run allocates at its start can be made, and fits into the memory that is free."""

from collections.abc import Sequence
from typing import Any

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer
from oakemu_rl.buffers.slots import RolloutStorage
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.errors import ConfigurationError
from oakemu_rl.envs.vector import VectorEnvironment
from oakemu_rl.experiments.free_memory import free_memory
from oakemu_rl.training.shaping import RewardShaper, reward_shaping

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
    free = free_memory()
    if needed > free:
        raise ConfigurationError(
            f"rollout.steps: {config.rollout.steps:,} steps of {environments.count:,} environments "
            f"need {needed / 1e9:,.1f} GB for {ROLLOUT_SLOTS} rollouts, {free / 1e9:,.1f} GB are "
            "free; lower rollout.steps or environment.count"
        )


def replay_shape(
    config: DQNExperimentConfiguration,
    environments: VectorEnvironment,
    *,
    shapers: Sequence[RewardShaper] = (),
) -> dict[str, Any]:
    """What decides the size of a replay, as the buffer's arguments.

    The environments are reset, since only then do they show whether they have masks.
    """
    environments.reset([config.run.seed] * environments.count)
    return {
        "capacity": config.replay.capacity,
        "environments": environments.count,
        "observation_spec": environments.observation_spec,
        "action_count": environments.action_spec.count,
        "frame_stack": config.environment.frame_stack,
        "n_step": config.replay.n_step,
        "masked": environments.action_masks is not None,
        "value_names": value_names(config, shapers=shapers),
        "compression": config.replay.compression,
    }


def value_names(
    config: DQNExperimentConfiguration, *, shapers: Sequence[RewardShaper] = ()
) -> tuple[str, ...]:
    """The named values of the environment that reward shaping reads."""
    shaping = reward_shaping(config.shaping, others=shapers)
    return () if shaping is None else shaping.value_names


def require_replay_memory(
    config: DQNExperimentConfiguration,
    environments: VectorEnvironment,
    *,
    shapers: Sequence[RewardShaper] = (),
) -> None:
    """Refuse a replay that never holds a batch, is larger than the free memory, or can't be made.

    Raises:
        ConfigurationError: names both sizes and the settings that decide.
        MissingExtraError: the package for the compression is not installed.
    """
    _require_room_for_a_batch(config)
    shape = replay_shape(config, environments, shapers=shapers)
    prioritised = config.replay.kind == "prioritised"
    buffer = PrioritizedReplayBuffer if prioritised else ReplayBuffer
    needed, free = buffer.size_bytes(**shape), free_memory()
    if needed > free:
        raise ConfigurationError(
            f"replay.capacity: {config.replay.capacity:,} steps need {needed / 1e9:,.1f} GB, "
            f"{free / 1e9:,.1f} GB are free; lower replay.capacity"
        )
    # The least that can be made tells what is missing before there is a run folder.
    ReplayBuffer(**{**shape, "capacity": _least_capacity(config, rows=1)})


def _require_room_for_a_batch(config: DQNExperimentConfiguration) -> None:
    rows, capacity = config.optimisation.batch_size, config.replay.capacity
    least = _least_capacity(config, rows=rows)
    if capacity < least:
        raise ConfigurationError(
            f"replay.capacity: {capacity:,} steps of {config.environment.count:,} environments "
            f"with stacks of {config.environment.frame_stack} hold fewer than the {rows:,} that "
            f"optimisation.batch_size draws; raise replay.capacity to {least:,} or more"
        )


def _least_capacity(config: DQNExperimentConfiguration, *, rows: int) -> int:
    """The capacity with which `rows` steps can be drawn at any time in long episodes.

    Of its share of slots each environment keeps as many that cannot be drawn as a stack has frames:
    the newest, and those that lost frames of their stacks.
    """
    count = config.environment.count
    return count * (-(-rows // count) + config.environment.frame_stack)
