"""Modules, optimizers, gradient scalers and generators to tensors and plain data, and back.

No pickle: each `load_...` is given tensors and data that were read as such. Files are not known
here.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from oakemu_rl.core.errors import CheckpointError


def module_state(module: nn.Module) -> dict[str, Tensor]:
    """The parameters and buffers of `module` by name, detached.

    Raises:
        TypeError: the module keeps something that is no tensor.
    """
    state = module.state_dict()
    for name, value in state.items():
        if not isinstance(value, Tensor):
            kind = type(value).__name__
            raise TypeError(f"{name} of the module is of type {kind}, only tensors are kept")
    return {name: value.detach() for name, value in state.items()}


def copies(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Tensors that share no memory with those given."""
    return {name: tensor.clone() for name, tensor in tensors.items()}


def load_module_state(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Copy `tensors` into `module`; all of them, or none where one does not fit.

    Raises:
        CheckpointError: a name is missing or unknown, or a shape or dtype differs.
    """
    own = module_state(module)
    for name in sorted(own.keys() | tensors.keys()):
        here, there = _described(own.get(name)), _described(tensors.get(name))
        if here != there:
            raise CheckpointError(
                f"the weights do not fit this model: {name} is {here} here and {there} in the "
                "checkpoint; use the configuration that the checkpoint was made with"
            )
    module.load_state_dict(dict(tensors))


def optimizer_state(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The state of each parameter and the options of each group.

    Returns:
        Tensors called `state.<parameter>.<name>` and `groups.<group>.<name>`, and the plain rest as
        `{"state": {...}, "groups": [...]}`; parameters are counted as the optimizer counts them.
    """
    full = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    state = {
        str(index): _split(entries, f"state.{index}", tensors)
        for index, entries in full["state"].items()
    }
    groups = [
        _split(group, f"groups.{index}", tensors)
        for index, group in enumerate(full["param_groups"])
    ]
    return tensors, {"state": state, "groups": groups}


def load_optimizer_state(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], data: Mapping[str, Any]
) -> None:
    """Put back what `optimizer_state` gave.

    Raises:
        CheckpointError: the state is of an optimizer with other groups, options or parameters.
    """
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    own = optimizer.state_dict()["param_groups"]
    try:
        state = {int(index): dict(entries) for index, entries in data["state"].items()}
        groups = [dict(group) for group in data["groups"]]
        for name, tensor in tensors.items():
            part, index, field = name.split(".", 2)
            if part == "state":
                state[int(index)][field] = _laid_out_like(parameters[int(index)], tensor)
            else:
                groups[int(index)][field] = tensor.clone()
        fits = [_layout(group) for group in groups] == [_layout(group) for group in own]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise CheckpointError(
            "the optimizer's state does not fit this optimizer: its groups hold other options or "
            "parameters; use the configuration that the checkpoint was made with"
        )
    for group, own_group in zip(groups, own, strict=True):
        group.update({k: tuple(group[k]) for k, v in own_group.items() if isinstance(v, tuple)})
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def scaler_state(scaler: torch.amp.GradScaler) -> dict[str, Any]:
    """The scale and its counters; empty where the scaler is switched off."""
    return dict(scaler.state_dict())


def load_scaler_state(scaler: torch.amp.GradScaler, data: Mapping[str, Any]) -> None:
    """Put back what `scaler_state` gave.

    Raises:
        CheckpointError: one of the two scalers is switched off.
    """
    if scaler.is_enabled() != bool(data):
        here, there = ("on", "off") if scaler.is_enabled() else ("off", "on")
        raise CheckpointError(
            f"the gradient scaler is {here} here and was {there} in the checkpoint; "
            "use the precision that the checkpoint was made with"
        )
    if data:
        scaler.load_state_dict(dict(data))


def generator_state(generator: torch.Generator) -> Tensor:
    """Where the generator stands, as uint8 [bytes]."""
    return generator.get_state()


def load_generator_state(generator: torch.Generator, state: Tensor) -> None:
    """Go on from where `generator_state` was taken.

    Raises:
        CheckpointError: the state is of a generator of another kind.
    """
    try:
        generator.set_state(state)
    except (RuntimeError, TypeError) as error:
        raise CheckpointError(
            f"the state of the random generator does not fit one on {generator.device}: {error}"
        ) from None


def _described(tensor: Tensor | None) -> str:
    return "absent" if tensor is None else f"{str(tensor.dtype)[6:]} {list(tensor.shape)}"


def _split(entries: Mapping[str, Any], prefix: str, tensors: dict[str, Tensor]) -> dict[str, Any]:
    """Move the tensors among `entries` to `tensors`; return the rest, tuples as lists."""
    rest: dict[str, Any] = {}
    for name, value in entries.items():
        if isinstance(value, Tensor):
            tensors[f"{prefix}.{name}"] = value.detach()
        else:
            rest[name] = list(value) if isinstance(value, tuple) else value
    return rest


def _laid_out_like(parameter: Tensor, tensor: Tensor) -> Tensor:
    """A copy of `tensor`, with the strides of `parameter` where the shapes are equal.

    Fused optimizers walk a parameter and its moments by address: with the parameter in
    channels-last layout and moments in another one, they would pair the wrong entries.
    """
    if tensor.shape != parameter.shape:
        return tensor.clone()
    return torch.empty_like(parameter, dtype=tensor.dtype).copy_(tensor)


def _layout(group: Mapping[str, Any]) -> tuple[frozenset[str], list[int]]:
    return frozenset(group), list(group["params"])
