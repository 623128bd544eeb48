"""The example scripts that a user copies."""

import ast
import json
import signal
import sys
from pathlib import Path

import pytest

from oakemu_rl.config.loading import load_configuration, load_saved_configuration
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from tests.experiments.commands import ROOT, STOP_SECONDS, read_until, started

EXAMPLE = ROOT / "examples" / "train_ppo.py"
MOST_LINES = 30


def test_the_example_is_short_and_starts_nothing_when_it_is_imported() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    assert len(text.splitlines()) < MOST_LINES
    *_, last = ast.parse(text).body
    assert isinstance(last, ast.If)
    assert ast.unparse(last.test) == "__name__ == '__main__'"


@pytest.mark.parametrize("seed", [3])
def test_the_example_trains_what_the_command_trains_and_stops_at_ctrl_c(
    seed: int, tmp_path: Path
) -> None:
    with started([sys.executable, str(EXAMPLE), str(seed)], cwd=tmp_path) as process:
        read_until(process, "steps/s")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 130
    assert "not tested: the run was stopped before its last test" in said
    (folder,) = (tmp_path / "runs" / "acorns").iterdir()
    assert json.loads((folder / "result.json").read_text())["exit_code"] == 130
    assert load_saved_configuration(
        PPOExperimentConfiguration, folder / "config.toml"
    ) == load_configuration(
        PPOExperimentConfiguration, "acorns", preset="ppo", overrides={"run.seed": seed}
    )
