"""What an environment or a disk does wrong in a run: the run stops, and says what and where."""

import json
import sys
import threading
from pathlib import Path

import pytest

from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.cli.main import run
from oakemu_rl.core.seeding import derive_seed
from tests.experiments.commands import finished, program, train
from tests.experiments.faulty import HANGING, ID

EPISODES_OF_ENVIRONMENT_2 = derive_seed(0, "environment", 2)
SECOND_TEST = derive_seed(0, "test", 1)
SECOND_LAST_TEST = derive_seed(0, "last test", 1)


def faulty(folder: Path, fault: str, *words: str, seed: int, at: int = 5) -> list[str]:
    """The words of a run in which the episodes that begin with `seed` have this fault."""
    return train(
        ID,
        folder,
        "--total-steps=1024",
        "--rollout.steps=16",
        f'--environment.arguments.fault="{fault}"',
        f"--environment.arguments.seed={seed}",
        f"--environment.arguments.at={at}",
        *words,
    )


@pytest.mark.parametrize(
    ("mode", "seed", "part", "index"),
    [
        ("threads", EPISODES_OF_ENVIRONMENT_2, "actor", 2),
        ("lockstep", EPISODES_OF_ENVIRONMENT_2, "learner", 2),
        ("threads", SECOND_LAST_TEST, "last test", 0),
        ("lockstep", SECOND_TEST, "learner", 0),
    ],
)
def test_what_an_environment_raises_is_raised_by_the_run_with_its_origin(
    mode: str, seed: int, part: str, index: int, tmp_path: Path
) -> None:
    before = set(threading.enumerate())
    with pytest.raises(ValueError, match=r"^boom") as caught:
        run(faulty(tmp_path / "run", "raise", f"--run.mode={mode}", seed=seed))
    notes = "\n".join(caught.value.__notes__)
    assert f"raised in the {part} thread" in notes
    assert f"raised in environment {index} of {ID!r}" in notes
    assert caught.traceback[-1].name == "step"
    assert set(threading.enumerate()) == before


def test_an_exception_ends_the_process_with_1_and_its_traceback(tmp_path: Path) -> None:
    words = faulty(tmp_path / "run", "raise", seed=EPISODES_OF_ENVIRONMENT_2, at=40)
    done = finished(program(*words), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert 'faulty.py", line' in done.stderr
    told = done.stderr[done.stderr.rindex("ValueError: boom") :].splitlines()
    assert told == [
        "ValueError: boom",
        f"raised in environment 2 of {ID!r}",
        "raised in the actor thread",
    ]
    last = json.loads((tmp_path / "run" / "events.jsonl").read_text().splitlines()[-1])
    assert (last["kind"], last["details"]) == ("failed", {"error": "ValueError: boom"})
    # Two rollouts of 64 rows were learned from before.
    assert CheckpointManager(tmp_path / "run" / "checkpoints").load("latest").env_steps >= 128


def test_an_environment_that_hangs_is_named_and_left_behind(tmp_path: Path) -> None:
    words = faulty(
        tmp_path / "run", "hang", "--run.heartbeat-seconds=2", seed=EPISODES_OF_ENVIRONMENT_2
    )
    done = finished(program(*words), cwd=tmp_path)
    assert done.returncode == 1
    assert HANGING in done.stdout
    assert done.stderr.startswith("oakemu-rl: error: actor: silent for ")
    assert done.stderr.endswith(
        "allowed are 2 s (run.heartbeat_seconds); it hangs and was left behind\n"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("mode", ["threads", "lockstep"])
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("reward", "gave the reward nan at step 5 of its episode; allowed are finite float32"),
        ("observation", "gave an observation with NaN or an infinite number in it at step 5"),
        ("no legal action", "gave an action mask that allows no action; at least one must be"),
        ("mask of a wrong shape", "gave an action mask of shape (4,); allowed is (3,)"),
        ("info mask of a wrong shape", "gave an action mask of shape (4,); allowed is (3,)"),
        ("info without legal action", "gave an action mask that allows no action; at least one"),
    ],
)
def test_a_broken_promise_is_one_line_that_names_the_environment(
    mode: str, fault: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = faulty(tmp_path / "run", fault, f"--run.mode={mode}", seed=EPISODES_OF_ENVIRONMENT_2)
    assert run(words) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"oakemu-rl: error: environment 2 of {ID!r} {told}")
    assert error.count("\n") == 1


def test_masks_that_leave_no_action_together_are_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = faulty(
        tmp_path / "run", "first alone", '--environment.actions=["1", "2"]',
        seed=EPISODES_OF_ENVIRONMENT_2,
    )  # fmt: skip
    assert run(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("oakemu-rl: error: environment 2: its action mask allows none of 3")
    assert error.count("\n") == 1


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
from oakemu_rl.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def test_a_full_disk_ends_the_run_with_one_line_and_spoils_nothing(tmp_path: Path) -> None:
    words = train(
        "CartPole-v1", tmp_path / "run", "--lockstep", "--checkpoints.every-steps=1024",
        "--total-steps=100000", "--model.hidden-sizes=[16]", "--evaluation.every-steps=100000",
    )  # fmt: skip
    done = finished([sys.executable, "-c", LIMITED, *words], cwd=tmp_path)
    assert done.returncode == 1
    metrics = tmp_path / "run" / "metrics.jsonl"
    assert done.stderr.startswith(f"oakemu-rl: error: cannot write {metrics}: File too large; ")
    assert done.stderr.count("\n") == 1
    checkpoint = CheckpointManager(tmp_path / "run" / "checkpoints").load("latest")
    assert checkpoint.env_steps >= 1024
    assert checkpoint.rejected == ()
    for line in metrics.read_text().splitlines()[:-1]:
        json.loads(line)
