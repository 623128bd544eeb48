"""The example scripts that a user copies."""

import ast
import json
import signal
import sys
from pathlib import Path

import pytest

from oakemu_rl.config.algorithms import ALGORITHMS
from oakemu_rl.config.loading import load_configuration, load_saved_configuration
from tests.experiments.commands import ROOT, STOP_SECONDS, read_until, started

EXAMPLES = {"ppo": "train_ppo.py", "rainbow": "train_dqn.py"}
MOST_LINES = 30
SEED = 3


@pytest.mark.parametrize("name", EXAMPLES.values())
def test_an_example_is_short_and_starts_nothing_when_it_is_imported(name: str) -> None:
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    *_, last = ast.parse(text).body
    assert isinstance(last, ast.If)
    assert ast.unparse(last.test) == "__name__ == '__main__'"


@pytest.mark.parametrize("algorithm", EXAMPLES)
def test_an_example_trains_what_the_command_trains_and_stops_at_ctrl_c(
    algorithm: str, tmp_path: Path
) -> None:
    script = ROOT / "examples" / EXAMPLES[algorithm]
    with started([sys.executable, str(script), str(SEED)], cwd=tmp_path) as process:
        read_until(process, "steps/s")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 130
    assert "not tested: the run was stopped before its last test" in said
    (folder,) = (tmp_path / "runs" / "acorns").iterdir()
    assert folder.name.startswith(f"{algorithm}-s{SEED}-")
    assert json.loads((folder / "result.json").read_text())["exit_code"] == 130
    record_type = ALGORITHMS[algorithm]
    saved = load_saved_configuration(record_type, folder / "config.toml")
    overrides = {"run.seed": SEED}
    assert saved == load_configuration(record_type, "acorns", preset=algorithm, overrides=overrides)
