"""The count of updates that were taken and that were not, and the end of a run of bad ones."""

from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.core.guards import bad_updates_in_a_row
from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.core.ports import EventLog

NAMES = {
    SkipCause.NON_FINITE_LOSS: "the loss",
    SkipCause.NON_FINITE_GRADIENT: "the gradient",
}


class UpdateLedger:
    """Counts updates by what became of them, names the bad ones in the event log, and stops a run
    in which too many come in a row."""

    def __init__(self, *, events: EventLog, max_bad_updates: int) -> None:
        self._events = events
        self._max_bad_updates = max_bad_updates
        self._counts = dict.fromkeys(SkipCause, 0)
        self._bad_in_a_row = 0

    @property
    def skipped_updates(self) -> int:
        """Updates left out because the loss or the gradient was not finite."""
        return sum(self._counts[cause] for cause in NAMES)

    @property
    def scaler_backoffs(self) -> int:
        """Updates left out because the gradient scaler lowered its scale."""
        return self._counts[SkipCause.SCALER_BACKOFF]

    def add(self, cause: SkipCause, *, env_steps: int, update: str) -> None:
        """Count one update; `update` says which one it was.

        Raises:
            DivergenceError: it is the last bad one of as many in a row as are allowed.
        """
        self._counts[cause] += 1
        self._bad_in_a_row = bad_updates_in_a_row(self._bad_in_a_row, cause)
        if cause not in NAMES:
            return
        self._events.record(
            "update_skipped", env_steps=env_steps, cause=cause.name.lower(), update=update
        )
        if self._bad_in_a_row >= self._max_bad_updates:
            raise DivergenceError(
                f"{NAMES[cause]} was not finite in {self._bad_in_a_row} updates in a row, up to "
                f"{update} at {env_steps} environment steps (optimisation.max_bad_updates); they "
                "did not touch the weights. Lower optimisation.learning_rate, or check the rewards"
            )
