"""The seam that a learner's loop drives: when to tell the tester, and when to save."""

from collections.abc import Callable

from oakemu_rl.core.cadence import checkpoint_due
from oakemu_rl.core.ports import TesterSignal


class CheckpointPolicy:
    """Notifies the tester when there is something new to test, and saves every so many environment
    steps and at the end.

    Args:
        save: saves the run as it is at this environment step.
        every_steps: environment steps between two checkpoints.
        tester: is told of each update, or None.
    """

    def __init__(
        self, *, save: Callable[[int], None], every_steps: int, tester: TesterSignal | None = None
    ) -> None:
        self._save = save
        self._every_steps = every_steps
        self._tester = tester
        self._last_env_steps = 0
        self._finished = False

    def after_update(self, *, env_steps: int) -> None:
        """The learner has finished an update at `env_steps` that is worth a test."""
        self.notify(env_steps=env_steps)
        self.save_if_due(env_steps=env_steps)

    def notify(self, *, env_steps: int) -> None:
        """Tell the tester that the weights of `env_steps` are worth a test."""
        if self._tester is not None:
            self._tester.notify(env_steps=env_steps)

    def save_if_due(self, *, env_steps: int) -> None:
        """Save if a multiple of `every_steps` was passed since the last time."""
        if checkpoint_due(
            env_steps=env_steps,
            last_env_steps=self._last_env_steps,
            every_steps=self._every_steps,
        ):
            self._last_env_steps = env_steps
            self._save(env_steps)

    def finish(self, *, env_steps: int) -> None:
        """The learner's loop has ended: save for the last time. A second call does nothing."""
        if not self._finished:
            self._finished = True
            self._save(env_steps)
