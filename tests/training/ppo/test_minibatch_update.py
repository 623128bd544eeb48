"""One minibatch update: the contract of the updater, and known faults of others."""

import copy
import inspect
import math
from typing import Any

import attrs
import pytest
import torch

from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.minibatches import RolloutMinibatch, SkipCause
from oakemu_rl.training.ppo.minibatch_update import PPOMinibatchUpdater
from tests.training.minibatches import (
    ALL_WEIGHTS,
    EVERY_PART,
    NOTHING,
    PPO_WEIGHTS,
    bits_of,
    changed,
    demonstrated_rows,
    rollout_rows,
    updater_of,
)
from tests.training.parts import configuration, same_bits, small_model, telling_model


def test_the_constructor_takes_its_parts_in_the_order_of_the_contract() -> None:
    parameters = list(inspect.signature(PPOMinibatchUpdater).parameters.values())
    names = [parameter.name for parameter in parameters]
    assert names == ["config", "optimizer", "device", "scaler", "action_mask"]
    assert {parameter.kind for parameter in parameters} == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
    assert parameters[-1].default is None
    methods = {
        "update_minibatch": ["self", "ppo_minibatch", "bc_minibatch", "model", "weights"],
        "update_value_head": ["self", "ppo_minibatch", "model"],
    }
    for name, expected in methods.items():
        assert list(inspect.signature(getattr(PPOMinibatchUpdater, name)).parameters) == expected


def test_nothing_to_learn_from_is_refused() -> None:
    model = small_model()
    with pytest.raises(ValueError, match="ppo_minibatch and bc_minibatch are both None"):
        updater_of(model).update_minibatch(None, None, model, ALL_WEIGHTS)


def test_an_on_policy_minibatch_moves_every_part_and_measures_what_ppo_has() -> None:
    model = small_model()
    before = bits_of(model)
    metrics = updater_of(model).update_minibatch(rollout_rows(model), None, model, PPO_WEIGHTS)
    assert changed(before, bits_of(model)) == EVERY_PART
    assert not metrics.skipped
    assert 0.0 < metrics.entropy <= math.log(3)
    assert metrics.value_loss > 0.0
    assert (metrics.behaviour_cloning_loss, metrics.behaviour_cloning_accuracy) == (0.0, 0.0)
    expected = metrics.policy_loss + 0.5 * metrics.value_loss - 0.01 * metrics.entropy
    assert metrics.total_loss == pytest.approx(expected, rel=1e-5)
    assert all(math.isfinite(float(number)) for number in attrs.astuple(metrics))


def test_demonstrated_rows_alone_are_cloned_and_leave_the_value_head_alone() -> None:
    model = small_model()
    updater, demonstrated = updater_of(model), demonstrated_rows()
    before = bits_of(model)
    first = updater.update_minibatch(None, demonstrated, model, ALL_WEIGHTS)
    assert changed(before, bits_of(model)) == {"trunk", "policy_head"}
    assert first.total_loss == first.behaviour_cloning_loss > 0.0
    assert (first.policy_loss, first.value_loss, first.entropy, first.approx_kl) == (0, 0, 0, 0)
    for _ in range(100):
        last = updater.update_minibatch(None, demonstrated, model, ALL_WEIGHTS)
    assert last.behaviour_cloning_loss < first.behaviour_cloning_loss
    assert last.behaviour_cloning_accuracy == 1.0


def test_both_minibatches_make_one_step_on_the_sum_of_their_losses() -> None:
    model = small_model()
    rollout, demonstrated = rollout_rows(model), demonstrated_rows()
    weights = attrs.evolve(PPO_WEIGHTS, behaviour_cloning=0.3)
    alone = updater_of(copy.deepcopy(model)).update_minibatch(rollout, None, model, PPO_WEIGHTS)
    model = small_model()
    cloned = updater_of(model).update_minibatch(None, demonstrated, small_model(), ALL_WEIGHTS)
    both = updater_of(model).update_minibatch(rollout, demonstrated, model, weights)
    assert both.total_loss == pytest.approx(
        alone.total_loss + 0.3 * cloned.behaviour_cloning_loss, rel=1e-5
    )
    assert both.policy_loss == pytest.approx(alone.policy_loss)
    assert both.behaviour_cloning_accuracy == cloned.behaviour_cloning_accuracy


def test_without_any_weight_no_step_is_taken() -> None:
    model = small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    updater, rollout = updater_of(model, optimizer=optimizer), rollout_rows(model)
    updater.update_minibatch(rollout, None, model, PPO_WEIGHTS)
    before, moments = bits_of(model), copy.deepcopy(optimizer.state_dict())
    metrics = updater.update_minibatch(rollout, demonstrated_rows(), model, NOTHING)
    assert (metrics.skipped, metrics.skip_cause) == (True, SkipCause.NOTHING_TO_LEARN)
    assert changed(before, bits_of(model)) == set()
    assert same_bits(optimizer.state_dict(), moments)


def test_an_illegal_demonstrated_action_is_refused_and_changes_nothing() -> None:
    model = small_model()
    before = bits_of(model)
    forbidding = updater_of(model, action_mask=torch.tensor([True, False, True]))
    with pytest.raises(ValueError, match=r"actions\[\d+\]: got 1, which is not legal"):
        forbidding.update_minibatch(None, demonstrated_rows(), model, ALL_WEIGHTS)
    assert changed(before, bits_of(model)) == set()


@pytest.mark.parametrize("masked", [False, True])
def test_the_first_minibatch_of_the_first_epoch_sees_the_policy_that_collected_it(
    masked: bool,
) -> None:
    model = small_model()
    rollout = rollout_rows(model, 64, masked=masked)
    metrics = updater_of(model).update_minibatch(rollout, None, model, PPO_WEIGHTS)
    assert metrics.approx_kl == pytest.approx(0.0, abs=1e-9)
    assert metrics.clip_fraction == 0.0
    # Each ratio is 1, so that the loss is minus the mean of advantages of mean 0.
    assert metrics.policy_loss == pytest.approx(0.0, abs=1e-6)


def test_of_two_legal_actions_with_equal_logits_each_has_half_the_probability() -> None:
    model = telling_model()
    mask = torch.tensor([[True, True, False]])
    row = RolloutMinibatch(
        observations=torch.ones(1, 1),
        actions=torch.tensor([0]),
        log_probs=torch.tensor([-0.6931]),
        values=torch.zeros(1),
        advantages=torch.ones(1),
        returns=torch.zeros(1),
    )
    beside = attrs.evolve(row, action_masks=mask)
    in_all_states = updater_of(model, action_mask=mask[0])
    for updater, rows in ((updater_of(model), beside), (in_all_states, row)):
        metrics = updater.update_minibatch(rows, None, copy.deepcopy(model), PPO_WEIGHTS)
        assert -metrics.policy_loss == pytest.approx(1.0, abs=1e-4)
        assert metrics.entropy == pytest.approx(math.log(2), abs=1e-6)
    unmasked = updater_of(model).update_minibatch(row, None, copy.deepcopy(model), PPO_WEIGHTS)
    assert -unmasked.policy_loss == pytest.approx(0.667, abs=1e-3)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.int64])
def test_actions_of_any_integer_type_give_the_same_loss(dtype: torch.dtype) -> None:
    model = small_model()
    rollout, demonstrated = rollout_rows(model), demonstrated_rows()
    losses = []
    for kind in (torch.int64, dtype):
        fresh = copy.deepcopy(model)
        metrics = updater_of(fresh).update_minibatch(
            attrs.evolve(rollout, actions=rollout.actions.to(kind)),
            attrs.evolve(demonstrated, actions=demonstrated.actions.to(kind)),
            fresh,
            ALL_WEIGHTS,
        )
        losses.append(metrics)
    assert losses[0] == losses[1]


# V_old = 0, target 2, clip range 0.2: prediction, loss, gradient of the value.
CLIPPED = [(1.0, 3.24, 0.0), (0.1, 3.61, -3.8), (-1.0, 9.0, -6.0)]


@pytest.mark.parametrize(("prediction", "loss", "gradient"), CLIPPED)
def test_values_are_clipped_about_those_recorded_when_collecting(
    prediction: float, loss: float, gradient: float
) -> None:
    metrics, step = value_step(prediction, configuration(loss={"value_clip_range": 0.2}))
    assert metrics.value_loss == pytest.approx(loss, rel=1e-5)
    assert step == pytest.approx(gradient, rel=1e-5)
    assert metrics.gradient_norm == pytest.approx(abs(gradient), rel=1e-5)


def test_values_are_not_clipped_unless_it_is_asked_for() -> None:
    metrics, step = value_step(1.0, configuration())
    assert metrics.value_loss == pytest.approx(1.0)
    assert step == pytest.approx(-2.0)


def value_step(prediction: float, config: PPOExperimentConfiguration) -> tuple[Any, float]:
    """Metrics, and the gradient by which the value head's bias was moved."""
    model = telling_model()
    with torch.no_grad():
        model.value_head.bias.fill_(prediction)
    bias = model.value_head.bias
    for parameter in model.parameters():
        parameter.requires_grad_(parameter is bias)
    config = attrs.evolve(
        config, optimisation=attrs.evolve(config.optimisation, max_gradient_norm=1e6)
    )
    rows = RolloutMinibatch(
        observations=torch.zeros(1, 1),
        actions=torch.zeros(1, dtype=torch.int64),
        log_probs=torch.zeros(1),
        values=torch.zeros(1),
        advantages=torch.zeros(1),
        returns=torch.full((1,), 2.0),
    )
    updater = updater_of(model, config, optimizer=torch.optim.SGD([bias], lr=1.0))
    weights = attrs.evolve(NOTHING, value=1.0)
    metrics = updater.update_minibatch(rows, None, model, weights)
    return metrics, prediction - float(bias.detach())


def test_one_row_and_equal_advantages_leave_every_weight_finite() -> None:
    model = small_model()
    updater = updater_of(model)
    rollout = rollout_rows(model, 3)
    one = RolloutMinibatch(
        **{
            field.name: getattr(rollout, field.name)[:1]
            for field in attrs.fields(RolloutMinibatch)
            if field.name != "action_masks"
        }
    )
    equal = attrs.evolve(rollout, advantages=torch.full((3,), 5.0))
    for rows, loss in ((one, -float(one.advantages)), (equal, 0.0)):
        metrics = updater.update_minibatch(rows, None, copy.deepcopy(model), PPO_WEIGHTS)
        assert metrics.policy_loss == pytest.approx(loss, abs=1e-6)
        metrics = updater.update_minibatch(rows, None, model, PPO_WEIGHTS)
        assert not metrics.skipped
    assert all(bool(tensor.isfinite().all()) for tensor in bits_of(model).values())


def test_advantages_are_normalised_only_if_that_is_configured() -> None:
    model = small_model()
    rollout = attrs.evolve(rollout_rows(model), advantages=torch.full((16,), 3.0))
    as_given = configuration(optimisation={"normalize_advantages": False})
    for config, loss in ((configuration(), 0.0), (as_given, -3.0)):
        fresh = copy.deepcopy(model)
        metrics = updater_of(fresh, config).update_minibatch(rollout, None, fresh, PPO_WEIGHTS)
        assert metrics.policy_loss == pytest.approx(loss, abs=1e-6)


def test_the_gradient_norm_is_that_before_clipping() -> None:
    model, norms, moved = small_model(), [], []
    for limit in (1e6, 1e-3):
        fresh = copy.deepcopy(model)
        config = configuration(optimisation={"max_gradient_norm": limit})
        updater = updater_of(fresh, config, optimizer=torch.optim.SGD(fresh.parameters(), lr=1.0))
        metrics = updater.update_minibatch(rollout_rows(model), None, fresh, PPO_WEIGHTS)
        norms.append(metrics.gradient_norm)
        pairs = zip(fresh.parameters(), model.parameters(), strict=True)
        squares = sum(float((one - other).square().sum().detach()) for one, other in pairs)
        moved.append(math.sqrt(squares))
    assert norms[0] == norms[1] > 1e-3
    assert moved == pytest.approx([norms[0], 1e-3], rel=1e-3)
