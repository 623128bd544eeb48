"""The commands on real runs: what `eval` prints, and what bad input gets."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from oakemu_rl.cli.main import run
from oakemu_rl.config.loading import load_configuration
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.experiments.evaluation import evaluate_run
from tests.experiments.commands import SMALL_GAME, finished, program, train
from tests.experiments.faulty import ID

Capture = pytest.CaptureFixture[str]

STEPS = (128, 256, 384)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with checkpoints of three steps, in an environment that prints and knows success."""
    folder = tmp_path_factory.mktemp("trained") / "run"
    words = train(
        ID, folder, "--lockstep", "--total-steps=384", "--checkpoints.every-steps=128",
        "--evaluation.every-steps=256", "--environment.arguments.prints=true",
    )  # fmt: skip
    assert run(words) == 0
    return folder


@pytest.fixture
def copied(trained: Path, tmp_path: Path) -> Path:
    """A copy of the run to be spoilt."""
    return Path(shutil.copytree(trained, tmp_path / "copy"))


def checkpoint(folder: Path, step: int) -> Path:
    return folder / "checkpoints" / f"step-{step:09d}"


def spoil(folder: Path, step: int) -> Path:
    """Turn one byte of the checkpoint's weights."""
    file = checkpoint(folder, step) / "model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    return file


def evaluated(capsys: Capture, folder: Path, *words: str, episodes: int = 4) -> dict[str, Any]:
    """What `eval --json` prints: one line that is one object, whatever the environment prints."""
    capsys.readouterr()
    assert run(["eval", str(folder), "--json", f"--episodes={episodes}", *words]) == 0
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    made: dict[str, Any] = json.loads(printed)
    return made


def refused(capsys: Capture, words: list[str]) -> str:
    """The one line that a mistake of the user's gets, with exit code 2."""
    capsys.readouterr()
    assert run(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1
    assert printed.err.startswith("oakemu-rl: error: ")
    return printed.err.removeprefix("oakemu-rl: error: ").rstrip("\n")


def test_eval_prints_one_object_and_the_same_scores_for_the_same_seed(
    capsys: Capture, trained: Path
) -> None:
    found = evaluated(capsys, trained)
    assert set(found) == {"mean", "standard_error", "scores", "success_rate", "mode", "step"}
    assert len(found["scores"]) == 4
    assert found["mean"] == pytest.approx(sum(found["scores"]) / 4)
    assert found["mode"] == "greedy"
    assert 0.0 <= found["success_rate"] <= 1.0
    sampled = evaluated(capsys, trained, "--sampled", "--seed=3")
    assert sampled["mode"] == "sampled"
    assert evaluated(capsys, trained, "--sampled", "--seed=3") == sampled
    assert evaluated(capsys, trained, "--sampled", "--seed=4")["scores"] != sampled["scores"]


def test_eval_takes_the_checkpoint_that_is_asked_for(capsys: Capture, trained: Path) -> None:
    best = (trained / "checkpoints" / "best").read_text().strip()
    assert evaluated(capsys, trained)["step"] == int(best.removeprefix("step-"))
    assert evaluated(capsys, trained, "--checkpoint=latest")["step"] == 384
    for step in STEPS:
        by_step = evaluated(capsys, trained, f"--checkpoint={step}", "--sampled")
        assert by_step["step"] == step
        assert evaluated(capsys, checkpoint(trained, step), "--sampled") == by_step


def test_eval_in_a_fresh_process_keeps_stdout_to_its_object(capsys: Capture, trained: Path) -> None:
    here = evaluated(capsys, trained, "--seed=7", "--sampled")
    words = ["eval", str(trained), "--json", "--episodes=4", "--seed=7", "--sampled"]
    done = finished(program(*words), cwd=trained)
    assert done.returncode == 0
    assert json.loads(done.stdout) == here
    assert "chatter" in done.stderr


def test_eval_shows_a_person_a_table(capsys: Capture, trained: Path) -> None:
    assert run(["eval", str(trained), "--episodes=2"]) == 0
    shown = capsys.readouterr().out
    for text in ("2 games, greedy", "mean score", "95% interval", "success rate"):
        assert text in shown


def test_eval_takes_the_newest_where_none_is_marked_as_the_best(
    capsys: Capture, copied: Path
) -> None:
    (copied / "checkpoints" / "best").unlink()
    assert evaluated(capsys, copied)["step"] == 384


def test_eval_passes_a_broken_checkpoint_over_and_says_so(capsys: Capture, copied: Path) -> None:
    file = spoil(copied, 384)
    assert run(["eval", str(copied), "--checkpoint=latest", "--json", "--episodes=1"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["step"] == 256
    told = [line for line in printed.err.splitlines() if line != "chatter"]
    assert told == [
        f"oakemu-rl: note: {file}: does not match the checksum in its manifest; "
        "took the checkpoint of step 256 instead"
    ]
    with pytest.warns(UserWarning, match="does not match the checksum"):
        assert evaluate_run(copied, checkpoint="latest", episodes=1).step == 256


def test_eval_names_what_cannot_be_read(capsys: Capture, copied: Path, tmp_path: Path) -> None:
    spoilt = [spoil(copied, step) for step in STEPS]
    by_step = refused(capsys, ["eval", str(copied), "--checkpoint=384"])
    assert f"{spoilt[-1]}: does not match the checksum" in by_step
    by_path = refused(capsys, ["eval", str(checkpoint(copied, 128))])
    assert by_path.startswith(f"{spoilt[0]}: does not match the checksum")
    for word in ("best", "latest"):
        told = refused(capsys, ["eval", str(copied), f"--checkpoint={word}"])
        assert told.startswith("no checkpoint can be read: ")
        for file in spoilt:
            assert str(file) in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--checkpoint=99",), "has no checkpoint of step 99; there are: 128, 256, 384"),
        (("--checkpoint=newest",), "--checkpoint: got 'newest', allowed is best, latest, or an"),
        (("--checkpoint=-1",), "--checkpoint: got '-1', allowed is best, latest, or an"),
    ],
)
def test_eval_refuses_a_checkpoint_that_is_not_there(
    words: tuple[str, ...], told: str, capsys: Capture, trained: Path
) -> None:
    assert told in refused(capsys, ["eval", str(trained), *words])


def test_eval_refuses_what_is_no_run(capsys: Capture, trained: Path, tmp_path: Path) -> None:
    gone = refused(capsys, ["eval", str(tmp_path / "gone")])
    assert gone == f"{tmp_path / 'gone'}: there is no such run folder"
    assert "is not a run folder, for it has no" in refused(capsys, ["eval", str(tmp_path)])
    lone = tmp_path / "lone"
    shutil.copytree(checkpoint(trained, 128), lone)
    assert "is a checkpoint outside a run folder" in refused(capsys, ["eval", str(lone)])


def test_eval_refuses_a_configuration_that_was_changed_since(capsys: Capture, copied: Path) -> None:
    config = copied / "config.toml"
    text = config.read_text()
    config.write_text(text.replace('trunk = "auto"', 'trunk = "autos"'))
    assert refused(capsys, ["eval", str(copied)]).startswith(f"{config}: model.trunk: got")
    start = text.index("hidden_sizes")
    end = text.index("]", start) + 1
    config.write_text(f"{text[:start]}hidden_sizes = [7]{text[end:]}")
    told = refused(capsys, ["eval", str(copied), "--checkpoint=384"])
    assert told.startswith(
        f"{checkpoint(copied, 384)}: its weights do not fit the model of {config}"
    )


@pytest.mark.parametrize(
    ("what", "words", "told"),
    [
        ("acornz", (), "environment 'acornz' is unknown; nearest are acorns"),
        ("CartPole-v99", (), "environment 'CartPole-v99' is unknown; nearest are CartPole-v"),
        ("nowhere.at.all:Thing-v0", (), "'nowhere.at.all:Thing-v0' cannot be made: No module"),
        ("gone.toml", (), "gone.toml: there is no such file"),
        ("Pendulum-v1", (), "has the action space Box(-2.0, 2.0, (1,), float32); allowed is Disc"),
        (
            "CartPole-v1",
            ('--environment.actions=["jump"]',),
            "environment.actions: unknown action 'jump' (allowed: ",
        ),
        (
            "acorns",
            ('--environment.actions=["noop", "lefd"]',),
            "environment.actions: unknown action 'lefd'; did you mean left? (allowed: ",
        ),
        ("acorns", ("--environment.arguments.colour=1",), "environment.arguments: "),
        ("CartPole-v1", ("--run.device=cuda:99",), "run.device: 'cuda:99' cannot be used here"),
        ("CartPole-v1", ("--run.device=gpu",), "--run.device: got "),
        ("CartPole-v1", ("--rollout.gama=0.9",), "--rollout.gama: unknown flag; did you mean"),
        ("CartPole-v1", ("--rollout.gamma=2",), "--rollout.gamma: got 2"),
        (
            "CartPole-v1",
            ("--cloning.weight=0.5",),
            "cloning.weight: got 0.5, but a run has no demo",
        ),
        ("CartPole-v1", ("--cloning.bootstrap-steps=9",), "cloning.bootstrap_steps: got 9, but a"),
        ("CartPole-v1", ("--rollout.steps=many",), '--rollout.steps: got "many" (a string)'),
        ("CartPole-v1", ("--rollout.steps=99999999999",), "GB are free; lower rollout.steps or"),
        ("CartPole-v1", ("--environment.count=99999999999",), "at least 1, at most 4096"),
        (
            "CartPole-v1",
            ("--optimisation.minibatch-size=129",),
            "129 rows are more than the 128 of a rollout",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line_before_anything_starts(
    what: str, words: tuple[str, ...], told: str, capsys: Capture, tmp_path: Path
) -> None:
    assert told in refused(capsys, train(what, tmp_path / "run", *words))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[rollout]\ngama = 0.9", "rollout.gama: unknown key; did you mean"),
        ("[rollout]\ngamma = 'high'", 'rollout.gamma: got "high"'),
        ("[rollout]\ngamma = -1", "rollout.gamma: got -1"),
        ("[rollout\ngamma = 1", "line 1"),
        ("[environment]\nid = 'acorns'", "environment.id: got 'acorns', but asked for is"),
        (
            "[environment]\ncount = 1\n[optimisation]\nminibatch_size = 9999",
            "9999 rows are more than",
        ),
    ],
)
def test_a_mistake_in_a_file_is_told_with_the_file(
    text: str, told: str, capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    # The flags would stand over the file.
    words = ["train", "CartPole-v1", f"--config={file}", f"--run-dir={tmp_path / 'run'}"]
    error = refused(capsys, words)
    assert str(file) in error
    assert told in error
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("what", "module", "words", "extra"),
    [
        ("acorns", "zx", (), "spectrum"),
        ("CartPole-v1", "tensorboard", ("--metrics.tensorboard=true",), "tensorboard"),
    ],
)
def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    what: str,
    module: str,
    words: tuple[str, ...],
    extra: str,
    capsys: Capture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in list(sys.modules):
        if name == module or name.startswith(f"{module}."):
            monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    told = refused(capsys, train(what, tmp_path / "run", *words))
    assert f"needs the package '{module}', which is not installed" in told
    assert told.endswith(f"install it with: pip install 'oakemu-rl[{extra}]'")
    assert list(tmp_path.iterdir()) == []


def test_a_run_folder_that_cannot_be_used_is_refused(
    capsys: Capture, trained: Path, tmp_path: Path
) -> None:
    before = {path: path.stat().st_mtime_ns for path in trained.rglob("*")}
    told = refused(capsys, train("CartPole-v1", trained))
    assert told == (
        f"{trained}: is not empty; choose another folder with --run-dir, or delete this one"
    )
    assert {path: path.stat().st_mtime_ns for path in trained.rglob("*")} == before
    file = tmp_path / "file"
    file.touch()
    told = refused(capsys, train("CartPole-v1", file / "run"))
    assert told == (
        f"{file / 'run'}: cannot be made (Not a directory); choose another folder with --run-dir"
    )


def test_a_game_is_trained_from_a_file_of_settings(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[run]\ntotal_steps = 64\nseed = 5\n")
    words = train("acorns", tmp_path / "run", "--lockstep", f"--config={file}", small=SMALL_GAME)
    assert run(words) == 0
    saved = load_configuration(PPOExperimentConfiguration, file=tmp_path / "run" / "config.toml")
    assert (saved.run.total_steps, saved.run.seed) == (64, 5)
    assert saved.environment.id == "acorns"
    assert evaluated(capsys, tmp_path / "run", episodes=1)["success_rate"] is None
