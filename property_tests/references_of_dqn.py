"""Slow versions of the core functions of DQN: plain Python over float64, one number at a time."""

import math
from collections.abc import Sequence

from torch import Tensor

Window = tuple[float, float, int]
"""Return, discount of the bootstrap, and length."""


def window(rewards: Sequence[float], terminated: bool, gamma: float) -> Window:
    """The window of these steps, the last of which terminated or did not."""
    total = math.fsum(gamma**i * reward for i, reward in enumerate(rewards))
    return total, 0.0 if terminated else gamma ** len(rewards), len(rewards)


def windows(
    *, rewards: Tensor, terminated: Tensor, truncated: Tensor, gamma: float, n: int
) -> list[list[Window]]:
    """Walk on from every step until its window ends."""
    steps, environments = rewards.shape
    rows = []
    for t in range(steps):
        row = []
        for e in range(environments):
            last = t
            while (
                last + 1 < steps
                and last + 1 - t < n
                and not (terminated[last, e] or truncated[last, e])
            ):
                last += 1
            taken = rewards[t : last + 1, e].tolist()
            row.append(window(taken, bool(terminated[last, e]), gamma))
        rows.append(row)
    return rows


def best_legal(values: Sequence[float], legal: Sequence[bool]) -> int:
    """The first legal action of greatest value."""
    return max((a for a, is_legal in enumerate(legal) if is_legal), key=lambda a: values[a])


def targets(
    *,
    rewards: Tensor,
    discounts: Tensor,
    next_q_target: Tensor,
    next_q_online: Tensor | None,
    legal: list[list[bool]],
) -> list[float]:
    """Row by row, not looking beyond a true end."""
    chooser = next_q_target if next_q_online is None else next_q_online
    result = []
    for row, (reward, discount) in enumerate(
        zip(rewards.tolist(), discounts.tolist(), strict=True)
    ):
        target = reward
        if discount != 0.0:
            action = best_legal(chooser[row].tolist(), legal[row])
            target += discount * float(next_q_target[row, action])
        result.append(target)
    return result


def projection(
    *, rewards: Tensor, discounts: Tensor, next_probabilities: Tensor, support: Tensor
) -> list[list[float]]:
    """Each atom is moved and shared by its two neighbours; at a true end one atom holds all."""
    atoms = support.tolist()
    low, high, count = atoms[0], atoms[-1], len(atoms)
    gap = (high - low) / (count - 1)
    result = []
    for reward, discount, row in zip(
        rewards.tolist(), discounts.tolist(), next_probabilities.tolist(), strict=True
    ):
        masses = [0.0] * count
        moving = [(0.0, 1.0)] if discount == 0.0 else list(zip(atoms, row, strict=True))
        for atom, mass in moving:
            position = (min(max(reward + discount * atom, low), high) - low) / gap
            left = min(int(position), count - 2)
            masses[left] += mass * (left + 1 - position)
            masses[left + 1] += mass * (position - left)
        result.append(masses)
    return result


def mean(masses: Sequence[float], support: Tensor) -> float:
    """The mean of a distribution over the support."""
    return math.fsum(mass * atom for mass, atom in zip(masses, support.tolist(), strict=True))


def huber(error: float, delta: float) -> float:
    """Quadratic up to delta, linear beyond."""
    size = abs(error)
    return 0.5 * size**2 if size <= delta else delta * (size - 0.5 * delta)


def shaped(
    *, rewards: Sequence[float], potentials: Sequence[float], terminated: bool, gamma: float
) -> list[float]:
    """The rewards of one window of exactly these steps, with the gain of the potential."""
    phi = [*potentials[:-1], 0.0 if terminated else potentials[-1]]
    return [reward + gamma * phi[i + 1] - phi[i] for i, reward in enumerate(rewards)]
