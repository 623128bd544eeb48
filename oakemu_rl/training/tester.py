"""The tester: plays whole episodes with weights of the learner while training goes on."""

import threading
from collections.abc import Callable

import torch

from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.options import EvaluationOptions
from oakemu_rl.core.cadence import checkpoint_due
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.models.ppo import PPOModel
from oakemu_rl.runtime.supervision import beat
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.episodes import EpisodePlayer, PlayedEpisode
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.players import policy_player

POLL_SECONDS = 0.1


class Tester:
    """Tests the newest weights every so many environment steps, on environments of its own.

    `notify` is called in the learner's thread and copies the run's state when a test is due. In its
    own thread `run` tests the newest such copy; without one, `inline=True` tests it at once in the
    learner's thread. The copy that was tested is handed on with the result, so that what is kept as
    the best is what reached the score.

    Args:
        player: plays the episodes, on environments that nobody else steps.
        model: a model of the tester's own, into which weights are copied.
        masker: the action masks.
        options: how often and how it is tested.
        seed: the run's seed, from which the episodes' seeds are derived.
        capture: copies the run's state.
        report: takes the result and the state that was tested.
        stop_event: cuts a test short.
    """

    def __init__(
        self,
        *,
        player: EpisodePlayer,
        model: PPOModel,
        masker: ActionMasker,
        options: EvaluationOptions,
        seed: int,
        device: torch.device,
        capture: Callable[[int], TrainingState],
        report: Callable[[Evaluation, TrainingState], None],
        stop_event: threading.Event,
        inline: bool,
    ) -> None:
        self._player = player
        self._model = model
        self._masker = masker
        self._options = options
        self._seed = seed
        self._device = device
        self._capture = capture
        self._report = report
        self._stop_event = stop_event
        self._inline = inline
        self._changed = threading.Condition()
        self._pending: TrainingState | None = None
        self._last_env_steps = 0

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
        """Test this state and report the result; None if the run was stopped meanwhile."""
        # The same seeds in each test: scores of one run then differ by the weights alone.
        seeds = [derive_seed(self._seed, "test", index) for index in range(self._options.episodes)]
        episodes = self.play(state, seeds=seeds, mode=self._options.mode)
        if episodes is None:
            return None
        evaluation = Evaluation.of(episodes, mode=self._options.mode, step=state.env_steps)
        self._report(evaluation, state)
        return evaluation

    def play(
        self, state: TrainingState, *, seeds: list[int], mode: str
    ) -> tuple[PlayedEpisode, ...] | None:
        """One episode for each seed with the weights of `state`; None if the run was stopped."""
        self._model.load_state_dict(state.tensors["model"])
        # A generator of this test's own: how long other tests were changes none of its draws.
        generator = torch.Generator(self._device).manual_seed(derive_seed(seeds[0], "draws"))
        choose = policy_player(
            self._model, masker=self._masker, device=self._device, mode=mode, generator=generator
        )
        return self._player.play(choose, seeds=seeds, should_stop=self._stop_event.is_set)
