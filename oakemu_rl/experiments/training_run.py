"""A run from its configuration to its last test, whatever the algorithm: wiring only."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from secrets import token_hex
from typing import Generic

import attrs
import torch
from rich.console import Console

from oakemu_rl.checkpoints.checkpointer import Checkpointer
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.checkpoints.policy import CheckpointPolicy
from oakemu_rl.checkpoints.training_state import TrainingState
from oakemu_rl.config.combinations import contradictions
from oakemu_rl.config.loading import configuration_hash, save_configuration
from oakemu_rl.core.errors import ConfigurationError, StorageError, UserError
from oakemu_rl.core.ports import EventLog
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.experiments.algorithm import Algorithm, ConfigT, Parts
from oakemu_rl.experiments.devices import chosen_device, chosen_threads
from oakemu_rl.experiments.last_test import last_test, save_picture
from oakemu_rl.experiments.outlets import Outlets, open_outlets
from oakemu_rl.experiments.result import ExperimentResult
from oakemu_rl.experiments.run_folder import RunFolder
from oakemu_rl.runtime.context import RuntimeContext
from oakemu_rl.runtime.interrupts import StopSignals
from oakemu_rl.runtime.supervision import Supervisor
from oakemu_rl.training.action_masker import ActionMasker
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.test_bench import Episodes, TestBench
from oakemu_rl.training.tester import Tester

SWITCH_SECONDS = 0.0005
"""How long one Python thread may keep another waiting: the actor's emulator never lets go by
itself."""


class TrainingRun(Generic[ConfigT]):
    """Trains an agent as configured, and tests it at the end.

    `run` makes the run folder, trains until `run.total_steps`, Ctrl-C or an error, and writes the
    result. Nothing is started, and no folder made, before the environment was seen to work with the
    configuration.

    Args:
        configuration: all that the run is made from.
        algorithm: what learns.
        command: what to note as the command that started the run; None takes this process's.
        console: where progress and result are told.

    Raises:
        ConfigurationError: settings contradict each other.
    """

    def __init__(
        self,
        configuration: ConfigT,
        *,
        algorithm: Algorithm[ConfigT],
        command: Sequence[str] | None = None,
        console: Console | None = None,
    ) -> None:
        for found in contradictions(configuration):
            raise ConfigurationError(f"{found.paths[0]}: {found.problem}")
        algorithm.refuse(configuration)
        self._config = configuration
        self._algorithm = algorithm
        self._command = tuple(sys.argv if command is None else command)
        self._console = console if console is not None else Console()
        self._stop_event = threading.Event()

    def run(self) -> ExperimentResult:
        """Train, test, and return what the last test found."""
        config = self._config
        device = chosen_device(config.run.device)
        self._stop_event.clear()
        with ExitStack() as undo, StopSignals(self._stop_event) as signals:
            undo.enter_context(_threads(chosen_threads(config.run), mode=config.run.mode))
            environments = make_vector_environment(
                config.environment,
                count=config.environment.count,
                value_names=self._algorithm.value_names(config),
            )
            undo.callback(environments.close)
            self._algorithm.require_memory(config, environments)
            masker = ActionMasker(environments.action_spec, config.environment.actions)
            bench = TestBench(
                environment=config.environment,
                agent=self._algorithm.agent(config),
                count=config.evaluation.environments,
                max_episode_steps=config.evaluation.max_episode_steps,
                device=device,
                should_stop=self._stop_event.is_set,
            )
            undo.callback(bench.close)
            folder = undo.enter_context(self._folder(device))
            outlets = self._outlets(folder)
            undo.callback(outlets.close)
            context = RuntimeContext(
                config=config,
                device=device,
                seed=config.run.seed,
                metrics=outlets.metrics,
                events=outlets.events,
                stop_event=self._stop_event,
            )
            parts = self._algorithm.build(context, environments, masker)
            self._announce(folder)
            with _told(outlets.events, lambda: parts.env_steps):
                return self._run_parts(parts, bench, folder, outlets, signals)

    @contextmanager
    def _folder(self, device: torch.device) -> Iterator[RunFolder]:
        """The run folder, locked, with what the run is made from in it."""
        config, now = self._config, datetime.now(UTC)
        with RunFolder.create(
            config.run.folder,
            environment_id=config.environment.id,
            algorithm=self._algorithm.name,
            seed=config.run.seed,
            now=now,
            token=token_hex(3),
        ) as folder:
            save_configuration(config, folder.config)
            folder.write_meta(
                command=self._command,
                environment_id=config.environment.id,
                algorithm=self._algorithm.name,
                seed=config.run.seed,
                device=str(device),
                torch_threads=torch.get_num_threads(),
                started=now,
            )
            yield folder

    def _outlets(self, folder: RunFolder) -> Outlets:
        try:
            return open_outlets(
                folder,
                options=self._config.metrics,
                total_steps=self._config.run.total_steps,
                console=self._console,
            )
        except UserError:
            folder.discard()
            raise

    def _announce(self, folder: RunFolder) -> None:
        self._say(f"Run folder: {folder.path}")
        notice = self._algorithm.notice(self._config)
        if notice is not None:
            self._say(notice)

    def _run_parts(
        self,
        parts: Parts,
        bench: TestBench,
        folder: RunFolder,
        outlets: Outlets,
        signals: StopSignals,
    ) -> ExperimentResult:
        manager = CheckpointManager(folder.checkpoints)
        checkpointer = Checkpointer(
            manager=manager,
            configuration_hash=configuration_hash(self._config),
            keep_last=self._config.checkpoints.keep_last,
            events=outlets.events,
        )

        def report(evaluation: Evaluation, state: TrainingState) -> None:
            outlets.metrics.write(env_steps=state.env_steps, values=evaluation.metrics())
            folder.write_evaluation(evaluation, env_steps=state.env_steps)
            checkpointer.store_if_best(state, score=evaluation.mean)

        tester = Tester(
            bench=bench,
            options=self._config.evaluation,
            seed=self._config.run.seed,
            capture=parts.capture,
            report=report,
            stop_event=self._stop_event,
            inline=self._config.run.mode == "lockstep",
        )
        started = time.perf_counter()
        self._train(parts, tester, checkpointer)
        result = ExperimentResult(
            folder=folder.path,
            exit_code=signals.exit_code,
            steps=parts.env_steps,
            seconds=time.perf_counter() - started,
        )
        episodes: Episodes = ()
        # Training is over; from here on only a signal sets the event, and cuts the last test.
        if signals.clear():
            self._say(
                f"Last test: {self._config.evaluation.final_episodes} games of the agent, and of "
                "the players to compare it with"
            )
            result, episodes = self._last_test(result, parts, tester, manager=manager, bench=bench)
            result = attrs.evolve(result, exit_code=signals.exit_code)
        outlets.metrics.close()
        folder.write_result(result)
        picture = save_picture(bench, episodes, folder) if episodes else None
        self._console.print(result.summary())
        if picture is not None:
            self._say(f"The best of these games: {picture}")
        ended = "finished" if result.exit_code == 0 else "interrupted"
        outlets.events.record(ended, env_steps=result.steps)
        return result

    def _train(self, parts: Parts, tester: Tester, checkpointer: Checkpointer) -> None:
        """Run the parts, and the tester where it has a thread, until the learner's loop ends."""
        policy = CheckpointPolicy(
            save=lambda env_steps: self._save(parts, checkpointer, env_steps),
            every_steps=self._config.checkpoints.every_steps,
            tester=tester,
        )
        with self._supervisor() as supervisor:
            if self._config.run.mode == "threads":
                supervisor.start("tester", tester.run)
            parts.start(supervisor, policy)
            supervisor.watch(until="learner")

    def _last_test(
        self,
        result: ExperimentResult,
        parts: Parts,
        tester: Tester,
        *,
        manager: CheckpointManager,
        bench: TestBench,
    ) -> tuple[ExperimentResult, Episodes]:
        """Test the last weights as before, then the best ones; watched as training is."""
        tested: tuple[ExperimentResult, Episodes] = (result, ())

        def test() -> None:
            nonlocal tested
            tester.test(parts.capture(parts.env_steps))
            tested = last_test(result, self._config, manager=manager, bench=bench)

        with self._supervisor() as supervisor:
            supervisor.start("last test", test)
            supervisor.watch(until="last test")
        return tested

    def _supervisor(self) -> Supervisor:
        return Supervisor(self._stop_event, heartbeat_seconds=self._config.run.heartbeat_seconds)

    def _save(self, parts: Parts, checkpointer: Checkpointer, env_steps: int) -> None:
        state = parts.capture(env_steps)
        if self._stop_event.is_set():
            self._say(
                f"Stopping at step {env_steps:,}: writing a checkpoint of "
                f"{state.size_bytes() / 1e6:.1f} MB; a second Ctrl-C abandons it"
            )
        checkpointer.store(state)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


@contextmanager
def _told(events: EventLog, env_steps: Callable[[], int]) -> Iterator[None]:
    """Tell the event log that the run began and, if it fails, of what."""
    events.record("started", env_steps=0)
    try:
        yield
    except BaseException as error:
        # A disk that refuses this too must not hide what went wrong.
        with suppress(StorageError):
            text = f"{type(error).__name__}: {error}"
            events.record("failed", env_steps=env_steps(), error=text)
        raise


@contextmanager
def _threads(torch_threads: int, *, mode: str) -> Iterator[None]:
    """Set how torch and Python share the cores, and put it back afterwards."""
    before, interval = torch.get_num_threads(), sys.getswitchinterval()
    torch.set_num_threads(torch_threads)
    if mode == "threads":
        sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        sys.setswitchinterval(interval)
