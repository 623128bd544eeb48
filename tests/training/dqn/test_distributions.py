"""Updates of categorical and of noisy models."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from oakemu_rl.metrics import names
from tests.training.dqn.batches import batch_of, update
from tests.training.dqn.parts import (
    Parts,
    config_of,
    fill,
    learning_parts,
    noise_of,
    small_model,
    telling_distributions,
)

LEAST = -200.0
LOW, MIDDLE, HIGH = (0.0, LEAST, LEAST), (LEAST, 0.0, LEAST), (LEAST, LEAST, 0.0)
"""All mass at the first, second or third atom."""
EVEN = (0.0, 0.0, 0.0)
SUPPORT: dict[str, Any] = {"atoms": 3, "value_min": 0.0, "value_max": 10.0}


def config(*, double: bool = False) -> Any:
    return config_of(model=SUPPORT, replay={"gamma": 0.5}, loss={"double": double})


def model_of(*logits: tuple[float, ...]) -> Any:
    """Atoms 0, 5 and 10."""
    return telling_distributions(*logits, low=0.0, high=10.0)


def test_plain_updates_choose_by_the_target_and_double_ones_by_the_model() -> None:
    target, online = model_of(HIGH, LOW), model_of(LOW, HIGH)
    for double, wanted in ((False, 1.0 + 0.5 * 10.0), (True, 1.0)):
        made = update(config(double=double), batch_of(), model=online, target=target)
        assert made.targets.tolist() == [pytest.approx(wanted)]


def test_the_mask_of_the_next_state_rules_the_choice() -> None:
    legal = torch.tensor([[False, True, True]])
    target, online = model_of(HIGH, LOW, MIDDLE), model_of(HIGH, MIDDLE, LOW)
    for double, wanted in ((False, 1.0 + 0.5 * 5.0), (True, 1.0)):
        batch = batch_of(next_action_masks=legal)
        made = update(config(double=double), batch, model=online, target=target)
        assert made.targets.tolist() == [pytest.approx(wanted)]


def test_the_loss_is_the_cross_entropy_of_the_projection() -> None:
    # The target 1 + 0.5 * 10 = 6 is shared: 0.8 at 5 and 0.2 at 10. The model is even.
    batch = batch_of(rewards=[[1.0], [5.0]], terminated=[False, True])
    made = update(config(), batch, model=model_of(EVEN, EVEN), target=model_of(HIGH, LOW))
    assert made.errors.tolist() == pytest.approx([math.log(3)] * 2)
    assert made.loss == pytest.approx(math.log(3))
    assert made.targets.tolist() == pytest.approx([6.0, 5.0])
    assert made.chosen_q.tolist() == pytest.approx([5.0, 5.0])
    sure = update(
        config(), batch, model=model_of((0.0, 0.0, LEAST), EVEN), target=model_of(HIGH, LOW)
    )
    wanted = [0.8 * math.log(2) - 0.2 * (LEAST - math.log(2)), math.log(2)]
    assert sure.errors.tolist() == pytest.approx(wanted)


def test_weights_are_of_the_loss_and_errors_stay_the_raw_cross_entropies() -> None:
    batch = batch_of(
        rewards=[[5.0], [5.0]],
        terminated=[True, True],
        probabilities=torch.tensor([0.5, 0.25], dtype=torch.float64),
        smallest_probability=0.25,
    )
    made = update(config(), batch, model=model_of(EVEN, EVEN), target=model_of(HIGH, LOW), beta=1.0)
    assert made.errors.tolist() == pytest.approx([math.log(3)] * 2)
    assert made.loss == pytest.approx(0.75 * math.log(3))


def test_behind_a_true_end_numbers_that_are_none_are_not_looked_at() -> None:
    batch = batch_of(
        terminated=[True],
        next_observations=[math.nan],
        next_action_masks=torch.tensor([[False, False]]),
    )
    for double in (False, True):
        made = update(
            config(double=double), batch, model=model_of(EVEN, EVEN), target=model_of(LOW, LOW)
        )
        assert made.targets.tolist() == [pytest.approx(1.0)]
        assert math.isfinite(made.loss)


def test_rows_outside_the_support_are_counted_and_only_the_first_is_told() -> None:
    options = {"atoms": 3, "value_min": -1e-3, "value_max": 1e-3}
    parts = learning_parts(config_of(model={**options, "hidden_sizes": (8,)}))
    fill(parts)
    for step in range(1, 101):
        assert parts.learner.step(8 + step)
    # Rewards are normal: nearly all of 100 batches of 8 rows are outside.
    assert parts.learner.outside_support > 780
    (event,) = parts.outlets.events
    kind, env_steps, details = event
    assert (kind, env_steps) == ("warning", 9)
    assert "model.value_min -0.001 to model.value_max 0.001" in details["text"]
    assert f"widen it if {names.OUTSIDE_SUPPORT} goes on growing" in details["text"]
    assert parts.outlets.series(names.OUTSIDE_SUPPORT) == [parts.learner.outside_support]


def test_nothing_is_told_where_the_support_holds_all() -> None:
    options = {"atoms": 3, "value_min": -1e3, "value_max": 1e3, "hidden_sizes": (8,)}
    parts = learning_parts(config_of(model=options))
    fill(parts)
    assert parts.learner.step(9)
    assert parts.learner.outside_support == 0
    assert parts.outlets.events == []


def noisy_parts(**options: Any) -> Parts:
    parts = learning_parts(config_of(model={"noisy": True, "hidden_sizes": (8,)}, **options))
    fill(parts)
    return parts


def test_noise_is_drawn_anew_for_each_update_and_apart_for_model_and_target() -> None:
    parts = noisy_parts(optimisation={"target_update_every": 1})
    seen = []
    for step in range(1, 5):
        assert parts.learner.step(8 + step)
        seen += [noise_of(parts.model.model), noise_of(parts.target)]
    for place, noise in enumerate(seen):
        assert bool((noise != 0.0).any())
        assert not any(torch.equal(noise, other) for other in seen[:place])


def test_the_noise_follows_from_the_seed() -> None:
    def first(seed: int) -> Tensor:
        parts = noisy_parts(run={"seed": seed})
        parts.learner.step(9)
        return noise_of(parts.model.model)

    assert torch.equal(first(1), first(1))
    assert not torch.equal(first(1), first(2))


def test_a_plain_model_draws_no_noise() -> None:
    parts = learning_parts(config_of())
    fill(parts)
    before = parts.learner.noise.get_state()
    parts.learner.step(9)
    assert torch.equal(parts.learner.noise.get_state(), before)
    assert not small_model().is_noisy
