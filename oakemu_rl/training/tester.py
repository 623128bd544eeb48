"""The tester: plays whole episodes with weights of the learner while training goes on."""

import threading
from collections.abc import Callable

from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.options import EvaluationOptions
from oakemu_rl.core.cadence import checkpoint_due
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.seeds import episode_seeds
from oakemu_rl.training.test_bench import TestBench

POLL_SECONDS = 0.1


class Tester:
    """Tests the newest weights every so many environment steps, on environments of its own.

    `notify` is called in the learner's thread and copies the run's state when a test is due. In its
    own thread `run` tests the newest such copy; without one, `inline=True` tests it at once in the
    learner's thread. The copy that was tested is handed on with the result, so that what is kept as
    the best is what reached the score.

    Args:
        bench: plays the episodes, on environments and a model that nobody else uses.
        options: how often and how it is tested.
        seed: the run's seed, from which the episodes' seeds are derived.
        capture: copies the run's state.
        report: takes the result and the state that was tested.
        stop_event: cuts a test short.
    """

    __test__ = False  # pytest would take the name for a test class

    def __init__(
        self,
        *,
        bench: TestBench,
        options: EvaluationOptions,
        seed: int,
        capture: Callable[[int], TrainingState],
        report: Callable[[Evaluation, TrainingState], None],
        stop_event: threading.Event,
        inline: bool,
    ) -> None:
        self._bench = bench
        self._options = options
        self._seed = seed
        self._capture = capture
        self._report = report
        self._stop_event = stop_event
        self._inline = inline
        self._changed = threading.Condition()
        self._pending: TrainingState | None = None
        self._last_env_steps = 0
        self._tested: tuple[int, int] | None = None

    def notify(self, *, env_steps: int) -> None:
        """The learner has finished an update at `env_steps`."""
        if not checkpoint_due(
            env_steps=env_steps,
            last_env_steps=self._last_env_steps,
            every_steps=self._options.every_steps,
        ):
            return
        self._last_env_steps = env_steps
        state = self._capture(env_steps)
        if self._inline:
            self.test(state)
            return
        with self._changed:
            self._pending = state
            self._changed.notify_all()

    def run(self) -> None:
        """Test what is pending until the run stops."""
        while not self._stop_event.is_set():
            beat()
            with self._changed:
                if self._pending is None:
                    self._changed.wait(POLL_SECONDS)
                state, self._pending = self._pending, None
            if state is not None:
                self.test(state)

    def test(self, state: TrainingState) -> Evaluation | None:
        """Test this state and report the result.

        None if the run was stopped meanwhile, or if this state was the last that was tested.
        """
        moment = (state.env_steps, state.iterations)
        if moment == self._tested:
            return None
        # The same seeds in each test: scores of one run then differ by the weights alone.
        seeds = episode_seeds(self._seed, "test", self._options.episodes)
        mode = self._options.mode
        episodes = self._bench.play_agent(state.tensors["model"], seeds=seeds, mode=mode)
        if episodes is None:
            return None
        evaluation = Evaluation.of(episodes, mode=mode, step=state.env_steps)
        self._tested = moment
        self._report(evaluation, state)
        return evaluation
