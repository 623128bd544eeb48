"""A run's checkpoints are stored once each, and the best is what reached its score."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from oakemu_rl.checkpoints.checkpointer import Checkpointer
from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.checkpoints.training_state import TrainingState


class Run:
    """A run whose weights are the number of its updates."""

    def __init__(self, manager: CheckpointManager, *, keep_last: int = 3) -> None:
        self.manager = manager
        self.updates = 0
        self.events: list[tuple[str, int, dict[str, Any]]] = []
        self.checkpointer = Checkpointer(
            manager=manager,
            configuration_hash="0123abcd",
            keep_last=keep_last,
            events=self,
        )

    def state(self, env_steps: int) -> TrainingState:
        return TrainingState(
            env_steps=env_steps,
            iterations=self.updates,
            tensors={"model": {"weight": torch.full((4,), float(self.updates))}},
            state={"updates": self.updates},
        )

    def record(self, kind: str, /, *, env_steps: int, **details: Any) -> None:
        self.events.append((kind, env_steps, details))

    def weight(self, which: Any) -> float:
        return float(self.manager.load(which).tensors["model"]["weight"][0])


@pytest.fixture
def make_run(manager: CheckpointManager) -> Callable[..., Run]:
    """A run in the empty folder."""
    return lambda **options: Run(manager, **options)


def test_a_state_is_stored_as_it_is_and_its_size_is_told(
    make_run: Callable[..., Run],
) -> None:
    run = make_run()
    run.updates = 7
    run.checkpointer.store(run.state(100))
    found = run.manager.load("latest")
    assert (found.env_steps, found.manifest.iterations, run.weight("latest")) == (100, 7, 7.0)
    assert (found.manifest.configuration_hash, found.state) == ("0123abcd", {"updates": 7})
    size = sum(file.stat().st_size for file in found.path.iterdir())
    details = {"folder": "step-000000100", "size_bytes": size}
    assert run.events == [("checkpoint", 100, details)]


def test_the_same_state_is_stored_once(make_run: Callable[..., Run]) -> None:
    run = make_run()
    for _ in range(3):
        run.checkpointer.store(run.state(100))
    run.checkpointer.store_if_best(run.state(100), score=1.0)
    assert len(run.events) == 1
    assert run.manager.steps() == (100,)


def test_newer_weights_at_the_same_step_are_not_taken_for_stored(
    make_run: Callable[..., Run],
) -> None:
    run = make_run()
    run.checkpointer.store(run.state(100))
    run.updates = 5
    run.checkpointer.store(run.state(100))
    assert run.weight("latest") == 5.0
    run.updates = 6
    assert run.checkpointer.store_if_best(run.state(100), score=2.0)
    assert run.weight("best") == 6.0


def test_the_best_is_kept_with_the_weights_that_reached_the_score(
    make_run: Callable[..., Run],
) -> None:
    run = make_run(keep_last=2)
    scores = {100: 1.0, 200: 5.0, 300: 3.0, 400: 5.0, 500: 2.0}
    kept = []
    for step, score in scores.items():
        run.updates = step // 10
        tested = run.state(step)
        # The learner has gone on before the result of the test is there.
        run.updates += 1
        run.checkpointer.store(run.state(step + 50))
        kept.append(run.checkpointer.store_if_best(tested, score=score))
    assert kept == [True, True, False, False, False]
    assert (run.manager.load("best").env_steps, run.weight("best")) == (200, 20.0)
    assert run.manager.best_score() == 5.0
    assert (run.manager.load("latest").env_steps, run.weight("latest")) == (550, 51.0)
    assert run.manager.steps() == (200, 450, 550)


def test_a_lower_score_than_that_of_an_earlier_run_of_the_folder_is_not_the_best(
    make_run: Callable[..., Run],
) -> None:
    assert make_run().checkpointer.store_if_best(make_run().state(100), score=4.0)
    later = make_run()
    assert not later.checkpointer.store_if_best(later.state(200), score=3.0)
    assert later.checkpointer.store_if_best(later.state(300), score=4.5)
    assert later.manager.load("best").env_steps == 300


def test_negative_scores_have_a_best_as_well(make_run: Callable[..., Run]) -> None:
    run = make_run()
    kept = [
        run.checkpointer.store_if_best(run.state(step), score=score)
        for step, score in ((100, -21.0), (200, -20.5), (300, -20.5))
    ]
    assert kept == [True, True, False]
    assert run.manager.load("best").env_steps == 200


def test_old_checkpoints_go_and_one_that_was_deleted_is_stored_again(
    make_run: Callable[..., Run],
) -> None:
    run = make_run(keep_last=2)
    for step in (100, 200, 300, 400):
        run.checkpointer.store(run.state(step))
    assert run.manager.steps() == (300, 400)
    assert run.checkpointer.store_if_best(run.state(100), score=1.0)
    assert run.manager.steps() == (100, 300, 400)
    assert run.manager.load("best").env_steps == 100


def test_the_size_of_a_state_is_that_of_its_tensors(make_run: Callable[..., Run]) -> None:
    assert make_run().state(1).size_bytes() == 4 * 4
