"""Wrong versions of windows, targets and losses of action values."""

from typing import Any

import torch
from torch import Tensor

from oakemu_rl import core
from property_tests.laws import mutant_of


@mutant_of(core.n_step_returns)
def short_windows_discounted_as_full_ones(**arguments: Any) -> core.NStep:
    right = core.n_step_returns(**arguments)
    full = right.discounts.new_full((), arguments["gamma"] ** arguments["n"])
    discounts = torch.where(right.discounts == 0.0, right.discounts, full)
    return core.NStep(returns=right.returns, discounts=discounts, lengths=right.lengths)


@mutant_of(core.n_step_returns)
def window_runs_across_a_truncation(**arguments: Any) -> core.NStep:
    none = torch.zeros_like(arguments["truncated"])
    return core.n_step_returns(**{**arguments, "truncated": none})


@mutant_of(core.n_step_returns)
def truncation_taken_for_death_in_windows(**arguments: Any) -> core.NStep:
    ended = arguments["terminated"] | arguments["truncated"]
    return core.n_step_returns(**{**arguments, "terminated": ended})


@mutant_of(core.n_step_returns)
def bootstrap_where_both_flags_end_a_window(**arguments: Any) -> core.NStep:
    terminated = arguments["terminated"] & ~arguments["truncated"]
    return core.n_step_returns(**{**arguments, "terminated": terminated})


@mutant_of(core.n_step_returns)
def rewards_summed_without_discount(**arguments: Any) -> core.NStep:
    right = core.n_step_returns(**arguments)
    plain = core.n_step_returns(**{**arguments, "gamma": 1.0})
    return core.NStep(returns=plain.returns, discounts=right.discounts, lengths=right.lengths)


@mutant_of(core.n_step_returns)
def flags_end_the_window_one_step_later(**arguments: Any) -> core.NStep:
    late = {
        name: torch.cat([torch.zeros_like(arguments[name][:1]), arguments[name][:-1]])
        for name in ("terminated", "truncated")
    }
    return core.n_step_returns(**{**arguments, **late})


@mutant_of(core.n_step_returns)
def returns_written_over_the_rewards(**arguments: Any) -> core.NStep:
    right = core.n_step_returns(**arguments)
    with torch.no_grad():
        arguments["rewards"].copy_(right.returns)
    return right


@mutant_of(core.n_step_returns)
def returns_that_carry_gradient(**arguments: Any) -> core.NStep:
    right = core.n_step_returns(**arguments)
    linked = right.returns + 0.0 * torch.nan_to_num(arguments["rewards"])
    return core.NStep(returns=linked, discounts=right.discounts, lengths=right.lengths)


@mutant_of(core.window_returns)
def widest_window_for_all(**arguments: Any) -> core.NStep:
    width = arguments["rewards"].shape[1]
    full = torch.full_like(arguments["lengths"], width)
    return core.window_returns(**{**arguments, "lengths": full})


@mutant_of(core.window_returns)
def discount_of_one_step(**arguments: Any) -> core.NStep:
    right = core.window_returns(**arguments)
    once = right.discounts.new_full((), arguments["gamma"])
    discounts = once.expand_as(right.discounts).masked_fill(arguments["terminated"], 0.0)
    return core.NStep(returns=right.returns, discounts=discounts, lengths=right.lengths)


@mutant_of(core.window_returns)
def dead_windows_keep_their_bootstrap(**arguments: Any) -> core.NStep:
    alive = torch.zeros_like(arguments["terminated"])
    return core.window_returns(**{**arguments, "terminated": alive})


@mutant_of(core.window_returns)
def rewards_behind_multiplied_by_zero(**arguments: Any) -> core.NStep:
    right = core.window_returns(**arguments)
    rewards, gamma = arguments["rewards"], arguments["gamma"]
    steps = torch.arange(rewards.shape[1])
    powers = torch.tensor([gamma ** int(step) for step in steps])
    returns = (rewards * (steps < right.lengths.unsqueeze(1)) * powers).sum(dim=1)
    return core.NStep(returns=returns, discounts=right.discounts, lengths=right.lengths)


@mutant_of(core.window_returns)
def windows_that_carry_gradient(**arguments: Any) -> core.NStep:
    right = core.window_returns(**arguments)
    linked = right.returns + 0.0 * torch.nan_to_num(arguments["rewards"]).sum(dim=1)
    return core.NStep(returns=linked, discounts=right.discounts, lengths=right.lengths)


@mutant_of(core.target_q_values)
def target_without_a_mask(**arguments: Any) -> Tensor:
    return core.target_q_values(**{**arguments, "next_mask": None})


@mutant_of(core.target_q_values)
def bootstrap_times_zero(**arguments: Any) -> Tensor:
    core.target_q_values(**arguments)
    chooser = arguments["next_q_online"]
    values = arguments["next_q_target"].float()
    chooser = values if chooser is None else chooser.float()
    if arguments["next_mask"] is not None:
        chooser = chooser.masked_fill(~arguments["next_mask"], -torch.inf)
    best = values.gather(1, chooser.argmax(dim=1, keepdim=True)).squeeze(1)
    return (arguments["rewards"] + arguments["discounts"] * best).detach()


@mutant_of(core.target_q_values)
def illegal_values_made_zero(**arguments: Any) -> Tensor:
    core.target_q_values(**arguments)
    mask = arguments["next_mask"]
    changed = {
        name: None if arguments[name] is None else arguments[name].float().masked_fill(~mask, 0.0)
        for name in ("next_q_target", "next_q_online")
        if mask is not None
    }
    return core.target_q_values(**{**arguments, **changed, "next_mask": None})


@mutant_of(core.target_q_values)
def never_double(**arguments: Any) -> Tensor:
    return core.target_q_values(**{**arguments, "next_q_online": None})


@mutant_of(core.target_q_values)
def networks_exchanged(**arguments: Any) -> Tensor:
    online = arguments["next_q_online"]
    if online is None:
        return core.target_q_values(**arguments)
    changed = {"next_q_target": online, "next_q_online": arguments["next_q_target"]}
    return core.target_q_values(**{**arguments, **changed})


@mutant_of(core.target_q_values)
def online_network_values_its_own_choice(**arguments: Any) -> Tensor:
    online = arguments["next_q_online"]
    changed = {} if online is None else {"next_q_target": online}
    return core.target_q_values(**{**arguments, **changed})


@mutant_of(core.target_q_values)
def empty_masks_allow_everything(**arguments: Any) -> Tensor:
    mask = arguments["next_mask"]
    if mask is not None:
        mask = mask | ~mask.any(dim=-1, keepdim=True)
    return core.target_q_values(**{**arguments, "next_mask": mask})


@mutant_of(core.target_q_values)
def target_that_carries_gradient(**arguments: Any) -> Tensor:
    return core.target_q_values(**arguments) + 0.0 * arguments["rewards"]


@mutant_of(core.target_q_values)
def target_in_the_dtype_of_the_values(**arguments: Any) -> Tensor:
    return core.target_q_values(**arguments).to(arguments["next_q_target"].dtype)


@mutant_of(core.next_actions)
def next_action_without_a_mask(**arguments: Any) -> Tensor:
    return core.next_actions(**{**arguments, "next_mask": None})


@mutant_of(core.next_actions)
def worst_next_action(**arguments: Any) -> Tensor:
    return core.next_actions(**{**arguments, "next_q": -arguments["next_q"]})


@mutant_of(core.next_actions)
def stuck_rows_pass(**arguments: Any) -> Tensor:
    return core.next_actions(**{**arguments, "discounts": 0.0 * arguments["discounts"]})


@mutant_of(core.td_errors)
def target_minus_prediction(**arguments: Any) -> Tensor:
    return -core.td_errors(**arguments)


@mutant_of(core.td_errors)
def targets_receive_gradient(*, q_values: Tensor, actions: Tensor, targets: Tensor) -> Tensor:
    right = core.td_errors(q_values=q_values, actions=actions, targets=targets)
    return right - targets + targets.detach()


@mutant_of(core.td_errors)
def error_of_the_best_action(**arguments: Any) -> Tensor:
    best = arguments["q_values"].argmax(dim=1)
    return core.td_errors(**{**arguments, "actions": best})


@mutant_of(core.td_errors)
def errors_of_half_width(**arguments: Any) -> Tensor:
    return core.td_errors(**arguments).half()


@mutant_of(core.huber_loss)
def huber_as_if_delta_were_1(errors: Tensor, **_delta: float) -> Tensor:
    return core.huber_loss(errors, delta=1.0)


@mutant_of(core.huber_loss)
def huber_divided_by_delta(errors: Tensor, *, delta: float) -> Tensor:
    return core.huber_loss(errors, delta=delta) / delta


@mutant_of(core.huber_loss)
def errors_cut_off(errors: Tensor, *, delta: float) -> Tensor:
    return core.squared_loss(errors.clamp(-delta, delta))


@mutant_of(core.squared_loss)
def whole_square(errors: Tensor) -> Tensor:
    return errors.square()


@mutant_of(core.squared_loss)
def square_of_the_batch(errors: Tensor) -> Tensor:
    return 0.5 * errors.square().mean().expand_as(errors)


@mutant_of(core.weighted_mean)
def divided_by_the_weights(losses: Tensor, *, weights: Tensor | None = None) -> Tensor:
    right = core.weighted_mean(losses, weights=weights)
    if weights is None:
        return right
    return right / weights.detach().float().mean().clamp_min(1e-6)


@mutant_of(core.weighted_mean)
def weights_left_out(losses: Tensor, *, weights: Tensor | None = None) -> Tensor:
    del weights
    return core.weighted_mean(losses)


@mutant_of(core.weighted_mean)
def weights_receive_gradient(losses: Tensor, *, weights: Tensor | None = None) -> Tensor:
    return losses.mean() if weights is None else (losses * weights.float()).mean()


@mutant_of(core.weighted_mean)
def sum_over_rows(losses: Tensor, *, weights: Tensor | None = None) -> Tensor:
    return len(losses) * core.weighted_mean(losses, weights=weights)
