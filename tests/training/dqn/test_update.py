"""One update: targets of known values, the loss that is descended, and what is told of it."""

import copy
import math
from typing import Any

import pytest
import torch

from oakemu_rl.core.masks import NoLegalActionError
from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.training.dqn.update import HOST_FIELDS, on_device
from tests.training.dqn.batches import batch_of, update, updater_of
from tests.training.dqn.parts import bits_of, config_of, same_weights, small_model, telling_model
from tests.training.parts import same_bits

META = torch.device("meta")
NEXT_TARGET, NEXT_ONLINE = (1.0, 9.0, 3.0), (2.0, 9.0, 1.0)
LEGAL = torch.tensor([[True, False, True]])


def targets(
    *, double: bool, gamma: float = 0.9, action_mask: torch.Tensor | None = None, **fields: Any
) -> list[float]:
    """Those of these rows, where the next values are `NEXT_TARGET` and `NEXT_ONLINE` times x."""
    config = config_of(loss={"double": double}, replay={"gamma": gamma})
    model, target = telling_model(*NEXT_ONLINE), telling_model(*NEXT_TARGET)
    made = update(config, batch_of(**fields), model=model, target=target, action_mask=action_mask)
    return [round(value, 5) for value in made.targets.tolist()]


def test_the_mask_of_the_next_state_rules_what_is_bootstrapped_from() -> None:
    assert targets(double=False) == [9.1]
    assert targets(double=False, next_action_masks=LEGAL) == [3.7]
    assert targets(double=True) == [9.1]
    assert targets(double=True, next_action_masks=LEGAL) == [1.9]


def test_the_mask_of_the_run_goes_together_with_that_of_the_state() -> None:
    assert targets(double=False, action_mask=torch.tensor([True, False, True])) == [3.7]
    first_two = torch.tensor([True, True, False])
    assert targets(double=False, action_mask=first_two, next_action_masks=LEGAL) == [1.9]


@pytest.mark.parametrize("double", [False, True])
def test_behind_a_true_end_neither_masks_nor_numbers_are_looked_at(double: bool) -> None:
    rows: dict[str, Any] = {"rewards": [[1.0], [1.0]], "terminated": [True, False]}
    masks = torch.tensor([[False, False, False], [True, False, True]])
    found = targets(
        double=double, next_action_masks=masks, next_observations=[math.nan, 1.0], **rows
    )
    assert found == [1.0, 1.9 if double else 3.7]
    with pytest.raises(NoLegalActionError, match=r"next_mask\[1\]: allows none of 3 actions"):
        targets(double=double, next_action_masks=~masks & False, **rows)


def test_windows_are_discounted_by_the_steps_they_really_have() -> None:
    # From the first step, from the last one before a cut, and up to a true end.
    found = targets(
        double=False,
        rewards=[[1.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]],
        lengths=[3, 1, 2],
        terminated=[False, False, True],
    )
    assert found == [pytest.approx(2.71 + 0.729 * 9), pytest.approx(9.1), 1.9]


def test_the_duelling_mean_is_over_legal_actions_in_both_states() -> None:
    config = config_of(loss={"double": False}, replay={"gamma": 0.9})
    model, target = (small_model(seed=seed, dueling=True) for seed in (1, 2))
    now, then = torch.tensor([[False, True, True]]), torch.tensor([[True, True, False]])
    batch = batch_of(actions=[1], action_masks=now, next_action_masks=then, next_observations=[0.5])
    with torch.no_grad():
        q_now = model(torch.ones(1, 1), now)[0, 1]
        q_then = target(torch.full((1, 1), 0.5), then)[0, :2].max()
    made = update(config, batch, model=model, target=target)
    assert float(made.chosen_q) == pytest.approx(float(q_now), rel=1e-5)
    assert float(made.targets) == pytest.approx(1.0 + 0.9 * float(q_then), rel=1e-5)


def test_the_loss_is_weighted_and_the_errors_are_not() -> None:
    config = config_of(loss={"kind": "huber"}, replay={"gamma": 0.9})
    batch = batch_of(
        rewards=[[3.5], [1.5]],
        terminated=[True, True],
        probabilities=torch.tensor([0.5, 0.25], dtype=torch.float64),
        smallest_probability=0.25,
    )
    model = telling_model(0.5, 0.5, 0.5)
    made = update(config, batch, model=model, target=copy.deepcopy(model), beta=1.0)
    assert made.errors.tolist() == [-3.0, -1.0]
    assert made.weights is not None
    assert made.weights.tolist() == [0.5, 1.0]
    # The Huber losses of 3 and 1 are 2.5 and 0.5.
    assert made.loss == pytest.approx((0.5 * 2.5 + 1.0 * 0.5) / 2)
    assert update(
        config, batch, model=telling_model(0.5, 0.5, 0.5), target=model, beta=0.0
    ).loss == (pytest.approx((2.5 + 0.5) / 2))
    squared = config_of(loss={"kind": "mse"})
    made = update(squared, batch, model=telling_model(0.5, 0.5, 0.5), target=model, beta=1.0)
    assert made.loss == pytest.approx((0.5 * 4.5 + 1.0 * 0.5) / 2)
    assert made.errors.tolist() == [-3.0, -1.0]
    wide = config_of(loss={"kind": "huber", "huber_delta": 2.0})
    made = update(wide, batch, model=telling_model(0.5, 0.5, 0.5), target=model, beta=0.0)
    assert made.loss == pytest.approx((2 * (3 - 1) + 0.5) / 2)


def test_the_model_moves_to_the_targets_and_the_target_model_stays() -> None:
    config = config_of()
    model, target = small_model(seed=1), small_model(seed=2)
    held, batch = bits_of(target), batch_of(rewards=[[2.0]], terminated=[True])
    updater = updater_of(config, model)
    losses = [
        updater.update(
            batch, rewards=batch.rewards, model=model, target_model=target, beta=0.0
        ).loss
        for _ in range(300)
    ]
    assert losses[-1] < 0.01 * losses[0]
    assert same_bits(bits_of(target), held)
    assert all(parameter.grad is None for parameter in target.parameters())


def test_the_batch_is_left_as_it_was() -> None:
    batch = batch_of(rewards=[[1.0, 2.0]], next_action_masks=LEGAL, action_masks=LEGAL)
    before = copy.deepcopy(batch)
    update(config_of(), batch, model=small_model(seed=1), target=small_model(seed=2))
    for name in ("observations", "rewards", "lengths", "next_action_masks", "next_observations"):
        assert torch.equal(getattr(batch, name), getattr(before, name)), name


def test_what_is_told_are_plain_numbers_of_the_rows() -> None:
    model = telling_model(0.5, 0.5, 0.5)
    batch = batch_of(rewards=[[3.5], [1.5]], terminated=[True, True])
    made = update(config_of(), batch, model=model, target=model, rewards=2 * batch.rewards)
    told = made.metrics()
    assert (told.mean_q, told.target_mean) == (0.5, 5.0)
    assert (told.td_error_mean, told.td_error_max) == (4.5, 6.5)
    assert (told.raw_return_mean, told.shaped_return_mean) == (2.5, 5.0)
    assert (told.weight_mean, told.outside_support) == (1.0, 0)
    assert (told.skipped, told.skip_cause) == (False, SkipCause.NONE)
    assert told.gradient_norm > 0.0


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize("atoms", [1, 5])
def test_half_precision_trains_float32_weights_as_full_precision_nearly_does(
    precision: str, atoms: int
) -> None:
    batch = batch_of(rewards=[[0.5], [-1.0]], observations=[0.3, -0.7], terminated=[False, True])
    norms = []
    for name in ("float32", precision):
        model, target = (small_model(seed=seed, atoms=atoms) for seed in (1, 2))
        before = copy.deepcopy(model)
        scaler = torch.amp.GradScaler("cpu", enabled=name == "float16", init_scale=1024.0)
        updater = updater_of(config_of(optimisation={"precision": name}), model, scaler=scaler)
        made = updater.update(
            batch, rewards=batch.rewards, model=model, target_model=target, beta=0.0
        )
        assert made.cause is SkipCause.NONE
        assert {made.targets.dtype, made.errors.dtype} == {torch.float32}
        assert not same_weights(model, before)
        assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}
        norms.append((made.loss, made.gradient_norm))
    assert norms[1] == pytest.approx(norms[0], rel=0.05)


def test_only_what_goes_back_to_the_buffer_stays_in_the_hosts_memory() -> None:
    batch = batch_of(
        action_masks=LEGAL,
        next_action_masks=LEGAL,
        values={"score": torch.zeros(1, 2)},
        probabilities=torch.ones(1, dtype=torch.float64),
        smallest_probability=1.0,
    )
    moved = on_device(batch, META)
    for name in HOST_FIELDS:
        assert getattr(moved, name) is getattr(batch, name)
    for name in ("observations", "actions", "rewards", "lengths", "terminated", "action_masks"):
        assert getattr(moved, name).device == META
    assert moved.values["score"].device == META
    assert (moved.size, moved.smallest_probability) == (1, 1.0)
    assert on_device(batch, torch.device("cpu")) is batch
