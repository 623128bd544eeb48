"""Whatever is written, in whatever order: each sampled row is the one that a replay which keeps
everything would give, and each that can be sampled is sampled sooner or later."""

from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from oakemu_rl.buffers.prioritised import PrioritizedReplayBuffer
from oakemu_rl.buffers.replay import ReplayBuffer, ReplayStep
from oakemu_rl.core.observations import ObservationSpec, TensorSpec, observation_tensors
from oakemu_rl.core.transitions import TransitionBatch
from tests.buffers.naive_replay import Entry, NaiveWorld

ACTIONS = 5
ROUNDS = 40
"""Batches, each as large as the buffer, in which every item must come at least once."""


def specs(kind: str, frame_stack: int) -> ObservationSpec:
    vector = TensorSpec(shape=(3 * frame_stack,), dtype="float32")
    image = TensorSpec(shape=(2 * frame_stack, 2, 3), dtype="uint8")
    return {"vector": vector, "image": image, "both": {"screen": image, "memory": vector}}[kind]


class ReplayMachine(RuleBasedStateMachine):
    @initialize(
        kind=st.sampled_from(["vector", "image", "both"]),
        environments=st.integers(1, 3),
        spare=st.integers(0, 9),
        frame_stack=st.integers(1, 4),
        n_step=st.integers(1, 4),
        masked=st.booleans(),
        values=st.integers(0, 2),
        prioritised=st.booleans(),
        compression=st.sampled_from(["none", "none", "zstd"]),
        remainder=st.integers(0, 2),
        begun=st.integers(0, 3),
    )
    def build(
        self,
        kind: str,
        environments: int,
        spare: int,
        frame_stack: int,
        n_step: int,
        masked: bool,
        values: int,
        prioritised: bool,
        compression: str,
        remainder: int,
        begun: int,
    ) -> None:
        length = frame_stack + 1 + spare
        layout: dict[str, Any] = {
            "capacity": length * environments + min(remainder, environments - 1),
            "environments": environments,
            "observation_spec": specs(kind, frame_stack),
            "action_count": ACTIONS,
            "frame_stack": frame_stack,
            "n_step": n_step,
            "masked": masked,
            "value_names": ("lives", "score")[:values],
            "compression": compression,
        }
        self.masked = masked
        self.buffer: ReplayBuffer = (
            PrioritizedReplayBuffer(alpha=0.5, epsilon=0.01, **layout)
            if prioritised
            else ReplayBuffer(**layout)
        )
        self.naive = NaiveWorld(
            environments=environments,
            lane_length=length,
            spec=layout["observation_spec"],
            actions=ACTIONS,
            frame_stack=frame_stack,
            n_step=n_step,
            value_names=layout["value_names"],
        )
        self.generator = np.random.default_rng(0)
        self.buffer.begin(**self.naive.begin(range(min(begun, environments))))

    @rule(data=st.data(), steps=st.integers(1, 6))
    def step(self, data: st.DataObject, steps: int) -> None:
        ends = st.sampled_from(["", "", "", "", "terminated", "truncated", "both"])
        for _ in range(steps):
            ready = np.flatnonzero(self.naive.under_way).tolist()
            stepped = {
                row: data.draw(ends, label=f"end of {row}")
                for row in ready
                if data.draw(st.integers(0, 4), label=f"skip {row}") < 4
            }
            self.buffer.add(ReplayStep(**self.naive.step(stepped)))

    @rule()
    def begin_where_episodes_ended(self) -> None:
        waiting = np.flatnonzero(~self.naive.under_way).tolist()
        self.buffer.begin(**self.naive.begin(waiting))

    @rule(data=st.data())
    def begin_anywhere(self, data: st.DataObject) -> None:
        row = data.draw(st.integers(0, len(self.naive.lanes) - 1))
        self.buffer.begin(**self.naive.begin([row]))

    @precondition(lambda self: len(self.buffer))
    @rule(scale=st.sampled_from([0.0, 0.1, 10.0]))
    def update_priorities(self, scale: float) -> None:
        batch = self.buffer.sample(len(self.buffer), generator=self.generator)
        errors = scale * self.generator.standard_normal(len(batch.indices)).astype(np.float32)
        self.buffer.update_priorities(batch.indices.numpy(), batch.serials.numpy(), errors)

    @invariant()
    def as_many_can_be_sampled(self) -> None:
        if hasattr(self, "naive"):
            assert len(self.buffer) == len(self.naive.expected())

    @precondition(lambda self: len(self.buffer))
    @rule()
    def every_row_is_right_and_every_item_comes(self) -> None:
        expected = self.naive.expected()
        missing = set(expected)
        for _ in range(ROUNDS):
            batch = self.buffer.sample(len(expected), generator=self.generator)
            assert batch.size == len(expected)
            for row, reward in enumerate(batch.rewards[:, 0].tolist()):
                self.compare(batch, row, expected[reward])
                missing.discard(reward)
            if not missing or self.buffer.is_prioritised:
                return
        assert not missing

    def compare(self, batch: TransitionBatch, row: int, window: list[Entry]) -> None:
        *steps, after = window
        count, width = len(steps), self.buffer.n_step
        assert int(batch.lengths[row]) == count
        rewards = [step.reward for step in steps] + [0.0] * (width - count)
        assert batch.rewards[row].tolist() == rewards
        assert int(batch.actions[row]) == steps[0].action
        assert bool(batch.terminated[row]) == steps[-1].terminated
        for tensors, entry in ((batch.observations, steps[0]), (batch.next_observations, after)):
            for name, tensor in observation_tensors(tensors).items():
                assert np.array_equal(tensor[row].numpy(), entry.observations[name])
        for masks, entry in ((batch.action_masks, steps[0]), (batch.next_action_masks, after)):
            assert (masks is not None) == self.masked
            assert masks is None or np.array_equal(masks[row].numpy(), entry.mask)
        seen = [*window, *[after] * (width - count)]
        assert list(batch.values) == list(self.naive.value_names)
        for name, values in batch.values.items():
            assert values[row].tolist() == [entry.values[name] for entry in seen]


ReplayMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestReplay = ReplayMachine.TestCase
