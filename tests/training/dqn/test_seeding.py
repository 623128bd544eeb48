"""The seed decides actions, rewards, drawn rows, losses and weights, and nothing else does."""

import hashlib
import sys
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pytest
import torch

from oakemu_rl.buffers.layout import LayoutFields
from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.config.options import EnvironmentOptions
from oakemu_rl.core.transitions import TransitionBatch
from oakemu_rl.envs.factory import make_vector_environment
from oakemu_rl.training.dqn.agent import dqn_agent
from oakemu_rl.training.test_bench import TestBench
from tests.experiments.commands import finished
from tests.training.dqn.parts import Parts, acting_parts, config_of
from tests.training.parts import CPU
from tests.training.worlds import MASKED_ID

STEPS = 1_000
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "rainbow": {
        "model": {"dueling": True, "noisy": True, "atoms": 11},
        "replay": {"kind": "prioritised", "n_step": 3},
    },
}
ELSEWHERE = """
import sys
from tests.training.dqn.test_seeding import trace
print(*(trace(kind, seed=3) for kind in sys.argv[1:]), sep="\\n")
"""


class Recorder:
    """Keeps a digest of all that it is told."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self.rows = 0

    def note(self, *arrays: Any) -> None:
        for array in arrays:
            self._digest.update(np.ascontiguousarray(array).tobytes())
        self.rows += 1

    def digest(self) -> str:
        return self._digest.hexdigest()


def recording(
    recorder: Recorder, *, prioritised: bool, **layout: Unpack[LayoutFields]
) -> ReplayBuffer:
    """A replay that tells of all that is written, drawn and updated."""
    base: Any = PrioritizedReplayBuffer if prioritised else ReplayBuffer

    class Recording(base):  # type: ignore[misc]
        def add(self, step: ReplayStep) -> None:
            recorder.note(step.actions, step.rewards)
            super().add(step)

        def sample(self, batch_size: int, *, generator: np.random.Generator) -> TransitionBatch:
            batch: TransitionBatch = super().sample(batch_size, generator=generator)
            recorder.note(batch.indices.numpy(), batch.serials.numpy())
            return batch

        def update_priorities(self, indices: Any, serials: Any, td_errors: Any) -> Any:
            recorder.note(td_errors)
            return super().update_priorities(indices, serials, td_errors)

    options = {"alpha": 0.6, "epsilon": 1e-6} if prioritised else {}
    made: ReplayBuffer = Recording(**options, **layout)
    return made


def trained(kind: str, *, seed: int, meddling: bool = False) -> tuple[Parts, Recorder]:
    """A thousand steps in a random environment, and 248 updates, in one thread."""
    options = KINDS[kind]
    config = config_of(
        **{
            **options,
            "environment": {"id": MASKED_ID, "count": 2},
            "replay": {"capacity": 512, "warm_up_steps": 8, **options.get("replay", {})},
            "optimisation": {"steps_per_update": 4.0},
            "run": {"seed": seed},
        }
    )
    environments = make_vector_environment(config.environment, count=2)
    parts, recorder = acting_parts(config, environments), Recorder()
    replay = recording(
        recorder,
        prioritised=config.replay.kind == "prioritised",
        capacity=512,
        environments=2,
        observation_spec=environments.observation_spec,
        action_count=environments.action_spec.count,
        n_step=config.replay.n_step,
        masked=True,
    )
    parts.learner.replace_replay_buffer(replay)
    while parts.acting.env_steps < STEPS:
        parts.acting.step()
        while parts.learner.step(parts.acting.env_steps):
            recorder.note([parts.learner.iterations])
        if meddling and parts.acting.env_steps % 200 == 0:
            meddle(parts)
    environments.close()
    for each in (parts.model.model, parts.target):
        recorder.note(*(tensor.numpy() for tensor in each.state_dict().values()))
    return parts, recorder


def meddle(parts: Parts) -> None:
    """What must change nothing: tests, other environments, global random numbers."""
    bench = TestBench(
        environment=EnvironmentOptions(id=MASKED_ID),
        agent=dqn_agent(parts.learner.config),
        count=2,
        device=CPU,
    )
    bench.play_agent(parts.model.model.state_dict(), seeds=[1, 2], mode="sampled")
    bench.close()
    other = make_vector_environment(EnvironmentOptions(id="CartPole-v1"), count=1)
    other.reset([7])
    other.close()
    torch.rand(3)
    np.random.default_rng().random(3)


def trace(kind: str, *, seed: int) -> str:
    """The digest of a run."""
    return trained(kind, seed=seed)[1].digest()


@pytest.fixture(scope="module")
def traces() -> dict[str, str]:
    return {kind: trace(kind, seed=3) for kind in KINDS}


def test_a_fresh_process_makes_the_same_run_of_the_same_seed(
    traces: dict[str, str], tmp_path: Path
) -> None:
    done = finished([sys.executable, "-c", ELSEWHERE, *KINDS], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == list(traces.values())


@pytest.mark.parametrize("kind", KINDS)
def test_what_else_is_built_and_tested_changes_nothing(kind: str, traces: dict[str, str]) -> None:
    parts, recorder = trained(kind, seed=3, meddling=True)
    assert recorder.digest() == traces[kind]
    assert parts.learner.iterations == (STEPS - 8) // 4
    assert recorder.rows > STEPS / 2 + 2 * parts.learner.iterations


def test_another_seed_makes_another_run(traces: dict[str, str]) -> None:
    assert trace("plain", seed=4) != traces["plain"]
