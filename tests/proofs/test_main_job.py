"""The main job: an agent learns Acorns from pixels, in minutes, with each of three seeds."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEEDS = (0, 1, 2)
MOST_SECONDS = 300.0


@pytest.mark.prove
@pytest.mark.parametrize("seed", SEEDS)
def test_the_agent_nears_the_scripted_player_within_five_minutes(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "oakemu_rl", "train", "acorns", "--seed", str(seed)]
    started = time.perf_counter()
    subprocess.run([*command, "--run-dir", str(folder)], check=True, timeout=2 * MOST_SECONDS)
    seconds = time.perf_counter() - started
    result = json.loads((folder / "result.json").read_text())
    mean, chance, scripted = (
        result[name] for name in ("test_mean", "random_mean", "scripted_mean")
    )
    print(
        f"Acorns, seed {seed}: agent {mean:.2f}, random {chance:.2f} (x {mean / chance:.1f}), "
        f"scripted {scripted:.2f} ({mean / scripted:.0%}), "
        f"{result['steps']:,} steps, {seconds:.0f} s"
    )
    assert len(result["scores"]) == 30
    assert mean >= 8.0 * chance
    assert mean >= 0.8 * scripted
    assert seconds < MOST_SECONDS
