"""No number that is not finite passes an optimizer step, and what passes is clipped unscaled."""

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.models.flat import FlatAdam
from oakemu_rl.training.guarded_step import GuardedStep, StepOutcome
from tests.training.parts import same_bits

NO_SCALER = torch.amp.GradScaler("cpu", enabled=False)


def guarded(
    optimizer: torch.optim.Optimizer,
    *,
    scaler: torch.amp.GradScaler = NO_SCALER,
    max_gradient_norm: float = 1.0,
) -> GuardedStep:
    return GuardedStep(optimizer=optimizer, scaler=scaler, max_gradient_norm=max_gradient_norm)


def descend(step: GuardedStep, weight: nn.Parameter, gradient: list[float]) -> StepOutcome:
    """Descend a finite loss whose gradient is what is given, NaN included."""
    wanted = torch.tensor(gradient)
    loss = (weight * wanted.nan_to_num(0.0)).sum()
    poison = torch.where(wanted.isnan(), torch.nan, 0.0)
    handle = weight.register_hook(lambda scaled: scaled + poison)
    outcome = step.take(loss, loss_value=loss.item())
    handle.remove()
    return outcome


def state_of(optimizer: torch.optim.Optimizer, weight: Tensor) -> list[object]:
    """The weight and every moment, copied."""
    return [weight.detach().clone(), copy.deepcopy(optimizer.state_dict()["state"])]


@pytest.mark.parametrize("fused", [False, True])
def test_a_gradient_that_is_not_finite_touches_neither_weights_nor_moments(fused: bool) -> None:
    weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
    optimizer = torch.optim.Adam([weight], lr=0.1, fused=fused)
    step = guarded(optimizer)
    assert descend(step, weight, [1.0, 3.0, 4.0]).cause is SkipCause.NONE
    before = state_of(optimizer, weight)
    for bad in ([math.nan, 3.0, 4.0], [math.inf, 3.0, 4.0]):
        outcome = descend(step, weight, bad)
        assert outcome.cause is SkipCause.NON_FINITE_GRADIENT
        assert not math.isfinite(outcome.gradient_norm)
        assert same_bits(state_of(optimizer, weight), before)
    assert descend(step, weight, [1.0, 3.0, 4.0]).cause is SkipCause.NONE
    assert not same_bits(weight.detach(), before[0])
    assert bool(weight.isfinite().all())


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_not_finite_never_reaches_backward(value: float) -> None:
    weight = nn.Parameter(torch.tensor([1.0]))
    reached = []
    weight.register_hook(lambda _: reached.append(True))
    outcome = guarded(torch.optim.SGD([weight], lr=1.0)).take(weight.sum(), loss_value=value)
    assert outcome == StepOutcome(gradient_norm=0.0, cause=SkipCause.NON_FINITE_LOSS)
    assert reached == []
    assert weight.tolist() == [1.0]


def test_a_loss_without_gradient_leaves_the_step_out() -> None:
    weight = nn.Parameter(torch.tensor([1.0]))
    optimizer = torch.optim.Adam([weight], lr=0.1)
    step = guarded(optimizer)
    descend(step, weight, [1.0])
    before = state_of(optimizer, weight)
    outcome = step.take(torch.zeros(()), loss_value=0.0)
    assert outcome == StepOutcome(gradient_norm=0.0, cause=SkipCause.NOTHING_TO_LEARN)
    assert same_bits(state_of(optimizer, weight), before)


@pytest.mark.parametrize(
    ("gradient", "norm", "applied"),
    [([3.0, 4.0], 5.0, [0.6, 0.8]), ([0.3, 0.4], 0.5, [0.3, 0.4]), ([0.0, 0.0], 0.0, [0.0, 0.0])],
)
@pytest.mark.parametrize("scale", [None, 65536.0])
def test_the_norm_is_that_before_clipping_and_of_no_scale(
    gradient: list[float], norm: float, applied: list[float], scale: float | None
) -> None:
    weight = nn.Parameter(torch.zeros(2))
    scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, enabled=scale is not None)
    outcome = descend(guarded(torch.optim.SGD([weight], lr=1.0), scaler=scaler), weight, gradient)
    assert outcome.gradient_norm == pytest.approx(norm)
    assert (-weight.detach()).tolist() == pytest.approx(applied, rel=1e-5)


@pytest.mark.parametrize("fused", [False, True])
def test_an_overflow_lowers_the_scale_and_changes_nothing_else(fused: bool) -> None:
    weight = nn.Parameter(torch.zeros(2))
    optimizer = torch.optim.Adam([weight], lr=0.1, fused=fused)
    scaler = torch.amp.GradScaler("cpu", enabled=True)
    step = guarded(optimizer, scaler=scaler)
    assert scaler.get_scale() == 65536.0
    # Finite by itself, and beyond float32 once it is multiplied by the scale.
    outcome = descend(step, weight, [1e34, 1.0])
    assert outcome.cause is SkipCause.SCALER_BACKOFF
    assert scaler.get_scale() == 32768.0
    assert weight.tolist() == [0.0, 0.0]
    assert optimizer.state_dict()["state"] == {}
    assert descend(step, weight, [3.0, 4.0]).cause is SkipCause.NONE
    assert scaler.get_scale() == 32768.0
    assert bool((weight < 0).all())


def test_once_the_scale_is_1_an_overflow_is_the_updates_fault() -> None:
    weight = nn.Parameter(torch.zeros(2))
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    step = guarded(torch.optim.SGD([weight], lr=1.0), scaler=scaler)
    causes = [descend(step, weight, [math.nan, 1.0]).cause for _ in range(3)]
    assert causes == [
        SkipCause.SCALER_BACKOFF,
        SkipCause.NON_FINITE_GRADIENT,
        SkipCause.NON_FINITE_GRADIENT,
    ]
    assert scaler.get_scale() == 1.0
    assert weight.tolist() == [0.0, 0.0]


def test_a_norm_that_overflows_although_its_numbers_are_finite_is_the_updates_fault() -> None:
    weight = nn.Parameter(torch.zeros(2))
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
    step = guarded(torch.optim.SGD([weight], lr=1.0), scaler=scaler)
    outcome = descend(step, weight, [1e37, 1e37])
    assert outcome.cause is SkipCause.NON_FINITE_GRADIENT
    assert weight.tolist() == [0.0, 0.0]


def test_only_what_has_a_gradient_moves() -> None:
    weight, other = nn.Parameter(torch.ones(1)), nn.Parameter(torch.ones(1))
    optimizer: Any = torch.optim.SGD([weight, other], lr=1.0, momentum=0.9)
    step = guarded(optimizer, max_gradient_norm=10.0)
    (weight + other).sum().backward()
    optimizer.step()
    loss = 2 * weight.sum()
    assert step.take(loss, loss_value=loss.item()).gradient_norm == pytest.approx(2.0)
    assert (weight.tolist(), other.tolist()) == ([pytest.approx(-2.9)], [0.0])


class Pair(nn.Module):
    """Two parameters, which lie in one tensor with a gap between them under `FlatAdam`."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Parameter(torch.zeros(1))
        self.other = nn.Parameter(torch.zeros(2))

    def loss(self, *gradient: float) -> Tensor:
        return self.one.sum() * gradient[0] + (self.other * torch.tensor(gradient[1:])).sum()


def flat(**options: Any) -> tuple[Pair, FlatAdam, GuardedStep]:
    pair = Pair()
    optimizer = FlatAdam(pair, lr=0.1, eps=1e-8)
    return pair, optimizer, guarded(optimizer, **options)


def take(step: GuardedStep, loss: Tensor) -> StepOutcome:
    return step.take(loss, loss_value=loss.item())


@pytest.mark.parametrize("scale", [None, 65536.0])
def test_a_flat_gradient_has_the_norm_of_all_and_is_clipped_as_one(scale: float | None) -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=scale or 1.0, enabled=scale is not None)
    pair, _, step = flat(scaler=scaler)
    assert take(step, pair.loss(2.0, 3.0, 6.0)).gradient_norm == pytest.approx(7.0)
    clipped = torch.cat([pair.one.grad, pair.other.grad])  # type: ignore[list-item]
    torch.testing.assert_close(clipped, torch.tensor([2.0, 3.0, 6.0]) / 7.0, rtol=1e-5, atol=0.0)
    # The first step of Adam goes by its rate, whatever the size of the gradient.
    assert [*pair.one.tolist(), *pair.other.tolist()] == pytest.approx([-0.1] * 3)
    assert take(step, pair.loss(0.1, 0.2, 0.2)).gradient_norm == pytest.approx(0.3)
    assert pair.other.grad is not None
    assert pair.other.grad.tolist() == pytest.approx([0.2, 0.2])


def test_steps_on_a_flat_gradient_are_those_on_single_ones() -> None:
    pair, _, step = flat()
    single = Pair()
    other = guarded(torch.optim.Adam(single.parameters(), lr=0.1, eps=1e-8, fused=True))
    for gradient in ([3.0, -4.0, 12.0], [0.1, 0.2, -0.3], [0.0, 5.0, 0.0]):
        one = take(step, pair.loss(*gradient))
        assert one.gradient_norm == pytest.approx(take(other, single.loss(*gradient)).gradient_norm)
    for flattened, plain in zip(pair.parameters(), single.parameters(), strict=True):
        torch.testing.assert_close(flattened, plain, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_flat_gradient_that_is_not_finite_touches_neither_weights_nor_moments(bad: float) -> None:
    pair, optimizer, step = flat()
    assert take(step, pair.loss(1.0, 1.0, 1.0)).cause is SkipCause.NONE
    before = state_of(optimizer, optimizer.flat)
    handle = pair.one.register_hook(lambda gradient: gradient * bad)
    outcome = take(step, pair.loss(1.0, 1.0, 1.0))
    assert outcome.cause is SkipCause.NON_FINITE_GRADIENT
    assert not math.isfinite(outcome.gradient_norm)
    assert same_bits(state_of(optimizer, optimizer.flat), before)
    handle.remove()
    assert take(step, pair.loss(1.0, 1.0, 1.0)).cause is SkipCause.NONE
    assert bool(optimizer.flat.isfinite().all())
    assert not same_bits(state_of(optimizer, optimizer.flat), before)


def test_an_overflow_of_a_flat_gradient_lowers_the_scale_and_changes_nothing_else() -> None:
    pair, optimizer, step = flat(scaler=torch.amp.GradScaler("cpu", enabled=True))
    assert take(step, pair.loss(1e34, 1.0, 1.0)).cause is SkipCause.SCALER_BACKOFF
    assert optimizer.state_dict()["state"] == {}
    assert bool((optimizer.flat == 0.0).all())
    assert take(step, pair.loss(3.0, 4.0, 0.0)).gradient_norm == pytest.approx(5.0)
    assert pair.one.item() == pytest.approx(-0.1)
