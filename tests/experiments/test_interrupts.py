"""Ctrl-C and SIGTERM in a run in a process of its own."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.cli.main import run
from oakemu_rl.core.seeding import derive_seed
from tests.experiments.commands import STOP_SECONDS, program, read_until, started, train
from tests.experiments.faulty import HANGING, ID

ENDLESS = "--total-steps=1000000000"


def output_after_stop(process: subprocess.Popen[str]) -> str:
    """What it still says; it has to end in time."""
    try:
        said, _ = process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pytest.fail(f"the process did not stop within {STOP_SECONDS} s")
    return said


@pytest.mark.parametrize(
    ("number", "mode", "code"),
    [
        (signal.SIGINT, "threads", 130),
        (signal.SIGINT, "lockstep", 130),
        (signal.SIGTERM, "threads", 143),
    ],
)
def test_a_signal_stops_the_run_in_time_with_a_checkpoint(
    number: signal.Signals,
    mode: str,
    code: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "run"
    words = train("CartPole-v1", folder, ENDLESS, f"--run.mode={mode}")
    with started(program(*words), cwd=tmp_path) as process:
        read_until(process, "steps/s")
        # Meanwhile nobody else gets in.
        assert run(train("CartPole-v1", folder)) == 2
        assert f"{folder}: is in use by another process; choose another" in capsys.readouterr().err
        process.send_signal(number)
        said = output_after_stop(process)
    assert process.returncode == code
    assert "Traceback" not in said
    assert "error" not in said
    assert "a second Ctrl-C abandons it" in said
    assert "not tested: the run was stopped before its last test" in said
    last = json.loads((folder / "events.jsonl").read_text().splitlines()[-1])
    assert last["kind"] == "interrupted"
    result = json.loads((folder / "result.json").read_text())
    assert result["exit_code"] == code
    assert result["seconds"] > 0.0
    assert (result["test_mean"], result["random_mean"], result["scores"]) == (None, None, [])
    checkpoint = CheckpointManager(folder / "checkpoints").load("latest")
    assert checkpoint.rejected == ()
    assert checkpoint.env_steps == result["steps"]
    assert run(["eval", str(folder), "--checkpoint=latest", "--episodes=1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["step"] == result["steps"]


@pytest.mark.parametrize("mode", ["threads", "lockstep"])
def test_ctrl_c_in_the_last_test_keeps_what_was_trained(
    mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = train(
        ID, folder, "--total-steps=256", f"--run.mode={mode}",
        "--evaluation.final-episodes=1000",
        '--environment.arguments.fault="interrupt"',
        f"--environment.arguments.seed={derive_seed(0, 'last test', 9)}",
    )  # fmt: skip
    assert run(words) == 130
    assert "not tested: the run was stopped" in capsys.readouterr().out
    result = json.loads((folder / "result.json").read_text())
    assert (result["exit_code"], result["steps"], result["test_mean"]) == (130, 256, None)
    assert CheckpointManager(folder / "checkpoints").load("best").env_steps == 256


def test_a_second_ctrl_c_does_not_wait_for_what_hangs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = train(
        ID, folder, ENDLESS, "--run.mode=threads", "--checkpoints.every-steps=128",
        '--environment.arguments.fault="hang"', "--environment.arguments.at=200",
        f"--environment.arguments.seed={derive_seed(0, 'environment', 1)}",
    )  # fmt: skip
    with started(program(*words), cwd=tmp_path) as process:
        read_until(process, HANGING)
        process.send_signal(signal.SIGINT)
        read_until(process, "a second Ctrl-C abandons it")
        process.send_signal(signal.SIGINT)
        said = output_after_stop(process)
    assert process.returncode == 130
    assert said.endswith("oakemu-rl: interrupted\n")
    assert "Traceback" not in said
    checkpoint = CheckpointManager(folder / "checkpoints").load("latest")
    assert checkpoint.rejected == ()
    assert checkpoint.env_steps >= 128
