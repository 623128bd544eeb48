"""Forms what is sampled: stacks of frames, and windows of up to W steps, from the slots of a
replay.

Letters: B rows, W steps of the longest window, K frames of a stack, N environments.
"""

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np
import torch
from torch import Tensor

from oakemu_rl.buffers.lanes import Lanes
from oakemu_rl.buffers.layout import STEP, Array, Integers, ReplayLayout
from oakemu_rl.core.observations import (
    Observations,
    TensorSpec,
    observation_specs,
)
from oakemu_rl.core.transitions import TransitionBatch


class WindowReader:
    """Reads the windows that begin in given slots.

    What is read lies in arrays that the next reading overwrites: to allocate them anew each time
    would cost more than to fill them.
    """

    def __init__(self, lanes: Lanes) -> None:
        self._lanes = lanes
        self._layout = lanes.layout
        self._stride = lanes.layout.environments
        self._outputs = _Outputs.allocate(self._layout, 0)
        width, frames = self._layout.n_step, self._layout.frame_stack
        self._window, self._window_and_after = np.arange(width), np.arange(width + 1)
        self._history = np.arange(1 - frames, 1)
        self._with_next = np.arange(1 - frames, 2)

    def read(
        self, slots: Integers, *, probabilities: Array | None, smallest_probability: float | None
    ) -> TransitionBatch:
        """The windows that begin in `slots` [B], of which each holds an item."""
        if len(slots) != len(self._outputs.steps):
            self._outputs = _Outputs.allocate(self._layout, len(slots))
        out, lanes = self._outputs, self._lanes
        if self._layout.n_step == 1:
            lanes.steps.take(slots, out=out.steps[:, 0], mode="clip")
            lengths = None
            np.add(slots, self._stride, out=out.ends[:, 1])
        else:
            lengths = self._read_steps(slots)
            np.add(slots, lengths * self._stride, out=out.ends[:, 1])
        ends = out.ends
        ends[:, 0] = slots
        self._read_frames(slots, lengths, ends)
        if self._layout.masked:
            lanes.masks.take(ends, axis=0, out=out.masks, mode="wrap")
        if self._layout.value_names:
            offsets = np.minimum(self._window_and_after, out.lengths[:, np.newaxis])
            at = slots[:, np.newaxis] + offsets * self._stride
            lanes.values.take(at, axis=0, out=out.values, mode="wrap")
        return TransitionBatch(
            indices=torch.from_numpy(slots),
            size=lanes.count,
            probabilities=None if probabilities is None else torch.from_numpy(probabilities),
            smallest_probability=smallest_probability,
            **out.tensors,
        )

    def _read_steps(self, slots: Integers) -> Integers:
        """Read the steps of windows longer than one, and return how many belong to each."""
        out = self._outputs
        at = slots[:, np.newaxis] + self._window * self._stride
        self._lanes.steps.take(at, out=out.steps, mode="wrap")
        ends = out.steps["last"]
        ends[:, -1] = True
        lengths = ends.argmax(axis=1, out=out.lengths)
        lengths += 1
        behind = self._window >= lengths[:, np.newaxis]
        out.steps["reward"][behind] = 0.0
        np.logical_and(out.steps["terminated"], ~behind).any(axis=1, out=out.terminated)
        return lengths

    def _read_frames(self, slots: Integers, lengths: Integers | None, ends: Integers) -> None:
        """Read the stacks at both ends of each window.

        An episode's first frame fills the places in a stack before it.
        """
        at = ends
        if self._layout.frame_stack > 1:
            ages = self._outputs.steps["age"][:, :1]
            if lengths is None:
                # The stacks of two successive steps share all frames but one.
                offsets = np.maximum(self._with_next, -ages)
            else:
                reach = lengths[:, np.newaxis]
                last = np.maximum(self._history, -(ages + reach)) + reach
                offsets = np.concatenate((np.maximum(self._history, -ages), last), axis=1)
            at = slots[:, np.newaxis] + offsets * self._stride
        for name, store in self._lanes.frames.items():
            store.read(at, self._outputs.frames[name])


@attrs.frozen(kw_only=True, eq=False)
class _Outputs:
    """Arrays for B rows, and the fields of a batch that are views of them."""

    steps: Array
    frames: Mapping[str, Array]
    ends: Integers
    masks: Array
    values: Array
    lengths: Integers
    terminated: Array
    tensors: dict[str, Any]

    @classmethod
    def allocate(cls, layout: ReplayLayout, rows: int) -> "_Outputs":
        stack, width = layout.frame_stack, layout.n_step
        frame_count = stack + 1 if width == 1 else 2 * stack
        frames = {
            name: np.empty((rows, frame_count, *spec.shape), dtype=spec.dtype)
            for name, spec in layout.frame_specs.items()
        }
        steps = np.zeros((rows, width), dtype=STEP)
        masks = np.empty((rows, 2, layout.action_count), dtype=np.bool_)
        values = np.empty((rows, width + 1, len(layout.value_names)), dtype=np.float32)
        lengths = np.ones(rows, dtype=np.int64)
        terminated = steps["terminated"][:, 0] if width == 1 else np.empty(rows, dtype=np.bool_)
        tensors: dict[str, Any] = {
            "observations": _stacks(layout, frames, slice(None, stack)),
            "next_observations": _stacks(layout, frames, slice(-stack, None)),
            "actions": torch.from_numpy(steps["action"][:, 0]),
            "serials": torch.from_numpy(steps["serial"][:, 0]),
            "rewards": torch.from_numpy(steps["reward"]),
            "lengths": torch.from_numpy(lengths),
            "terminated": torch.from_numpy(terminated),
            "action_masks": torch.from_numpy(masks[:, 0]) if layout.masked else None,
            "next_action_masks": torch.from_numpy(masks[:, 1]) if layout.masked else None,
            "values": {
                name: torch.from_numpy(values[:, :, column])
                for column, name in enumerate(layout.value_names)
            },
        }
        return cls(
            steps=steps,
            frames=frames,
            ends=np.empty((rows, 2), dtype=np.int64),
            masks=masks,
            values=values,
            lengths=lengths,
            terminated=terminated,
            tensors=tensors,
        )


def _stacks(layout: ReplayLayout, frames: Mapping[str, Array], part: slice) -> Observations:
    """Views of these frames [B, M, ...] as the stacks that an agent sees."""

    def stacked(name: str, spec: TensorSpec) -> Tensor:
        frames_of_stack = torch.from_numpy(frames[name])[:, part]
        return frames_of_stack.view(len(frames_of_stack), *spec.shape)

    if isinstance(layout.observation_spec, TensorSpec):
        (lone,) = observation_specs(layout.observation_spec).items()
        return stacked(*lone)
    return {name: stacked(name, spec) for name, spec in layout.observation_spec.items()}
