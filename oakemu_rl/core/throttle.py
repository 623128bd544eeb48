"""How many updates belong to the environment steps taken, and which side has to wait for the other.

The learner waits for experience, and an actor that is much faster waits for the learner. Only the
counts that are passed in decide; no clock is read. This module needs no torch.
"""

import math

from oakemu_rl.core.number_checks import check_not_negative, check_positive


def updates_due(*, env_steps: int, warm_up_steps: int, steps_per_update: float) -> int:
    """How many updates ought to have been made after `env_steps` environment steps.

        floor((env_steps - warm_up_steps) / steps_per_update), at least 0

    So the first is due `steps_per_update` steps after the warm-up.

    Args:
        steps_per_update: 4 gives one update for every four steps, 0.5 two for each.

    Raises:
        ValueError: a count is negative, or `steps_per_update` is not above 0.
    """
    check_not_negative("env_steps", env_steps)
    check_not_negative("warm_up_steps", warm_up_steps)
    check_positive("steps_per_update", steps_per_update)
    return max(0, math.floor((env_steps - warm_up_steps) / steps_per_update))


def may_learn(
    *,
    env_steps: int,
    updates: int,
    warm_up_steps: int,
    steps_per_update: float,
    available: int,
    batch_size: int,
) -> bool:
    """Whether the learner may make an update now: one is due, and a batch can be drawn.

    Args:
        updates: optimizer steps taken so far. One that was skipped for a loss or gradient that was
            not finite does not count, so it is due again at once, with another batch.
        available: transitions that can be drawn.

    Raises:
        ValueError: as `updates_due`; or `batch_size` is not above 0.
    """
    check_positive("batch_size", batch_size)
    due = updates_due(
        env_steps=env_steps, warm_up_steps=warm_up_steps, steps_per_update=steps_per_update
    )
    return updates < due and available >= batch_size


def may_act(
    *,
    env_steps: int,
    updates: int,
    warm_up_steps: int,
    steps_per_update: float,
    available: int,
    batch_size: int,
    max_lag: int,
) -> bool:
    """Whether the actor may take a step now: the learner is at most `max_lag` updates behind.

    As long as no batch can be drawn the actor goes on, whatever the lag, for nobody else can bring
    what is missing. So of `may_learn` and `may_act`, asked with the same counts, one is always
    true.

    Raises:
        ValueError: as `may_learn`; or `max_lag` is negative.
    """
    check_positive("batch_size", batch_size)
    check_not_negative("max_lag", max_lag)
    due = updates_due(
        env_steps=env_steps, warm_up_steps=warm_up_steps, steps_per_update=steps_per_update
    )
    return due - updates <= max_lag or available < batch_size
