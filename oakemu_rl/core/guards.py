"""Whether an update may reach the weights, and how many bad ones came in a row."""

from oakemu_rl.core.minibatches import SkipCause

_BAD = (SkipCause.NON_FINITE_LOSS, SkipCause.NON_FINITE_GRADIENT)
"""Causes that speak of an update which would have harmed the weights."""

_UNSCALED = 1.0
"""Above this loss scale the scaler is to blame for a gradient that is not finite."""


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
    if loss_scale is not None and loss_scale > _UNSCALED:
        return SkipCause.SCALER_BACKOFF
    return SkipCause.NON_FINITE_GRADIENT


def bad_updates_in_a_row(previous: int, cause: SkipCause) -> int:
    """The count after one more update: a good one clears it, and one that was left out for no
    fault of its own leaves it."""
    if cause is SkipCause.NONE:
        return 0
    return previous + 1 if cause in _BAD else previous
