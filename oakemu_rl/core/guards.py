"""Whether an update may reach the weights, and when a run of bad ones has to stop. Decisions
only."""

from oakemu_rl.core.minibatches import SkipCause

BAD = (SkipCause.NON_FINITE_LOSS, SkipCause.NON_FINITE_GRADIENT)
"""Causes that speak of an update which would have harmed the weights."""

LEAST_LOSS_SCALE = 1.0
"""Down to this scale a gradient that is not finite is put down to the scaler; below, to the
update."""


def skip_cause(*, loss_finite: bool, gradient_finite: bool, loss_scale: float | None) -> SkipCause:
    """Why the optimizer step has to be left out; `NONE` where it may be taken.

    `loss_scale` is the gradient scaler's scale, or None without a scaler. Under a scale above 1 a
    gradient that overflows is the scaler's business, which lowers the scale; at 1 or below nothing
    is scaled up any more, and the update itself is bad.
    """
    if not loss_finite:
        return SkipCause.NON_FINITE_LOSS
    if gradient_finite:
        return SkipCause.NONE
    if loss_scale is not None and loss_scale > LEAST_LOSS_SCALE:
        return SkipCause.SCALER_BACKOFF
    return SkipCause.NON_FINITE_GRADIENT


def bad_updates_in_a_row(previous: int, cause: SkipCause) -> int:
    """The count after one more update: a good one clears it, and one that was left out for no
    fault of its own leaves it."""
    if cause is SkipCause.NONE:
        return 0
    return previous + 1 if cause in BAD else previous
