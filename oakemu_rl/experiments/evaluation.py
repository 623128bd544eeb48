"""Testing what a run has left: the command `eval`."""

import warnings
from collections.abc import Callable
from pathlib import Path

from oakemu_rl.checkpoints.checkpoint import Checkpoint, load_checkpoint
from oakemu_rl.checkpoints.manager import CheckpointManager, Which
from oakemu_rl.config.loading import load_saved_configuration
from oakemu_rl.core.errors import CheckpointError, ConfigurationError, RunFolderError
from oakemu_rl.experiments.algorithms import find_algorithm
from oakemu_rl.experiments.devices import chosen_device
from oakemu_rl.experiments.run_folder import RunFolder
from oakemu_rl.training.evaluation import Evaluation
from oakemu_rl.training.seeds import episode_seeds
from oakemu_rl.training.test_bench import TestBench


def evaluate_run(
    path: Path,
    *,
    checkpoint: str = "best",
    episodes: int = 30,
    seed: int = 0,
    mode: str = "greedy",
    note: Callable[[str], object] = warnings.warn,
) -> Evaluation:
    """Play `episodes` games from the true start with a checkpoint of the run at `path`.

    Args:
        path: a run folder, or a checkpoint folder inside one.
        checkpoint: `best` (the latest where none is marked), `latest`, or an environment step; not
            read where `path` is a checkpoint.
        episodes: how many games.
        seed: decides the games; the same seed and mode give the same scores.
        mode: greedy or sampled.
        note: is told where a broken checkpoint is passed over for an older one.

    Raises:
        RunFolderError, CheckpointError, ConfigurationError: what is there cannot be used.
    """
    folder, loaded = _found(path, checkpoint)
    for fault in loaded.rejected:
        note(f"{fault}; took the checkpoint of step {loaded.env_steps} instead")
    algorithm = find_algorithm(folder.algorithm())
    config = load_saved_configuration(algorithm.configuration, folder.config)
    bench = TestBench(
        environment=config.environment,
        agent=algorithm.agent(config),
        count=min(episodes, config.evaluation.environments),
        max_episode_steps=config.evaluation.max_episode_steps,
        device=chosen_device(config.run.device),
    )
    try:
        if not bench.fits(loaded.tensors["model"]):
            raise CheckpointError(
                f"{loaded.path}: its weights do not fit the model of {folder.config}; put that "
                "file back as it was when the run began"
            )
        seeds = episode_seeds(seed, "evaluation", episodes)
        played = bench.play_agent(loaded.tensors["model"], seeds=seeds, mode=mode)
    finally:
        bench.close()
    assert played is not None
    return Evaluation.of(played, mode=mode, step=loaded.env_steps)


def _found(path: Path, checkpoint: str) -> tuple[RunFolder, Checkpoint]:
    if (path / "manifest.json").is_file():
        run = path.resolve().parent.parent
        if not (run / "config.toml").is_file():
            raise RunFolderError(
                f"{path}: is a checkpoint outside a run folder, whose config.toml is needed; "
                "name a checkpoint below RUN/checkpoints"
            )
        return RunFolder.open(run), load_checkpoint(path)
    folder = RunFolder.open(path)
    return folder, CheckpointManager(folder.checkpoints).load(_which(checkpoint))


def _which(text: str) -> Which:
    if text == "best":
        return "best"
    if text == "latest":
        return "latest"
    if text.isdecimal():
        return int(text)
    raise ConfigurationError(
        f"--checkpoint: got {text!r}, allowed is best, latest, or an environment step"
    )
