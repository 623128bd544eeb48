"""A replay that keeps everything it was ever given, and looks up the rest: slow, and plain to
see."""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from oakemu_rl.core.observations import ObservationSpec, TensorSpec, observation_specs

End = str
"""How a step ended: "" for not at all, "terminated", "truncated" or "both"."""


@attrs.define(kw_only=True)
class Entry:
    """One slot's worth: what the agent saw, and what it did then, if it did anything."""

    observations: Mapping[str, np.ndarray]
    mask: np.ndarray
    values: Mapping[str, float]
    start: int
    action: int | None = None
    reward: float = 0.0
    terminated: bool = False
    ended: bool = False


@attrs.define(kw_only=True)
class NaiveLane:
    """All that one environment ever did, in order, and what of it a ring of `length` would hold."""

    length: int
    frame_stack: int
    n_step: int
    entries: list[Entry] = attrs.field(factory=list)

    def items(self) -> list[int]:
        """The places of the steps whose frames are all still there."""
        oldest = len(self.entries) - self.length
        return [
            place
            for place, entry in enumerate(self.entries)
            if entry.action is not None
            and max(place - self.frame_stack + 1, entry.start) >= max(oldest, 0)
        ]

    def window(self, place: int) -> list[Entry]:
        """The steps of the window from `place` on, and the entry that they lead to."""
        entries = [self.entries[place]]
        while len(entries) < self.n_step and not entries[-1].ended:
            following = self.entries[place + len(entries)]
            if following.action is None:
                break
            entries.append(following)
        return [*entries, self.entries[place + len(entries)]]


class NaiveWorld:
    """N environments that are stepped by hand; every frame, reward, mask and value is different."""

    def __init__(
        self,
        *,
        environments: int,
        lane_length: int,
        spec: ObservationSpec,
        actions: int,
        frame_stack: int,
        n_step: int,
        value_names: Sequence[str],
    ) -> None:
        self.lanes = [
            NaiveLane(length=lane_length, frame_stack=frame_stack, n_step=n_step)
            for _ in range(environments)
        ]
        self.specs = observation_specs(spec)
        self.lone = isinstance(spec, TensorSpec)
        self.actions, self.value_names = actions, value_names
        self.under_way = np.zeros(environments, dtype=bool)
        self._stacks: list[dict[str, deque[np.ndarray]]] = [
            {name: deque(maxlen=frame_stack) for name in self.specs} for _ in range(environments)
        ]
        self._frame_stack, self._number = frame_stack, 0

    def begin(self, rows: Sequence[int]) -> dict[str, Any]:
        """Begin an episode in these environments; returns what the buffer is told."""
        for row in rows:
            lane = self.lanes[row]
            if lane.entries and lane.entries[-1].action is None and len(lane.entries) > 1:
                lane.entries[-2].ended = True
            frames = self._frames()
            for name, frame in frames.items():
                self._stacks[row][name].extend([frame] * self._frame_stack)
            lane.entries.append(self._entry(row, start=len(lane.entries)))
            self.under_way[row] = True
        told = self._newest()
        return {
            "rows": np.isin(np.arange(len(self.lanes)), rows),
            "observations": told["next_observations"],
            "action_masks": told["next_action_masks"],
            "values": told["next_values"],
        }

    def step(self, ends: Mapping[int, End]) -> dict[str, Any]:
        """Step the environments that `ends` names; returns what the buffer is told."""
        count = len(self.lanes)
        actions, rewards = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.float32)
        terminated, truncated = np.zeros(count, dtype=bool), np.zeros(count, dtype=bool)
        for row, end in ends.items():
            lane = self.lanes[row]
            self._number += 1
            entry = lane.entries[-1]
            entry.action, entry.reward = self._number % self.actions, float(self._number)
            entry.terminated, entry.ended = end in ("terminated", "both"), end != ""
            actions[row], rewards[row] = entry.action, entry.reward
            terminated[row], truncated[row] = entry.terminated, end in ("truncated", "both")
            for name, frame in self._frames().items():
                self._stacks[row][name].append(frame)
            lane.entries.append(self._entry(row, start=entry.start))
            self.under_way[row] = not entry.ended
        return {
            "actions": actions,
            "rewards": rewards,
            "terminated": terminated,
            "truncated": truncated,
            "valid": np.isin(np.arange(count), list(ends)),
            **self._newest(),
        }

    def expected(self) -> dict[float, list[Entry]]:
        """The window of every item that can be sampled, by its first reward."""
        return {
            lane.entries[place].reward: lane.window(place)
            for lane in self.lanes
            for place in lane.items()
        }

    def _frames(self) -> dict[str, np.ndarray]:
        self._number += 1
        frames = {}
        for name, spec in self.specs.items():
            shape = (spec.shape[0] // self._frame_stack, *spec.shape[1:])
            digits = self._number // 256 ** (np.arange(np.prod(shape)) % 3) % 256
            frames[name] = digits.reshape(shape).astype(spec.dtype)
        return frames

    def _entry(self, row: int, *, start: int) -> Entry:
        self._number += 1
        mask = self._number // 2 ** np.arange(self.actions) % 2 == 1
        return Entry(
            observations={
                name: np.concatenate(list(stack)) for name, stack in self._stacks[row].items()
            },
            mask=mask,
            values={name: float(self._number + i) for i, name in enumerate(self.value_names)},
            start=start,
        )

    def _newest(self) -> dict[str, Any]:
        """The newest entry of each environment, as batches; zeros where there is none yet."""
        newest = [lane.entries[-1] if lane.entries else None for lane in self.lanes]
        observations = {
            name: np.stack(
                [np.zeros(s.shape, s.dtype) if e is None else e.observations[name] for e in newest]
            )
            for name, s in self.specs.items()
        }
        return {
            "next_observations": observations["observation"] if self.lone else observations,
            "next_action_masks": np.stack(
                [np.ones(self.actions, dtype=bool) if e is None else e.mask for e in newest]
            ),
            "next_values": {
                name: np.array([0.0 if e is None else e.values[name] for e in newest])
                for name in self.value_names
            },
        }
