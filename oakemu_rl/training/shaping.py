"""Shaping rewards as the learner sees them: the replay keeps what the environment gave.

A shaper of your own is a small class with the method `shape`, put beside the others in a
`RewardShapingPipeline`. The arithmetic is in the core.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import attrs
import torch
from torch import Tensor

from oakemu_rl.config.dqn import ShapingOptions
from oakemu_rl.core.reward_shaping import (
    RewardMoments,
    clipped,
    merge_rewards,
    normalized_rewards,
    novelty_bonuses,
    potential_shaping,
    scaled,
    signs,
)


@attrs.frozen(kw_only=True, eq=False)
class RewardWindows:
    """The rewards of sampled windows, and what a shaper may look at beside them.

    Shapes:
        rewards [B, W], 0 behind a window's length; lengths [B]; terminated [B] bool, whether the
        window's last step ended the episode for good; values [B, W + 1] each, the named values
        before each step and after the last.
    """

    rewards: Tensor
    lengths: Tensor
    terminated: Tensor
    values: Mapping[str, Tensor]
    gamma: float


class RewardShaper(Protocol):
    """One step of the pipeline.

    A shaper that reads named values of the environment lists them in an attribute `value_names`;
    one that keeps statistics also has the methods of `Remembering`.
    """

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]; those given are left as they are."""


@runtime_checkable
class Remembering(Protocol):
    """A shaper with statistics, which a checkpoint keeps."""

    def state(self) -> dict[str, Any]:
        """The statistics as plain data."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up statistics that `state` gave."""


class RewardShapingPipeline:
    """Applies its shapers one after the other to the rewards of a sampled batch."""

    def __init__(self, shapers: Sequence[RewardShaper]) -> None:
        self._shapers = tuple(shapers)

    @property
    def value_names(self) -> tuple[str, ...]:
        """The named values that the shapers read, each once."""
        named = (getattr(shaper, "value_names", ()) for shaper in self._shapers)
        return tuple(dict.fromkeys(name for names in named for name in names))

    def shape(self, windows: RewardWindows) -> Tensor:
        """The shaped rewards [B, W].

        Raises:
            ValueError: a shaper returned another shape.
        """
        for shaper in self._shapers:
            rewards = shaper.shape(windows)
            if rewards.shape != windows.rewards.shape:
                raise ValueError(
                    f"{type(shaper).__name__}.shape: expected rewards of shape "
                    f"{tuple(windows.rewards.shape)}, got {tuple(rewards.shape)}"
                )
            windows = attrs.evolve(windows, rewards=rewards)
        return windows.rewards

    def state(self) -> dict[str, Any]:
        """The statistics of the shapers that keep some, by their place."""
        return {
            str(place): shaper.state()
            for place, shaper in enumerate(self._shapers)
            if isinstance(shaper, Remembering)
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        for place, shaper in enumerate(self._shapers):
            if isinstance(shaper, Remembering) and str(place) in state:
                shaper.restore(state[str(place)])


class Scale:
    """Multiplies rewards by a factor."""

    def __init__(self, factor: float) -> None:
        self._factor = factor

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        return scaled(windows.rewards, factor=self._factor)


class Clip:
    """Cuts rewards off at a bound, above and below."""

    def __init__(self, bound: float) -> None:
        self._bound = bound

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        return clipped(windows.rewards, bound=self._bound)


class Sign:
    """Makes rewards 1, 0 or -1."""

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        return signs(windows.rewards)


class Normalize:
    """Divides rewards by the standard deviation of all that were sampled so far."""

    def __init__(self) -> None:
        self._moments = RewardMoments()

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        steps = torch.arange(windows.rewards.shape[1], device=windows.rewards.device)
        taken = steps < windows.lengths[:, None]
        self._moments = merge_rewards(self._moments, windows.rewards[taken])
        return normalized_rewards(windows.rewards, moments=self._moments)

    def state(self) -> dict[str, Any]:
        """The statistics as plain data."""
        return attrs.asdict(self._moments)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up statistics that `state` gave."""
        self._moments = RewardMoments(**state)


class Potential:
    """Adds the discounted gain of a potential, which leaves the best policy as it is.

    The potential of a state is the weighted sum of its named values.

    Raises:
        ValueError: there are no weights.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        if not weights:
            raise ValueError("weights: a potential needs the weight of one named value at least")
        self._weights = dict(weights)
        self.value_names = tuple(weights)

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        potentials = sum(
            (weight * windows.values[name] for name, weight in self._weights.items()),
            torch.zeros_like(windows.values[self.value_names[0]]),
        )
        return potential_shaping(
            rewards=windows.rewards,
            potentials=potentials,
            lengths=windows.lengths,
            terminated=windows.terminated,
            gamma=windows.gamma,
        )


class Novelty:
    """Adds a bonus to the step into a state that was rarely drawn from the replay before.

    States are told apart by named values alone.

    Raises:
        ValueError: there are no named values.
    """

    def __init__(self, *, weight: float, value_names: Sequence[str]) -> None:
        if not value_names:
            raise ValueError("value_names: novelty needs one named value at least")
        self._weight = weight
        self.value_names = tuple(value_names)
        self._visits: dict[tuple[float, ...], int] = {}

    def shape(self, windows: RewardWindows) -> Tensor:
        """The new rewards [B, W]."""
        after = torch.stack([windows.values[name][:, 1:] for name in self.value_names], dim=-1)
        counts = torch.zeros(windows.rewards.shape, dtype=torch.int64)
        for row, length in enumerate(windows.lengths.tolist()):
            for step, state in enumerate(after[row, :length].tolist()):
                key = tuple(state)
                self._visits[key] = self._visits.get(key, 0) + 1
                counts[row, step] = self._visits[key]
        counts = counts.to(windows.rewards.device)
        bonuses = novelty_bonuses(counts=counts, weight=self._weight)
        return windows.rewards + bonuses.where(counts > 0, 0.0)

    def state(self) -> dict[str, Any]:
        """The visits as plain data."""
        return {"visits": [[list(key), count] for key, count in self._visits.items()]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up visits that `state` gave."""
        self._visits = {tuple(key): count for key, count in state["visits"]}


def reward_shaping(
    options: ShapingOptions, *, others: Sequence[RewardShaper] = ()
) -> RewardShapingPipeline | None:
    """The pipeline that the options ask for, in the order of the options, with `others` behind;
    None where there is nothing to do."""
    shapers: list[RewardShaper] = []
    if options.scale != 1.0:
        shapers.append(Scale(options.scale))
    if options.clip is not None:
        shapers.append(Clip(options.clip))
    if options.sign:
        shapers.append(Sign())
    if options.normalize:
        shapers.append(Normalize())
    if options.potential:
        shapers.append(Potential(options.potential))
    if options.novelty_weight > 0.0:
        shapers.append(Novelty(weight=options.novelty_weight, value_names=options.novelty_values))
    shapers.extend(others)
    return RewardShapingPipeline(shapers) if shapers else None
