"""Updates that were taken, updates that were not, and when there are too many of the latter."""

import json
from pathlib import Path

import pytest

from oakemu_rl.core.errors import DivergenceError
from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.metrics.jsonl import EventFile
from oakemu_rl.training.update_ledger import UpdateLedger
from tests.training.parts import Outlets

GOOD, LOSS, GRADIENT = SkipCause.NONE, SkipCause.NON_FINITE_LOSS, SkipCause.NON_FINITE_GRADIENT
BACKOFF, NOTHING = SkipCause.SCALER_BACKOFF, SkipCause.NOTHING_TO_LEARN


def ledger_after(*causes: SkipCause, allowed: int = 3) -> UpdateLedger:
    ledger = UpdateLedger(events=Outlets(), max_bad_updates=allowed)
    for number, cause in enumerate(causes, start=1):
        ledger.add(cause, env_steps=number, update=f"minibatch {number}")
    return ledger


def test_bad_updates_and_back_offs_are_counted_apart() -> None:
    ledger = ledger_after(GOOD, LOSS, BACKOFF, GRADIENT, NOTHING, BACKOFF, GOOD, LOSS)
    assert (ledger.skipped_updates, ledger.scaler_backoffs) == (3, 2)


@pytest.mark.parametrize("bad", [LOSS, GRADIENT])
def test_as_many_bad_ones_in_a_row_as_are_allowed_end_the_run(bad: SkipCause) -> None:
    ledger_after(bad, bad, GOOD, bad, bad)
    with pytest.raises(DivergenceError) as raised:
        ledger_after(bad, bad, BACKOFF, NOTHING, bad)
    what = "loss" if bad is LOSS else "gradient"
    assert str(raised.value) == (
        f"the {what} was not finite in 3 updates in a row, up to minibatch 5 at 5 environment "
        "steps (optimisation.max_bad_updates); they did not touch the weights. Lower "
        "optimisation.learning_rate, or check the rewards"
    )


def test_back_offs_end_no_run() -> None:
    assert ledger_after(*[BACKOFF] * 50, allowed=1).scaler_backoffs == 50


def test_each_bad_update_is_named_in_the_event_log(tmp_path: Path) -> None:
    events = EventFile(tmp_path / "events.jsonl")
    ledger = UpdateLedger(events=events, max_bad_updates=3)
    ledger.add(GOOD, env_steps=10, update="minibatch 1 of rollout 1")
    ledger.add(BACKOFF, env_steps=10, update="minibatch 2 of rollout 1")
    ledger.add(GRADIENT, env_steps=10, update="minibatch 3 of rollout 1")
    ledger.add(LOSS, env_steps=20, update="minibatch 1 of rollout 2")
    events.close()
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [(line["kind"], line["env_steps"], line["details"]) for line in lines] == [
        (
            "update_skipped",
            10,
            {"cause": "non_finite_gradient", "update": "minibatch 3 of rollout 1"},
        ),
        ("update_skipped", 20, {"cause": "non_finite_loss", "update": "minibatch 1 of rollout 2"}),
    ]
