"""The tester: when it tests, which weights, and how a stop ends it."""

import threading
from collections.abc import Callable

import pytest
import torch

from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.options import EnvironmentOptions, EvaluationOptions, ModelOptions
from oakemu_rl.core.seeding import derive_seed
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.ppo.agent import ppo_agent
from oakemu_rl.training.test_bench import TestBench
from oakemu_rl.training.tester import Tester
from tests.training.parts import CPU, small_model
from tests.training.worlds import ACTIONS, MASKED_ID

LIMIT_SECONDS = 10.0
OPTIONS = EvaluationOptions(every_steps=100, episodes=4, environments=2)


class Training:
    """A learner's side: weights that tell their step, and what the tester reports of them."""

    def __init__(
        self,
        *,
        inline: bool,
        options: EvaluationOptions = OPTIONS,
        seed: int = 0,
        on_report: Callable[[Evaluation], None] = lambda _: None,
        should_stop: Callable[[], bool] | None = None,
    ) -> None:
        self.stop = threading.Event()
        self.reports: list[tuple[Evaluation, TrainingState]] = []
        self.captured: list[int] = []
        self.reported = threading.Semaphore(0)
        self._on_report = on_report
        self.bench = TestBench(
            environment=EnvironmentOptions(id=MASKED_ID),
            agent=ppo_agent(ModelOptions(hidden_sizes=(8,))),
            count=options.environments,
            device=CPU,
            should_stop=should_stop or self.stop.is_set,
        )
        self.tester = Tester(
            bench=self.bench,
            options=options,
            seed=seed,
            capture=self.capture,
            report=self.report,
            stop_event=self.stop,
            inline=inline,
        )

    def capture(self, env_steps: int) -> TrainingState:
        self.captured.append(env_steps)
        spec = self.bench._player.environments[0].observation_spec
        weights = small_model(spec, actions=ACTIONS, seed=env_steps).state_dict()
        return TrainingState(
            env_steps=env_steps, iterations=env_steps, tensors={"model": weights}, state={}
        )

    def report(self, evaluation: Evaluation, state: TrainingState) -> None:
        self.reports.append((evaluation, state))
        self._on_report(evaluation)
        self.reported.release()

    @property
    def tested(self) -> list[int]:
        return [evaluation.step for evaluation, _ in self.reports]


def test_in_lockstep_a_test_is_done_as_soon_as_it_is_due() -> None:
    training = Training(inline=True)
    for env_steps in (64, 128, 192, 256, 512):
        training.tester.notify(env_steps=env_steps)
    assert training.tested == training.captured == [128, 256, 512]


def test_what_is_reported_is_the_state_that_was_tested() -> None:
    training = Training(inline=True)
    training.tester.notify(env_steps=100)
    ((evaluation, state),) = training.reports
    assert (state.env_steps, evaluation.step, evaluation.mode) == (100, 100, "greedy")
    seeds = [derive_seed(0, "test", index) for index in range(4)]
    assert list(evaluation.seeds) == seeds
    other = Training(inline=True)
    played = other.bench.play_agent(state.tensors["model"], seeds=seeds, mode="greedy")
    assert played is not None
    assert evaluation.scores == tuple(episode.score for episode in played)


def test_every_test_of_a_run_plays_the_same_episodes_and_another_run_others() -> None:
    training, other = Training(inline=True), Training(inline=True, seed=1)
    training.tester.notify(env_steps=100)
    training.tester.notify(env_steps=200)
    other.tester.notify(env_steps=100)
    seeds = [evaluation.seeds for evaluation, _ in (*training.reports, *other.reports)]
    assert seeds[0] == seeds[1]
    assert set(seeds[0]).isdisjoint(seeds[2])


@pytest.mark.parametrize("mode", ["greedy", "sampled"])
def test_a_test_changes_no_weights_of_the_learner(mode: str) -> None:
    training = Training(inline=True, options=EvaluationOptions(episodes=2, mode=mode))
    state = training.capture(100)
    before = {name: tensor.clone() for name, tensor in state.tensors["model"].items()}
    assert training.tester.test(state) is not None
    assert training.reports[0][0].mode == mode
    assert all(torch.equal(state.tensors["model"][name], before[name]) for name in before)


def test_in_a_thread_of_its_own_it_tests_the_newest_that_is_pending() -> None:
    began, go_on = threading.Event(), threading.Event()

    def hold(evaluation: Evaluation) -> None:
        if evaluation.step == 100:
            began.set()
            assert go_on.wait(LIMIT_SECONDS)

    training = Training(inline=False, on_report=hold)
    with Supervisor(training.stop) as supervisor:
        supervisor.start("tester", training.tester.run)
        training.tester.notify(env_steps=100)
        assert began.wait(LIMIT_SECONDS)
        for env_steps in (200, 300, 400):
            training.tester.notify(env_steps=env_steps)
        go_on.set()
        for _ in range(2):
            assert training.reported.acquire(timeout=LIMIT_SECONDS)
        supervisor.stop()
    assert training.captured == [100, 200, 300, 400]
    assert training.tested == [100, 400]


def test_a_stop_cuts_a_test_short_and_nothing_is_reported() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def should_stop() -> bool:
        asked.set()
        assert go_on.wait(LIMIT_SECONDS)
        return training.stop.is_set()

    training = Training(inline=False, should_stop=should_stop)
    with Supervisor(training.stop) as supervisor:
        supervisor.start("tester", training.tester.run)
        training.tester.notify(env_steps=100)
        assert asked.wait(LIMIT_SECONDS)
        training.stop.set()
        go_on.set()
        supervisor.stop()
    assert training.reports == []


def test_a_tester_with_nothing_to_do_ends_with_the_run() -> None:
    training = Training(inline=False)
    with Supervisor(training.stop) as supervisor:
        supervisor.start("tester", training.tester.run)
        supervisor.stop()
    assert training.reports == []


def test_a_test_that_fails_stops_the_run() -> None:
    def refuse(_: Evaluation) -> None:
        raise OSError("no space left")

    training = Training(inline=False, on_report=refuse)

    def run() -> None:
        with Supervisor(training.stop) as supervisor:
            supervisor.start("tester", training.tester.run)
            training.tester.notify(env_steps=100)
            supervisor.watch(until="tester")

    with pytest.raises(OSError, match="no space left") as raised:
        run()
    assert raised.value.__notes__ == ["raised in the tester thread"]
