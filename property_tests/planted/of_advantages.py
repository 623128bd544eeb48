"""Wrong versions of advantage estimation."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


def _sweep(
    rewards: Tensor,
    values: Tensor,
    bootstraps: Tensor,
    passes: Tensor,
    gamma: float,
    gae_lambda: float,
) -> core.Advantages:
    """The plain recursion, from bootstraps that are ready and factors by which A_{t+1} passes."""
    later, rows = torch.zeros_like(rewards[0]), []
    for t in reversed(range(len(rewards))):
        later = (
            rewards[t] + gamma * bootstraps[t] - values[t] + gamma * gae_lambda * passes[t] * later
        )
        rows.append(later)
    advantages = torch.stack(rows[::-1])
    return core.Advantages(advantages=advantages, returns=advantages + values)


def _selected(arguments: Mapping[str, Any]) -> Tensor:
    return torch.where(arguments["terminated"], 0.0, arguments["next_values"])


@mutant_of(core.generalized_advantages)
def flags_one_step_late(**arguments: Any) -> core.Advantages:
    late = {
        name: torch.cat([torch.zeros_like(arguments[name][:1]), arguments[name][:-1]])
        for name in ("terminated", "truncated")
    }
    return core.generalized_advantages(**{**arguments, **late})


@mutant_of(core.generalized_advantages)
def flags_one_step_early(**arguments: Any) -> core.Advantages:
    early = {
        name: torch.cat([arguments[name][1:], torch.zeros_like(arguments[name][:1])])
        for name in ("terminated", "truncated")
    }
    return core.generalized_advantages(**{**arguments, **early})


@mutant_of(core.generalized_advantages)
def bootstrap_multiplied_by_zero(**arguments: Any) -> core.Advantages:
    ended = arguments["terminated"] | arguments["truncated"]
    return _sweep(
        arguments["rewards"],
        arguments["values"],
        arguments["next_values"] * ~arguments["terminated"],
        (~ended).float(),
        arguments["gamma"],
        arguments["gae_lambda"],
    )


@mutant_of(core.generalized_advantages)
def truncation_taken_for_death(**arguments: Any) -> core.Advantages:
    ended = arguments["terminated"] | arguments["truncated"]
    return core.generalized_advantages(**{**arguments, "terminated": ended})


@mutant_of(core.generalized_advantages)
def bootstrap_where_both_flags_are_set(**arguments: Any) -> core.Advantages:
    terminated = arguments["terminated"] & ~arguments["truncated"]
    return core.generalized_advantages(**{**arguments, "terminated": terminated})


@mutant_of(core.generalized_advantages)
def next_episode_flows_into_a_truncated_one(**arguments: Any) -> core.Advantages:
    return _sweep(
        arguments["rewards"],
        arguments["values"],
        _selected(arguments),
        (~arguments["terminated"]).float(),
        arguments["gamma"],
        arguments["gae_lambda"],
    )


@mutant_of(core.generalized_advantages)
def bootstrap_from_the_next_row(**arguments: Any) -> core.Advantages:
    values = arguments["values"]
    stale = torch.cat([values[1:], arguments["next_values"][-1:]])
    return core.generalized_advantages(**{**arguments, "next_values": stale})


@mutant_of(core.generalized_advantages)
def reset_rows_taken_for_steps(**arguments: Any) -> core.Advantages:
    return core.generalized_advantages(**{**arguments, "valid": None})


@mutant_of(core.generalized_advantages)
def lambda_without_gamma(**arguments: Any) -> core.Advantages:
    ended = arguments["terminated"] | arguments["truncated"]
    bootstraps = arguments["gamma"] * _selected(arguments)
    return _sweep(
        arguments["rewards"],
        arguments["values"],
        bootstraps,
        (~ended).float(),
        1.0,
        arguments["gae_lambda"],
    )


@mutant_of(core.generalized_advantages)
def returns_are_the_advantages(**arguments: Any) -> core.Advantages:
    right = core.generalized_advantages(**arguments)
    return core.Advantages(advantages=right.advantages, returns=right.advantages.clone())


@mutant_of(core.generalized_advantages)
def advantages_in_float64(**arguments: Any) -> core.Advantages:
    right = core.generalized_advantages(**arguments)
    return core.Advantages(advantages=right.advantages.double(), returns=right.returns)


@mutant_of(core.generalized_advantages)
def advantages_that_carry_gradient(**arguments: Any) -> core.Advantages:
    right = core.generalized_advantages(**arguments)
    linked = right.returns + 0.0 * torch.nan_to_num(arguments["values"])
    return core.Advantages(advantages=right.advantages, returns=linked)


@mutant_of(core.generalized_advantages)
def rewards_overwritten(**arguments: Any) -> core.Advantages:
    right = core.generalized_advantages(**arguments)
    with torch.no_grad():
        arguments["rewards"].add_(1.0)
    return right


@mutant_of(core.normalize_advantages)
def spread_of_one_advantage(advantages: Tensor) -> Tensor:
    if len(advantages) > 1:
        return core.normalize_advantages(advantages)
    return advantages * torch.nan


@mutant_of(core.normalize_advantages)
def spread_over_n(advantages: Tensor) -> Tensor:
    if len(advantages) == 1:
        return advantages
    deviation = advantages.std(correction=0)
    return ((advantages - advantages.mean()) / (deviation + 1e-8)).detach()


@mutant_of(core.normalize_advantages)
def equal_advantages_enlarged(advantages: Tensor) -> Tensor:
    if len(advantages) == 1:
        return advantages
    centred = advantages - advantages.mean()
    scaled = (centred / (advantages.std() + 1e-8)).detach()
    return torch.where(advantages.max() == advantages.min(), 1.0, scaled)


@mutant_of(core.normalize_advantages)
def scaled_but_not_centred(advantages: Tensor) -> Tensor:
    if len(advantages) == 1 or advantages.max() == advantages.min():
        return core.normalize_advantages(advantages)
    return (advantages / (advantages.std() + 1e-8)).detach()
