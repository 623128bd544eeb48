"""The rollouts that PPO learns from: two slots, so that one fills while the other is learned
from."""

from collections.abc import Iterator

import torch
from torch import Tensor

from oakemu_rl.buffers.slots import RolloutStep, RolloutStorage
from oakemu_rl.core.advantages import generalized_advantages
from oakemu_rl.core.minibatches import BehaviorCloningMinibatch, RolloutMinibatch
from oakemu_rl.core.observations import Observations, ObservationSpec, map_observations
from oakemu_rl.core.successors import successor_values


class RolloutBuffer:
    """Preallocated slots of T steps of N environments.

    The actor fills a slot: `begin(slot, version=...)`, `write(slot, step)` T times, `finalise(slot,
    ...)`, which computes advantages and returns in place. The learner then calls `select(slot)` and
    draws minibatches from that slot; until it is selected again, slot 0 is the one that is read.
    Which of the two may touch a slot at a time is the handshake's business.
    """

    def __init__(
        self,
        *,
        steps: int,
        environments: int,
        observation_spec: ObservationSpec,
        action_count: int,
        device: torch.device | None = None,
        slots: int = 2,
    ) -> None:
        for name, value in (("steps", steps), ("environments", environments), ("slots", slots)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self.steps = steps
        self.environments = environments
        self.device = device if device is not None else torch.device("cpu")
        self._storages = [
            RolloutStorage.allocate(
                steps=steps,
                environments=environments,
                observation_spec=observation_spec,
                action_count=action_count,
                pinned=self.device.type == "cuda",
            )
            for _ in range(slots)
        ]
        self._filled = [0] * slots
        self._versions = [0] * slots
        self._env_steps = [0] * slots
        self._masked = [False] * slots
        self._selected = 0

    @property
    def slots(self) -> int:
        """The number of slots."""
        return len(self._storages)

    @property
    def version(self) -> int:
        """The version of the policy that collected the selected slot."""
        return self._versions[self._selected]

    @property
    def env_steps(self) -> int:
        """The environment step at which the selected slot was full."""
        return self._env_steps[self._selected]

    @property
    def storage(self) -> RolloutStorage:
        """The selected slot's tensors."""
        return self._storages[self._selected]

    @property
    def valid_rows(self) -> int:
        """Rows of the selected slot that are steps of an episode, not resets."""
        return int(self.storage.valid.sum())

    @property
    def on_policy_rows(self) -> int:
        """Rows of the selected slot that the policy itself acted in."""
        return int(self._on_policy().sum())

    @property
    def replayed_rows(self) -> int:
        """Rows of the selected slot that were replayed from a demonstration."""
        return int(self._replayed().sum())

    def begin(self, slot: int, *, version: int) -> None:
        """Start to fill `slot` with the policy of this version."""
        self._filled[slot] = 0
        self._versions[slot] = version
        self._masked[slot] = False

    def write(self, slot: int, step: RolloutStep) -> None:
        """Write the next step of `slot`.

        Raises:
            ValueError: the slot is full.
        """
        if self._filled[slot] == self.steps:
            raise ValueError(f"slot {slot} is full: it holds {self.steps} steps")
        self._storages[slot].write(self._filled[slot], step)
        self._filled[slot] += 1
        self._masked[slot] |= step.action_masks is not None

    def finalise(
        self, slot: int, *, last_values: Tensor, gamma: float, gae_lambda: float, env_steps: int
    ) -> None:
        """Compute the advantages and returns of a full slot in place.

        `last_values` [N] are the values of the observations after the last step, which was
        environment step `env_steps` of the run.

        Raises:
            ValueError: the slot is not full.
        """
        if self._filled[slot] != self.steps:
            raise ValueError(
                f"slot {slot} holds {self._filled[slot]} steps, {self.steps} make a rollout"
            )
        self._env_steps[slot] = env_steps
        storage = self._storages[slot]
        next_values = successor_values(
            values=storage.values,
            final_values=storage.final_values,
            ended=storage.terminated | storage.truncated,
            last_values=last_values,
        )
        result = generalized_advantages(
            rewards=storage.rewards,
            values=storage.values,
            next_values=next_values,
            terminated=storage.terminated,
            truncated=storage.truncated,
            gamma=gamma,
            gae_lambda=gae_lambda,
            valid=storage.valid,
        )
        storage.advantages.copy_(result.advantages)
        storage.returns.copy_(result.returns)

    def select(self, slot: int) -> None:
        """Make `slot` the one that is learned from."""
        self._selected = slot

    def observations(self) -> Observations:
        """The valid observations of the selected slot, [rows, ...], on the device."""
        storage = self.storage
        return map_observations(
            lambda tensor: tensor[storage.valid].to(self.device), storage.observations
        )

    def on_policy_minibatches(
        self, size: int, *, epochs: int, generator: torch.Generator
    ) -> Iterator[RolloutMinibatch]:
        """Shuffled minibatches of the on-policy rows; in each epoch every row comes once.

        The last minibatch of an epoch holds what is left over and may be short.
        """
        fields = self.storage.flat(self.device)
        wanted = self._on_policy()
        for _ in range(epochs):
            for rows in _shuffled(wanted, size, generator, self.device):
                yield RolloutMinibatch(
                    observations=_take(fields.observations, rows),
                    actions=fields.actions[rows],
                    log_probs=fields.log_probs[rows],
                    values=fields.values[rows],
                    advantages=fields.advantages[rows],
                    returns=fields.returns[rows],
                    action_masks=fields.action_masks[rows]
                    if self._masked[self._selected]
                    else None,
                )

    def replayed_minibatches(
        self, size: int, *, generator: torch.Generator
    ) -> Iterator[BehaviorCloningMinibatch]:
        """Shuffled minibatches of the replayed rows, each row once, the last one maybe short."""
        fields = self.storage.flat(self.device)
        for rows in _shuffled(self._replayed(), size, generator, self.device):
            yield BehaviorCloningMinibatch(
                observations=_take(fields.observations, rows),
                actions=fields.actions[rows],
                action_masks=fields.action_masks[rows] if self._masked[self._selected] else None,
            )

    def _on_policy(self) -> Tensor:
        return self.storage.valid & ~self.storage.replayed

    def _replayed(self) -> Tensor:
        return self.storage.valid & self.storage.replayed


def _take(observations: Observations, rows: Tensor) -> Observations:
    return map_observations(lambda tensor: tensor.index_select(0, rows), observations)


def _shuffled(
    wanted: Tensor, size: int, generator: torch.Generator, device: torch.device
) -> Iterator[Tensor]:
    """The flat indices of the wanted rows [T, N] in random order, `size` at a time, on `device`."""
    rows = wanted.flatten().nonzero().squeeze(1)
    order = torch.randperm(len(rows), generator=generator)
    return iter(rows[order].to(device).split(size) if len(rows) else ())
