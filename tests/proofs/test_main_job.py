"""The main job: an agent learns Acorns from pixels, in minutes, with each of three seeds; and the
same with Rainbow."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

SEEDS = (0, 1, 2)
MOST_SECONDS = {"ppo": 300.0, "rainbow": 600.0}


@pytest.mark.prove
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("algorithm", MOST_SECONDS)
def test_the_agent_nears_the_scripted_player_in_minutes(
    algorithm: str, seed: int, tmp_path: Path
) -> None:
    folder, most = tmp_path / "run", MOST_SECONDS[algorithm]
    command = [sys.executable, "-m", "oakemu_rl", "train", "acorns", "--algo", algorithm]
    words = [*command, "--seed", str(seed), "--run-dir", str(folder)]
    started = time.perf_counter()
    subprocess.run(words, check=True, timeout=2 * most)
    seconds = time.perf_counter() - started
    result = json.loads((folder / "result.json").read_text())
    mean, chance, scripted = (
        result[name] for name in ("test_mean", "random_mean", "scripted_mean")
    )
    print(
        f"Acorns, {algorithm}, seed {seed}: agent {mean:.2f}, "
        f"random {chance:.2f} (x {mean / chance:.1f}), "
        f"scripted {scripted:.2f} ({mean / scripted:.0%}), "
        f"{result['steps']:,} steps, {seconds:.0f} s"
    )
    assert len(result["scores"]) == 30
    assert mean >= 8.0 * chance
    assert mean >= 0.8 * scripted
    assert seconds < most
