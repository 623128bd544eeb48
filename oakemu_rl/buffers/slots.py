"""One rollout's storage, allocated once, and the step that is written into it.

Letters: T steps, N environments, A actions.
"""

from typing import Any

import attrs
import torch
from torch import Tensor

from oakemu_rl.core.observations import (
    Observations,
    ObservationSpec,
    TensorSpec,
    map_observations,
    observation_tensors,
)


@attrs.frozen(kw_only=True, eq=False)
class RolloutStep:
    """What all environments did in one step.

    `observations` and `action_masks` are those that the actions were chosen from; `log_probs` and
    `values` come from the policy that chose. `final_values` are the values of the true next
    observation where an episode was truncated, and are read nowhere else. `valid` is false for a
    step that only reset its environment; `replayed` is true where the action came from a
    demonstration.

    Shapes:
        observations [N, ...]; action_masks [N, A] bool or None; the rest [N].
    """

    observations: Observations
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    final_values: Tensor
    rewards: Tensor
    terminated: Tensor
    truncated: Tensor
    valid: Tensor
    action_masks: Tensor | None = None
    replayed: Tensor | None = None


@attrs.frozen(kw_only=True, eq=False)
class RolloutStorage:
    """The tensors of one slot, [T, N, ...] each; `advantages` and `returns` are filled at the
    end."""

    observations: Observations
    actions: Tensor
    log_probs: Tensor
    values: Tensor
    final_values: Tensor
    rewards: Tensor
    advantages: Tensor
    returns: Tensor
    terminated: Tensor
    truncated: Tensor
    valid: Tensor
    replayed: Tensor
    action_masks: Tensor

    @classmethod
    def allocate(
        cls,
        *,
        steps: int,
        environments: int,
        observation_spec: ObservationSpec,
        action_count: int,
        pinned: bool,
    ) -> "RolloutStorage":
        """Zeroed storage in the host's memory, page-locked where a CUDA device will read it."""

        def zeros(shape: tuple[int, ...], dtype: torch.dtype) -> Tensor:
            return torch.zeros((steps, environments, *shape), dtype=dtype, pin_memory=pinned)

        def observation(spec: TensorSpec) -> Tensor:
            return zeros(spec.shape, spec.torch_dtype)

        numbers = ("log_probs", "values", "final_values", "rewards", "advantages", "returns")
        flags = ("terminated", "truncated", "valid", "replayed")
        return cls(
            observations=(
                observation(observation_spec)
                if isinstance(observation_spec, TensorSpec)
                else {name: observation(spec) for name, spec in observation_spec.items()}
            ),
            actions=zeros((), torch.int64),
            action_masks=zeros((action_count,), torch.bool),
            **{name: zeros((), torch.float32) for name in numbers},
            **{name: zeros((), torch.bool) for name in flags},
        )

    @classmethod
    def size_bytes(
        cls, *, steps: int, environments: int, observation_spec: ObservationSpec, action_count: int
    ) -> int:
        """What `allocate` takes of the host's memory."""
        row = cls.allocate(
            steps=1,
            environments=1,
            observation_spec=observation_spec,
            action_count=action_count,
            pinned=False,
        )
        tensors = [
            tensor
            for field in attrs.fields(cls)
            for tensor in observation_tensors(getattr(row, field.name)).values()
        ]
        return steps * environments * sum(tensor.nbytes for tensor in tensors)

    def write(self, t: int, step: RolloutStep) -> None:
        """Copy `step` into row `t`."""
        written = observation_tensors(step.observations)
        for name, storage in observation_tensors(self.observations).items():
            storage[t] = written[name]
        for field in _SCALARS:
            getattr(self, field)[t] = getattr(step, field)
        self.action_masks[t] = True if step.action_masks is None else step.action_masks
        self.replayed[t] = False if step.replayed is None else step.replayed

    def flat(self, device: torch.device) -> "RolloutStorage":
        """The same storage as [T * N, ...] on `device`; on the CPU these are views."""

        def flatten(tensor: Tensor) -> Tensor:
            return tensor.flatten(0, 1).to(device, non_blocking=True)

        flat: dict[str, Any] = {
            field.name: map_observations(flatten, getattr(self, field.name))
            for field in attrs.fields(RolloutStorage)
        }
        return RolloutStorage(**flat)


_SCALARS = (
    "actions",
    "log_probs",
    "values",
    "final_values",
    "rewards",
    "terminated",
    "truncated",
    "valid",
)
