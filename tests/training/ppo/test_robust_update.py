"""Updates that are not finite, updates of the value head alone, and half precision."""

import copy
import math
from typing import Any

import attrs
import pytest
import torch

from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.models.ppo import PPOModel
from tests.training.minibatches import (
    EVERY_PART,
    NO_SCALER,
    PPO_WEIGHTS,
    bits_of,
    changed,
    rollout_rows,
    updater_of,
)
from tests.training.parts import configuration, same_bits, small_model


@pytest.mark.parametrize("where", ["loss", "gradient"])
def test_what_is_not_finite_leaves_weights_and_moments_and_the_next_one_trains(
    where: str,
) -> None:
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    updater, rollout = updater_of(model, optimizer=optimizer), rollout_rows(model)
    updater.update_minibatch(rollout, None, model, PPO_WEIGHTS)
    before, moments = bits_of(model), copy.deepcopy(optimizer.state_dict())
    bad, handle = rollout, None
    if where == "loss":
        bad = attrs.evolve(
            rollout, returns=rollout.returns.index_fill(0, torch.tensor([3]), math.nan)
        )
    else:
        handle = model.policy_head.bias.register_hook(lambda grad: grad * math.nan)
    metrics = updater.update_minibatch(bad, None, model, PPO_WEIGHTS)
    assert metrics.skipped
    assert metrics.skip_cause.name == f"NON_FINITE_{where.upper()}"
    assert changed(before, bits_of(model)) == set()
    assert same_bits(optimizer.state_dict(), moments)
    if handle is not None:
        handle.remove()
    assert not updater.update_minibatch(rollout, None, model, PPO_WEIGHTS).skipped
    assert changed(before, bits_of(model)) == EVERY_PART


PRECISIONS = [
    ("float32", NO_SCALER),
    ("bfloat16", NO_SCALER),
    ("float16", torch.amp.GradScaler("cpu", enabled=True, init_scale=1024.0)),
]


@pytest.mark.parametrize(("precision", "scaler"), PRECISIONS)
@pytest.mark.parametrize("kind", ["adam", "fused adam", "sgd"])
def test_an_update_of_the_value_head_leaves_all_else_bit_for_bit(
    precision: str, scaler: torch.amp.GradScaler, kind: str
) -> None:
    model = small_model()
    optimizer: torch.optim.Optimizer = (
        torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9, weight_decay=0.1)
        if kind == "sgd"
        else torch.optim.AdamW(model.parameters(), lr=1e-2, fused=kind == "fused adam")
    )
    config = configuration(optimisation={"precision": precision})
    updater = updater_of(model, config, optimizer=optimizer, scaler=scaler)
    rollout = rollout_rows(model)
    for _ in range(3):
        assert not updater.update_minibatch(rollout, None, model, PPO_WEIGHTS).skipped
    before, moments = bits_of(model), moments_by_part(model, optimizer)
    metrics = updater.update_value_head(rollout, model)
    assert not metrics.skipped
    assert changed(before, bits_of(model)) == {"value_head"}
    after = moments_by_part(model, optimizer)
    for name in moments:
        assert same_bits(after[name], moments[name]) == (name != "value_head")
    assert (metrics.policy_loss, metrics.entropy, metrics.approx_kl) == (0.0, 0.0, 0.0)
    assert (metrics.clip_fraction, metrics.behaviour_cloning_loss) == (0.0, 0.0)
    assert metrics.total_loss == metrics.value_loss > 0.0
    assert metrics.gradient_norm > 0.0


def moments_by_part(
    model: PPOModel, optimizer: torch.optim.Optimizer
) -> dict[str, list[dict[str, Any]]]:
    """The optimizer's state, copied, by the part of the model that it is about."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, parameter in model.named_parameters():
        state = copy.deepcopy(optimizer.state[parameter])
        found.setdefault(name.split(".")[0], []).append(state)
    return found


def test_updates_of_the_value_head_learn_the_returns() -> None:
    model = small_model()
    updater, rollout = updater_of(model), rollout_rows(model)
    rollout = attrs.evolve(rollout, returns=3.0 + 2.0 * rollout.values)
    losses = [updater.update_value_head(rollout, model).value_loss for _ in range(200)]
    assert losses[-1] < 0.01 * losses[0]
    assert updater.update_value_head(rollout, model).explained_variance > 0.9


def test_half_precision_with_a_scaler_trains_in_float32_weights() -> None:
    model = small_model()
    scaler = torch.amp.GradScaler("cpu", enabled=True)
    config = configuration(optimisation={"precision": "float16", "max_gradient_norm": 100.0})
    updater = updater_of(model, config, scaler=scaler)
    rollout = rollout_rows(model)
    copied = copy.deepcopy(model)
    exact = updater_of(copied).update_minibatch(rollout, None, copied, PPO_WEIGHTS)
    metrics = updater.update_minibatch(rollout, None, model, PPO_WEIGHTS)
    assert metrics.total_loss == pytest.approx(exact.total_loss, abs=0.02)
    assert metrics.gradient_norm == pytest.approx(exact.gradient_norm, rel=0.05)
    assert {tensor.dtype for tensor in bits_of(model).values()} == {torch.float32}


def test_a_back_off_of_the_scaler_is_told_apart() -> None:
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", enabled=True, init_scale=2.0**120)
    updater = updater_of(model, optimizer=optimizer, scaler=scaler)
    before = bits_of(model)
    rollout = rollout_rows(model)
    far = attrs.evolve(rollout, returns=1e4 * rollout.returns)
    metrics = updater.update_minibatch(far, None, model, PPO_WEIGHTS)
    assert (metrics.skipped, metrics.skip_cause) == (True, SkipCause.SCALER_BACKOFF)
    assert scaler.get_scale() == 2.0**119
    assert changed(before, bits_of(model)) == set()
    assert optimizer.state_dict()["state"] == {}
