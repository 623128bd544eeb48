"""When things fall due, counted in environment steps and policy versions; no clock is read.

How often something is asked plays no part: only the counts that are passed in do.
"""

from oakemu_rl.core.number_checks import check_not_negative, check_positive


def checkpoint_due(*, env_steps: int, last_env_steps: int, every_steps: int) -> bool:
    """Whether a multiple of `every_steps` lies in (last_env_steps, env_steps].

    `last_env_steps` is the count at the last checkpoint, or at the start of training; so a step
    that passes several multiples at once gives one checkpoint, and a checkpoint off the grid does
    not move the later ones.

    Raises:
        ValueError: a count is negative, `every_steps` is not above 0, or steps went back.
    """
    check_positive("every_steps", every_steps)
    check_not_negative("last_env_steps", last_env_steps)
    if env_steps < last_env_steps:
        raise ValueError(
            f"env_steps: expected at least last_env_steps={last_env_steps}, got {env_steps}"
        )
    return env_steps // every_steps > last_env_steps // every_steps


def is_stale(*, rollout_version: int, learner_version: int, max_staleness: int) -> bool:
    """Whether the policy that made a rollout lies more than `max_staleness` versions behind.

    Raises:
        ValueError: `max_staleness` is negative.
    """
    check_not_negative("max_staleness", max_staleness)
    return learner_version - rollout_version > max_staleness


def rollouts_needed(total_steps: int, steps_per_rollout: int) -> int:
    """The least number of whole rollouts that hold `total_steps` environment steps.

    Raises:
        ValueError: `total_steps` is negative, or `steps_per_rollout` is not above 0.
    """
    check_not_negative("total_steps", total_steps)
    check_positive("steps_per_rollout", steps_per_rollout)
    return -(-total_steps // steps_per_rollout)
