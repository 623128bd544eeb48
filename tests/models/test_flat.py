"""Flat parameters: the same numbers as parameter by parameter, and views that stay views."""

import copy
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from oakemu_rl.checkpoints.state import load_optimizer_state, optimizer_state
from oakemu_rl.config.dqn import DQNModelOptions
from oakemu_rl.core.minibatches import SkipCause
from oakemu_rl.core.observations import ActionSpec, TensorSpec
from oakemu_rl.models.dqn import DQNModel, build_dqn_model
from oakemu_rl.models.flat import FlatAdam, FlatParameters
from oakemu_rl.training.guarded_step import GuardedStep, StepOutcome

VECTOR = TensorSpec(shape=(4,), dtype="float32")
IMAGE = TensorSpec(shape=(2, 36, 36), dtype="uint8")
LR, EPSILON = 1e-3, 1e-8
SPECS = pytest.mark.parametrize("spec", [VECTOR, IMAGE], ids=["mlp", "nature"])


def build(spec: TensorSpec = VECTOR, *, seed: int = 0, **options: Any) -> DQNModel:
    return build_dqn_model(
        observation_spec=spec,
        action_spec=ActionSpec(names=("a", "b", "c")),
        options=DQNModelOptions(feature_size=24, channel_multiplier=0.25, **options),
        generator=torch.Generator().manual_seed(seed),
    )


def loss_of(model: DQNModel, step: int = 0) -> Tensor:
    """A loss on rows that depend on the step."""
    generator = torch.Generator().manual_seed(step)
    (spec,) = (encoder.spec for encoder in model.trunk.encoders)
    if spec.is_image:
        rows = torch.randint(0, 256, (5, *spec.shape), generator=generator, dtype=torch.uint8)
    else:
        rows = torch.randn(5, *spec.shape, generator=generator)
    return F.mse_loss(model(rows), 3.0 * torch.randn(5, 3, generator=generator))


def adam(model: nn.Module) -> torch.optim.Adam:
    return torch.optim.Adam(model.parameters(), lr=LR, eps=EPSILON, fused=True)


def flat_adam(model: nn.Module) -> FlatAdam:
    return FlatAdam(model, lr=LR, eps=EPSILON)


def train(
    model: DQNModel, optimizer: torch.optim.Optimizer, *, steps: int, first: int = 0
) -> list[StepOutcome]:
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    guarded = GuardedStep(optimizer=optimizer, scaler=scaler, max_gradient_norm=0.5)
    outcomes = []
    for step in range(first, first + steps):
        loss = loss_of(model, step)
        outcomes.append(guarded.take(loss, loss_value=loss.item()))
    return outcomes


def same_weights(model: nn.Module, other: nn.Module, *, within: float = 0.0) -> None:
    weights, others = model.state_dict(), other.state_dict()
    assert weights.keys() == others.keys()
    for name, weight in weights.items():
        torch.testing.assert_close(weight, others[name], atol=within, rtol=0.0, msg=name)


@SPECS
@pytest.mark.parametrize("options", [{}, {"dueling": True, "noisy": True, "atoms": 5}], ids=str)
def test_steps_are_those_of_adam_over_the_single_parameters(
    spec: TensorSpec, options: dict[str, Any]
) -> None:
    plain, flat = build(spec, **options), build(spec, **options)
    for model in (plain, flat):
        model.resample_noise(torch.Generator().manual_seed(1))
    expected = train(plain, adam(plain), steps=20)
    outcomes = train(flat, flat_adam(flat), steps=20)
    same_weights(flat, plain, within=1e-6)
    assert any(outcome.gradient_norm > 0.5 for outcome in outcomes)
    for outcome, other in zip(outcomes, expected, strict=True):
        assert outcome.cause is SkipCause.NONE
        assert outcome.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-5)


@SPECS
def test_flattening_changes_no_weight_output_or_stride(spec: TensorSpec) -> None:
    plain, flat = build(spec), build(spec)
    identities = [id(parameter) for parameter in flat.parameters()]
    FlatParameters(flat)
    same_weights(flat, plain)
    assert torch.equal(loss_of(flat), loss_of(plain))
    assert [id(parameter) for parameter in flat.parameters()] == identities
    for parameter, other in zip(flat.parameters(), plain.parameters(), strict=True):
        assert parameter.stride() == other.stride()
        if parameter.dim() == 4:
            assert parameter.is_contiguous(memory_format=torch.channels_last)


@SPECS
def test_each_weight_and_gradient_lies_in_the_flat_tensor_once(spec: TensorSpec) -> None:
    model = build(spec)
    optimizer = flat_adam(model)
    loss_of(model).backward()
    gradient = optimizer.flat.grad
    assert gradient is not None
    with torch.no_grad():
        for parameter in model.parameters():
            assert parameter.grad is not None
            parameter.fill_(1.0)
            parameter.grad.fill_(2.0)
    count = sum(parameter.numel() for parameter in model.parameters())
    assert optimizer.parameters.data.sum().item() == count
    assert gradient.sum().item() == 2 * count
    assert optimizer.flat.data_ptr() == optimizer.parameters.data.data_ptr()


@pytest.mark.parametrize("set_to_none", [True, False])
def test_clearing_the_gradient_fills_it_with_zeros_where_it_lies(set_to_none: bool) -> None:
    model = build()
    optimizer = flat_adam(model)
    loss_of(model).backward()
    gradients = [parameter.grad for parameter in model.parameters()]
    assert optimizer.flat.grad is not None
    assert bool(optimizer.flat.grad.any())
    optimizer.zero_grad(set_to_none=set_to_none)
    assert not optimizer.flat.grad.any()
    assert all(p.grad is g for p, g in zip(model.parameters(), gradients, strict=True))


def test_a_gradient_that_is_not_finite_leaves_all_as_it_was() -> None:
    model = build()
    optimizer = flat_adam(model)
    train(model, optimizer, steps=2)
    before = optimizer.parameters.data.clone()
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    guarded = GuardedStep(optimizer=optimizer, scaler=scaler, max_gradient_norm=0.5)
    outcome = guarded.take(loss_of(model) * float("inf"), loss_value=1.0)
    assert outcome.cause is SkipCause.NON_FINITE_GRADIENT
    assert torch.equal(optimizer.parameters.data, before)


def test_a_scaler_that_is_switched_on_unscales_the_flat_gradient() -> None:
    plain, scaled = build(), build()
    train(plain, flat_adam(plain), steps=3)
    guarded = GuardedStep(
        optimizer=flat_adam(scaled),
        scaler=torch.amp.GradScaler("cpu", init_scale=8.0),
        max_gradient_norm=0.5,
    )
    for step in range(3):
        loss = loss_of(scaled, step)
        guarded.take(loss, loss_value=loss.item())
    same_weights(scaled, plain, within=1e-6)


def test_a_loaded_state_is_trained_on() -> None:
    plain, flat = build(seed=1), build()
    optimizer = flat_adam(flat)
    flat.load_state_dict(plain.state_dict())
    same_weights(flat, plain)
    optimizer.parameters.check()
    train(plain, adam(plain), steps=3)
    train(flat, optimizer, steps=3)
    same_weights(flat, plain, within=1e-6)


def test_a_saved_optimizer_goes_on_as_if_never_stopped() -> None:
    unbroken, first, second = build(), build(), build(seed=1)
    train(unbroken, flat_adam(unbroken), steps=6)
    optimizer, other = flat_adam(first), flat_adam(second)
    train(first, optimizer, steps=3)
    second.load_state_dict(first.state_dict())
    tensors, data = optimizer_state(optimizer)
    load_optimizer_state(other, tensors, data)
    train(second, other, steps=3, first=3)
    same_weights(second, unbroken)


@SPECS
def test_a_copy_takes_all_and_a_mix_the_share_of_the_source(spec: TensorSpec) -> None:
    online, target = build(spec, seed=1), build(spec, seed=2)
    source, copied = FlatParameters(online), FlatParameters(target)
    expected = {
        name: (0.75 * weight + 0.25 * online.state_dict()[name])
        for name, weight in target.state_dict().items()
    }
    copied.mix_from(source, rate=0.25)
    for name, weight in target.state_dict().items():
        torch.testing.assert_close(weight, expected[name], atol=1e-6, rtol=0.0)
    copied.copy_from(source)
    same_weights(target, online)


def test_saved_buffers_are_copied_along_and_noise_is_not() -> None:
    online = build(noisy=True, normalize_observations=True)
    target = build(noisy=True, normalize_observations=True)
    online.update_statistics(torch.randn(9, 4, generator=torch.Generator().manual_seed(0)))
    online.resample_noise(torch.Generator().manual_seed(1))
    source, other = FlatParameters(online), FlatParameters(target)
    for take in (lambda: other.mix_from(source, rate=0.5), lambda: other.copy_from(source)):
        take()
        assert torch.equal(
            dict(target.named_buffers())["trunk.encoders.0.normalizer.mean"],
            dict(online.named_buffers())["trunk.encoders.0.normalizer.mean"],
        )
        assert isinstance(target.action_head.input_noise, Tensor)
        assert not target.action_head.input_noise.any()


def test_a_deep_copy_shares_nothing_with_the_flat_module() -> None:
    model = build()
    optimizer = flat_adam(model)
    other = copy.deepcopy(model)
    before = {name: weight.clone() for name, weight in other.state_dict().items()}
    train(model, optimizer, steps=1)
    assert all(torch.equal(before[name], weight) for name, weight in other.state_dict().items())


def test_a_parameter_that_was_moved_away_is_told() -> None:
    model = build()
    optimizer = flat_adam(model)
    loss_of(model).backward()
    parameter = next(model.parameters())
    parameter.data = parameter.data.clone()
    with pytest.raises(RuntimeError, match="does not lie in the flat tensor any more; move"):
        optimizer.step()


def test_gradients_that_the_module_cleared_are_told() -> None:
    model = build()
    optimizer = flat_adam(model)
    model.zero_grad()
    loss_of(model).backward()
    with pytest.raises(RuntimeError, match="clear gradients with the optimizer's zero_grad"):
        optimizer.step()


@pytest.mark.parametrize(
    ("module", "found"),
    [
        (nn.Linear(2, 2).double(), "got torch.float64 on cpu"),
        (nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).half()), "torch.float16 on cpu, torch"),
        (nn.ReLU(), "got none"),
    ],
    ids=["float64", "mixed", "none"],
)
def test_parameters_of_other_kinds_are_refused(module: nn.Module, found: str) -> None:
    with pytest.raises(ValueError, match=rf"^module: expected parameters .*{found}"):
        FlatParameters(module)
