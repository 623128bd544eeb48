"""Wrong versions of exploring and of waiting for each other."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from oakemu_rl.core import exploration, throttle
from property_tests.laws import mutant_of


@mutant_of(core.epsilon_greedy_actions)
def explored_without_a_mask(*, mask: Tensor | None = None, **arguments: Any) -> Tensor:
    core.check_masks(mask)
    return core.epsilon_greedy_actions(**arguments)


@mutant_of(core.epsilon_greedy_actions)
def illegal_values_multiplied(*, mask: Tensor | None = None, **arguments: Any) -> Tensor:
    core.check_masks(mask)
    if mask is not None:
        arguments["q_values"] = arguments["q_values"] * mask
    return core.epsilon_greedy_actions(**arguments)


@mutant_of(core.epsilon_greedy_actions)
def legal_action_of_value_minus_infinity_given_up(
    *, q_values: Tensor, mask: Tensor | None = None, **arguments: Any
) -> Tensor:
    right = core.epsilon_greedy_actions(q_values=q_values, mask=mask, **arguments)
    if mask is None or arguments["epsilon"] > 0.0:
        return right
    return q_values.float().masked_fill(~mask, -torch.inf).argmax(dim=1)


@mutant_of(core.epsilon_greedy_actions)
def one_chance_for_all_rows(**arguments: Any) -> Tensor:
    generator = arguments["generator"]
    explores = bool(torch.rand(1, generator=generator) < arguments["epsilon"])
    return core.epsilon_greedy_actions(**{**arguments, "epsilon": float(explores)})


@mutant_of(core.epsilon_greedy_actions)
def random_numbers_only_where_needed(**arguments: Any) -> Tensor:
    if arguments["epsilon"] == 0.0:
        arguments["generator"] = torch.Generator()
    return core.epsilon_greedy_actions(**arguments)


@mutant_of(core.epsilon_greedy_actions)
def always_greedy(**arguments: Any) -> Tensor:
    return core.epsilon_greedy_actions(**{**arguments, "epsilon": 0.0})


@mutant_of(core.epsilon_greedy_actions)
def random_from_the_global_generator(**arguments: Any) -> Tensor:
    seed = int(torch.randint(2**31, (1,)))
    changed = {**arguments, "generator": torch.Generator().manual_seed(seed)}
    core.epsilon_greedy_actions(**arguments)
    return core.epsilon_greedy_actions(**changed)


@mutant_of(core.epsilon_greedy_actions)
def explores_too_often(**arguments: Any) -> Tensor:
    raised = min(1.0, 1.3 * arguments["epsilon"])
    return core.epsilon_greedy_actions(**{**arguments, "epsilon": raised})


@mutant_of(core.epsilon_greedy_actions)
def stuck_environment_passes(*, mask: Tensor | None = None, **arguments: Any) -> Tensor:
    if mask is not None:
        mask = mask | ~mask.any(dim=-1, keepdim=True)
    return core.epsilon_greedy_actions(mask=mask, **arguments)


@mutant_of(exploration.epsilon_greedy_choices)
def chosen_among_all_actions(*, legal: object = None, **arguments: Any) -> list[int]:
    del legal
    return exploration.epsilon_greedy_choices(**arguments)


@mutant_of(exploration.epsilon_greedy_choices)
def chance_drawn_last(*, draws: list[list[float]], **arguments: Any) -> list[int]:
    turned = [[*row[1:], row[0]] for row in draws]
    return exploration.epsilon_greedy_choices(draws=turned, **arguments)


@mutant_of(exploration.epsilon_greedy_choices)
def values_asked_for_in_any_case(*, q_values: Callable[[], Any], **arguments: Any) -> list[int]:
    values = q_values()
    return exploration.epsilon_greedy_choices(q_values=lambda: values, **arguments)


@mutant_of(exploration.legal_actions)
def numbers_of_illegal_actions(mask: Tensor) -> list[list[int]]:
    exploration.legal_actions(mask)
    return exploration.legal_actions(~mask | mask.all(dim=1, keepdim=True))


@mutant_of(exploration.legal_actions)
def numbers_of_no_action_in_a_stuck_row(mask: Tensor) -> list[list[int]]:
    return [[action for action, fits in enumerate(row) if fits] for row in mask.tolist()]


@mutant_of(core.updates_due)
def due_from_the_warm_up_on(**arguments: Any) -> int:
    return core.updates_due(**arguments) + (arguments["env_steps"] >= arguments["warm_up_steps"])


@mutant_of(core.updates_due)
def due_by_all_steps(**arguments: Any) -> int:
    due = core.updates_due(**{**arguments, "warm_up_steps": 0})
    return due if arguments["env_steps"] > arguments["warm_up_steps"] else 0


@mutant_of(core.updates_due)
def updates_per_step_taken_for_steps_per_update(**arguments: Any) -> int:
    rate = 1.0 / arguments["steps_per_update"]
    return core.updates_due(**{**arguments, "steps_per_update": rate})


@mutant_of(core.updates_due)
def negative_before_the_warm_up(
    *, env_steps: int, warm_up_steps: int, steps_per_update: float
) -> int:
    return int((env_steps - warm_up_steps) // steps_per_update)


@mutant_of(core.may_learn)
def one_update_too_many(**arguments: Any) -> bool:
    return core.may_learn(**{**arguments, "updates": arguments["updates"] - 1})


@mutant_of(core.may_learn)
def learns_from_less_than_a_batch(**arguments: Any) -> bool:
    return core.may_learn(**{**arguments, "available": arguments["batch_size"]})


@mutant_of(core.may_learn)
def waits_for_more_than_a_batch(**arguments: Any) -> bool:
    return core.may_learn(**{**arguments, "available": arguments["available"] - 1})


@mutant_of(core.may_act)
def lag_one_too_small(**arguments: Any) -> bool:
    lag = arguments["max_lag"]
    return core.may_act(**{**arguments, "max_lag": max(0, lag - 1)})


@mutant_of(core.may_act)
def both_wait_for_a_batch(**arguments: Any) -> bool:
    due = throttle.updates_due(
        env_steps=arguments["env_steps"],
        warm_up_steps=arguments["warm_up_steps"],
        steps_per_update=arguments["steps_per_update"],
    )
    return due - arguments["updates"] <= arguments["max_lag"]


@mutant_of(core.may_act)
def never_waits(**arguments: Any) -> bool:
    return core.may_act(**{**arguments, "available": 0})
