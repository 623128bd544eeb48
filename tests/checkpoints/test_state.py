"""Modules, optimizers, scalers and generators as tensors and plain data."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.checkpoints.state import (
    copies,
    generator_state,
    load_generator_state,
    load_module_state,
    load_optimizer_state,
    load_scaler_state,
    module_state,
    optimizer_state,
    scaler_state,
)
from oakemu_rl.core.errors import CheckpointError

Make = Callable[[list[nn.Parameter]], torch.optim.Optimizer]

OPTIMIZERS: dict[str, Make] = {
    "adam": lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-5),
    "fused adam": lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-5, fused=True),
    "amsgrad": lambda p: torch.optim.AdamW(p, lr=1e-3, amsgrad=True),
    "tensor rate": lambda p: torch.optim.Adam(p, lr=torch.tensor(1e-3)),
    "momentum": lambda p: torch.optim.SGD(p, lr=1e-2, momentum=0.9),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=1e-3, centered=True),
    "two groups": lambda p: torch.optim.Adam(
        [{"params": p[:2], "lr": 1e-2}, {"params": p[2:], "betas": (0.5, 0.9)}], lr=1e-3
    ),
}


def network(seed: int) -> nn.Module:
    module = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)
    )
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) / 4)
    return module.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def step(module: nn.Module, optimizer: torch.optim.Optimizer, seed: int) -> None:
    inputs = torch.randn(8, 3, 4, 4, generator=torch.Generator().manual_seed(seed))
    optimizer.zero_grad()
    module(inputs).square().mean().backward()
    optimizer.step()


def through_a_file(data: dict[str, Any]) -> dict[str, Any]:
    return from_json(to_json(data, place="state"), source="state.json")


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_training_goes_on_bit_for_bit(kind: str) -> None:
    make = OPTIMIZERS[kind]
    one, other = network(1), network(2)
    own, fresh = make(list(one.parameters())), make(list(other.parameters()))
    for number in range(3):
        step(one, own, number)
    tensors, data = optimizer_state(own)
    # Another layout in memory, as a file gives it back.
    kept = {name: tensor.contiguous().clone() for name, tensor in tensors.items()}
    load_module_state(other, {name: t.contiguous() for name, t in module_state(one).items()})
    load_optimizer_state(fresh, kept, through_a_file(data))
    for number in range(3, 6):
        step(one, own, number)
        step(other, fresh, number)
    for name, value in module_state(one).items():
        assert torch.equal(value, module_state(other)[name]), name
    assert fresh.param_groups[0].keys() == own.param_groups[0].keys()
    for group, own_group in zip(fresh.param_groups, own.param_groups, strict=True):
        plain = {name: value for name, value in own_group.items() if name != "params"}
        assert {name: group[name] for name in plain} == plain
        assert [type(group[name]) for name in plain] == [type(value) for value in plain.values()]


def test_a_loaded_state_is_the_optimizers_own() -> None:
    module = network(1)
    optimizer = OPTIMIZERS["fused adam"](list(module.parameters()))
    step(module, optimizer, 0)
    tensors, data = optimizer_state(optimizer)
    kept = {name: tensor.clone() for name, tensor in tensors.items()}
    before = copy.deepcopy((kept, data))
    load_optimizer_state(optimizer, kept, data)
    step(module, optimizer, 1)
    assert data == before[1]
    assert all(torch.equal(tensor, before[0][name]) for name, tensor in kept.items())


def test_an_optimizer_that_has_not_stepped_comes_back_too() -> None:
    optimizer = OPTIMIZERS["adam"](list(network(1).parameters()))
    tensors, data = optimizer_state(optimizer)
    assert tensors == {}
    load_optimizer_state(optimizer, tensors, through_a_file(data))


@pytest.mark.parametrize(
    "spoil", ["other optimizer", "fewer parameters", "other groups", "no data"]
)
def test_the_state_of_another_optimizer_is_refused(spoil: str) -> None:
    parameters = list(network(1).parameters())
    optimizer = OPTIMIZERS["adam"](parameters)
    sources = {
        "other optimizer": OPTIMIZERS["momentum"](parameters),
        "fewer parameters": OPTIMIZERS["adam"](parameters[:-1]),
        "other groups": OPTIMIZERS["two groups"](parameters),
    }
    tensors, data = optimizer_state(sources.get(spoil, optimizer))
    with pytest.raises(CheckpointError, match="does not fit this optimizer"):
        load_optimizer_state(optimizer, tensors, {} if spoil == "no data" else data)


def test_a_tensor_of_no_parameter_is_refused() -> None:
    optimizer = OPTIMIZERS["adam"](list(network(1).parameters()))
    _, data = optimizer_state(optimizer)
    for name in ("state.99.exp_avg", "state.0.exp_avg", "nonsense"):
        with pytest.raises(CheckpointError, match="does not fit this optimizer"):
            load_optimizer_state(optimizer, {name: torch.ones(1)}, data)


def _without(name: str) -> Callable[[dict[str, Tensor]], None]:
    def spoil(tensors: dict[str, Tensor]) -> None:
        del tensors[name]

    return spoil


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_without("4.bias"), r"4\.bias is float32 \[2\] here and absent in the checkpoint"),
        (lambda t: t.update(extra=torch.ones(1)), r"extra is absent here and float32 \[1\]"),
        (lambda t: t.update({"4.bias": torch.ones(3)}), r"float32 \[2\] here and float32 \[3\]"),
        (lambda t: t.update({"4.bias": torch.ones(2).double()}), r"and float64 \[2\]"),
    ],
)
def test_weights_that_do_not_fit_leave_the_model_as_it_was(
    spoil: Callable[[dict[str, Tensor]], None], told: str
) -> None:
    module = network(1)
    before = {name: tensor.clone() for name, tensor in module_state(module).items()}
    tensors = module_state(network(2))
    spoil(tensors)
    with pytest.raises(CheckpointError, match=told):
        load_module_state(module, tensors)
    assert all(torch.equal(tensor, before[name]) for name, tensor in module_state(module).items())


def test_a_modules_state_has_no_graph() -> None:
    assert not any(tensor.requires_grad for tensor in module_state(network(1)).values())


def test_a_module_that_keeps_more_than_tensors_is_refused() -> None:
    class Odd(nn.Module):
        def get_extra_state(self) -> str:
            return "more"

    with pytest.raises(TypeError, match="_extra_state of the module is of type str"):
        module_state(Odd())


def test_a_scaler_comes_back_with_its_scale_and_its_count() -> None:
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=7)
    fresh = torch.amp.GradScaler("cpu")
    load_scaler_state(fresh, through_a_file(scaler_state(scaler)))
    assert fresh.get_scale() == 256.0
    assert fresh.state_dict() == scaler.state_dict()


@pytest.mark.parametrize("enabled", [True, False])
def test_a_scaler_that_was_off_does_not_fit_one_that_is_on(enabled: bool) -> None:
    one = torch.amp.GradScaler("cpu", enabled=enabled)
    other = torch.amp.GradScaler("cpu", enabled=not enabled)
    load_scaler_state(one, scaler_state(one))
    with pytest.raises(
        CheckpointError, match="use the precision that the checkpoint was made with"
    ):
        load_scaler_state(one, scaler_state(other))


def test_a_generator_goes_on_with_the_same_numbers() -> None:
    generator = torch.Generator().manual_seed(3)
    torch.rand(5, generator=generator)
    kept = generator_state(generator).clone()
    expected = torch.rand(9, generator=generator)
    fresh = torch.Generator()
    load_generator_state(fresh, kept)
    assert torch.equal(torch.rand(9, generator=fresh), expected)


@pytest.mark.parametrize("state", [torch.zeros(3, dtype=torch.uint8), torch.zeros(5056)])
def test_a_state_of_another_kind_of_generator_is_refused(state: Tensor) -> None:
    with pytest.raises(CheckpointError, match="state of the random generator does not fit"):
        load_generator_state(torch.Generator(), state)


def test_copies_share_no_memory_with_what_trains_on() -> None:
    module = network(1)
    held = module_state(module)
    before = copies(held)
    step(module, torch.optim.SGD(module.parameters(), lr=0.1), 0)
    now = module_state(module)
    assert list(before) == list(now)
    assert all(torch.equal(held[name], now[name]) for name in now)
    assert any(not torch.equal(before[name], now[name]) for name in now)
    for name, tensor in before.items():
        assert tensor.data_ptr() != held[name].data_ptr()
        assert (tensor.shape, tensor.dtype) == (held[name].shape, held[name].dtype)
