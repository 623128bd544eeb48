"""Storing a run's states from any of its threads; where they go is the manager's business."""

import threading

from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.core.ports import EventLog


class Checkpointer:
    """Stores states of one run, each once, and keeps track of the best.

    Args:
        manager: the run's checkpoints.
        configuration_hash: goes into each manifest.
        keep_last: newest checkpoints that stay; the best stays besides.
        events: is told of each checkpoint, its size, and who asked for it.
    """

    def __init__(
        self,
        *,
        manager: CheckpointManager,
        configuration_hash: str,
        keep_last: int,
        events: EventLog,
    ) -> None:
        self._manager = manager
        self._configuration_hash = configuration_hash
        self._keep_last = keep_last
        self._events = events
        self._lock = threading.Lock()
        self._stored: dict[int, int] = {}

    def store(self, state: TrainingState) -> None:
        """Store a state that was captured, unless it is there already."""
        with self._lock:
            self._write(state)
            self._manager.prune(self._keep_last)

    def store_if_best(self, state: TrainingState, *, score: float) -> bool:
        """Store a state that was tested if no other reached its score; whether it was."""
        with self._lock:
            best = self._manager.best_score()
            if best is not None and score <= best:
                return False
            self._write(state)
            self._manager.mark_best(env_steps=state.env_steps, score=score)
            self._manager.prune(self._keep_last)
            return True

    def _write(self, state: TrainingState) -> None:
        known = self._stored.get(state.env_steps) == state.iterations
        if known and state.env_steps in self._manager.steps():
            return
        path = self._manager.save(
            env_steps=state.env_steps,
            iterations=state.iterations,
            tensors=state.tensors,
            state=state.state,
            configuration_hash=self._configuration_hash,
        )
        self._stored[state.env_steps] = state.iterations
        size = sum(file.stat().st_size for file in path.iterdir())
        self._events.record(
            "checkpoint", env_steps=state.env_steps, folder=path.name, size_bytes=size
        )
