"""What a command prints and returns, in this process and, for the edges, in one of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from oakemu_rl.cli.main import run
from oakemu_rl.config.loading import load_configuration
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.config.strict import structure

ROOT = Path(__file__).parents[2]


def in_own_process(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_config_show_prints_toml_that_is_the_configuration(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["config", "show", "acorns", "--rollout.steps", "99"]) == 0
    shown = tomllib.loads(capsys.readouterr().out)
    expected = load_configuration(
        PPOExperimentConfiguration, "acorns", preset="ppo", overrides={"rollout.steps": 99}
    )
    assert structure(shown, PPOExperimentConfiguration, source="shown") == expected


def test_config_show_names_the_settings_that_are_not_set(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["config", "show", "acorns", "--optimisation.target-kl", "0.1"]) == 0
    shown = capsys.readouterr().out
    assert "# loss.value_clip_range is not set\n" in shown
    assert "target_kl is not set" not in shown


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert re.fullmatch(r"oakemu-rl \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_config_check_accepts_what_config_show_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "my.toml"
    run(["config", "show", "CartPole-v1"])
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    assert run(["config", "check", str(file)]) == 0
    assert capsys.readouterr().out == f"{file}: is a valid ppo configuration\n"


def test_config_check_tells_the_fault_on_stderr_and_returns_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[loss]\nclip_rage = 1\n", encoding="utf-8")
    assert run(["config", "check", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(
        f"oakemu-rl: error: {file}: loss.clip_rage: unknown key; did you mean clip_range? (allowed:"
    )
    assert printed.err.count("\n") == 1


def test_a_wrong_setting_stops_train_before_anything_starts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    words = ["train", "acorns", "--run-dir", str(folder), "--optimisation.minibatch-size", "999999"]
    assert run(words) == 2
    error = capsys.readouterr().err
    assert "999999 rows are more than the " in error
    assert error.count("\n") == 1
    assert not folder.exists()


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        ("--episodes=0", "--episodes: got 0, allowed is"),
        ("--seed=-1", "--seed: got -1, allowed is"),
    ],
)
def test_eval_refuses_numbers_out_of_range(
    flag: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["eval", "run", flag]) == 2
    assert message in capsys.readouterr().err


def test_games_list_names_our_game(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["games", "list"]) == 0
    printed = capsys.readouterr().out
    assert "acorns" in printed
    assert "left, right" in printed


def test_a_mistake_in_its_own_process_is_one_line_and_exit_code_2() -> None:
    done = in_own_process("-m", "oakemu_rl", "train", "acorns", "--sed", "1")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "oakemu-rl: error: --sed: unknown flag; did you mean --seed?\n"


def test_help_and_mistakes_need_no_torch_numpy_or_gymnasium() -> None:
    script = """
import sys
from oakemu_rl.cli.main import run
assert run(["--help"]) == 0
assert run(["train", "acorns", "--loss.clip-rage", "1"]) == 2
assert run(["config", "show", "acorns"]) == 0
assert not {"torch", "numpy", "gymnasium"} & set(sys.modules)
"""
    done = in_own_process("-c", script)
    assert done.returncode == 0, done.stderr
    assert "usage: oakemu-rl" in done.stdout


def test_ctrl_c_returns_130_and_an_unforeseen_exception_keeps_its_traceback() -> None:
    script = """
import sys
from oakemu_rl.cli import commands
from oakemu_rl.cli.main import main
def stop(self, settings):
    raise {error}
commands.ListGames.run = stop
sys.argv = ["oakemu-rl", "games", "list"]
main()
"""
    interrupted = in_own_process("-c", script.replace("{error}", "KeyboardInterrupt"))
    assert interrupted.returncode == 130
    assert interrupted.stderr == "oakemu-rl: interrupted\n"
    failed = in_own_process("-c", script.replace("{error}", 'ZeroDivisionError("odd")'))
    assert failed.returncode == 1
    assert failed.stderr.startswith("Traceback")
    assert "ZeroDivisionError: odd" in failed.stderr


@pytest.mark.parametrize("words", ["config show acorns", "--help"])
def test_a_reader_that_goes_away_gets_no_traceback(words: str) -> None:
    script = f"""
import sys
sys.stdout.close()
import os
read, write = os.pipe()
os.close(read)
sys.stdout = os.fdopen(write, "w")
from oakemu_rl.cli.main import run
sys.exit(run({words.split()}))
"""
    done = in_own_process("-c", script)
    assert (done.returncode, done.stderr) == (1, "")
