"""What is reported of the updates of a rollout."""

import math

import attrs

from oakemu_rl.core.minibatches import PPOMinibatchMetrics, SkipCause
from oakemu_rl.core.total_loss import mean_metrics

MEASURED = [
    field.name
    for field in attrs.fields(PPOMinibatchMetrics)
    if field.name not in ("skipped", "skip_cause")
]


def test_every_number_is_the_mean_over_the_updates_that_were_taken() -> None:
    one, other = (
        PPOMinibatchMetrics(**{name: factor * index for index, name in enumerate(MEASURED)})
        for factor in (1.0, 3.0)
    )
    skipped = PPOMinibatchMetrics(
        **dict.fromkeys(MEASURED, math.nan), skipped=True, skip_cause=SkipCause.NON_FINITE_LOSS
    )
    mean = mean_metrics([one, skipped, other])
    assert [getattr(mean, name) for name in MEASURED] == [2.0 * n for n in range(len(MEASURED))]
    assert (mean.skipped, mean.skip_cause) == (False, SkipCause.NONE)


def test_of_no_update_all_numbers_are_0() -> None:
    assert mean_metrics([]) == PPOMinibatchMetrics()
