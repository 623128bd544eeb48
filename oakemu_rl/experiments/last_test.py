"""The last test of a run: its best checkpoint on seeds of its own, beside chance and the scripted
player."""

from pathlib import Path
from statistics import fmean

import attrs

from oakemu_rl.checkpoints.manager import CheckpointManager
from oakemu_rl.config.algorithms import ExperimentConfiguration
from oakemu_rl.experiments.picture import MOST_FRAMES, write_gif
from oakemu_rl.experiments.result import ExperimentResult
from oakemu_rl.experiments.run_folder import RunFolder
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.seeds import episode_seeds
from oakemu_rl.training.test_bench import Episodes, TestBench


def last_test(
    result: ExperimentResult,
    config: ExperimentConfiguration,
    *,
    manager: CheckpointManager,
    bench: TestBench,
) -> tuple[ExperimentResult, Episodes]:
    """`result` with the scores of the last test, and its episodes; none if the test was stopped."""
    best = manager.load("best")
    seeds = episode_seeds(config.run.seed, "last test", config.evaluation.final_episodes)
    mode = config.evaluation.mode
    episodes = bench.play_agent(best.tensors["model"], seeds=seeds, mode=mode)
    if episodes is None:
        return result, ()
    evaluation = Evaluation.of(episodes, mode=mode, step=best.env_steps)
    tested = attrs.evolve(
        result,
        checkpoint_step=best.env_steps,
        test_mean=evaluation.mean,
        standard_error=evaluation.standard_error,
        interval=evaluation.interval,
        scores=evaluation.scores,
        seeds=evaluation.seeds,
        random_mean=_mean(bench.play_random(seeds=seeds)),
        scripted_mean=_mean(bench.play_scripted(seeds=seeds)),
    )
    return tested, episodes


def save_picture(bench: TestBench, episodes: Episodes, folder: RunFolder) -> Path | None:
    """Draw the best of the episodes; None where the environment draws no pictures."""
    best = max(episodes, key=lambda episode: episode.score)
    frames = bench.frames(best, most=MOST_FRAMES)
    if not frames:
        return None
    path = folder.videos / "best.gif"
    write_gif(path, frames, frames_per_second=bench.frames_per_second)
    return path


def _mean(episodes: Episodes | None) -> float | None:
    return None if episodes is None else fmean(episode.score for episode in episodes)
