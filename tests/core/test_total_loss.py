"""What one update descends, and what is reported of the updates of a rollout."""

import math

import attrs
import pytest
import torch

from oakemu_rl.core.minibatches import PPOMinibatchMetrics, SkipCause
from oakemu_rl.core.total_loss import mean_metrics, total_loss
from oakemu_rl.core.weighting import LossWeights

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


TERMS = ("policy_loss", "value_loss", "entropy", "behaviour_cloning_loss")
WEIGHTS = LossWeights(policy=1.0, value=0.5, entropy=0.01, behaviour_cloning=0.0)


def test_entropy_is_rewarded_and_the_losses_are_summed() -> None:
    terms = dict(zip(TERMS, torch.tensor([2.0, 4.0, 10.0, torch.nan]), strict=True))
    assert total_loss(weights=WEIGHTS, **terms).item() == pytest.approx(2.0 + 2.0 - 0.1)


@pytest.mark.parametrize("name", TERMS)
def test_a_term_that_is_no_scalar_is_named(name: str) -> None:
    terms = {**dict.fromkeys(TERMS, torch.tensor(1.0)), name: torch.ones(3)}
    with pytest.raises(ValueError, match=rf"^{name}: expected shape \[\] = \[\], got \[3\]"):
        total_loss(weights=WEIGHTS, **terms)
