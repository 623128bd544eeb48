"""All parameters of a module in one piece of memory, so that what is done to all is done at once.

Clipping, an optimizer's step and a copy then take one operation each instead of one a parameter,
which for small networks is most of an update's time. Networks and losses are not known here.
"""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

ALIGNMENT = 16
"""Floats from one parameter's start to a multiple of which the next one starts: 64 bytes."""

_BARE_STEP: Callable[[torch.optim.Adam], Any] = inspect.unwrap(torch.optim.Adam.step)
"""Adam's step without torch's hooks around it, which take as long as the step itself."""


class FlatParameters:
    """The parameters of a module as views of one tensor, `data`.

    Each keeps its shape and strides, so that channels-last weights stay so; the gaps between them
    hold zeros. What is loaded into the module with `load_state_dict` is copied into `data`. The
    module must lie on its device before, and stay there: `check` tells where it did not.

    Shapes: data [P] float32, P the number of all weights and gaps.

    Raises:
        ValueError: the module has no parameters, or they are not all float32 on one device.
    """

    def __init__(self, module: nn.Module) -> None:
        parameters = list(module.parameters())
        kinds = {(parameter.dtype, parameter.device) for parameter in parameters}
        if len(kinds) != 1 or parameters[0].dtype != torch.float32:
            found = ", ".join(sorted(f"{dtype} on {device}" for dtype, device in kinds)) or "none"
            raise ValueError(
                f"module: expected parameters of torch.float32 on one device, got {found}"
            )
        kept = module.state_dict().keys()
        self.data = _empty_for(parameters)
        self._parameters = parameters
        self._buffers = [buffer for name, buffer in module.named_buffers() if name in kept]
        for parameter, view in zip(parameters, self.views_of(self.data), strict=True):
            view.copy_(parameter.detach())
            parameter.data = view
        self._shapes = [parameter.shape for parameter in parameters]
        self._addresses = [parameter.data_ptr() for parameter in parameters]

    @property
    def parameters(self) -> list[nn.Parameter]:
        """The module's parameters, in its order."""
        return self._parameters

    def views_of(self, flat: Tensor) -> Iterator[Tensor]:
        """The parts of a tensor laid out like `data`, each with its parameter's shape and strides.

        Shapes: flat [P].
        """
        start = 0
        for parameter in self._parameters:
            strides = torch.empty_like(parameter).stride()
            yield flat.as_strided(parameter.shape, strides, start)
            start += _room_for(parameter)

    def copy_from(self, source: "FlatParameters") -> None:
        """Take the weights of a module of the same shape, and the buffers that are saved.

        Raises:
            ValueError: its parameters have other shapes.
        """
        self._check_alike(source)
        self.data.copy_(source.data)
        self._copy_buffers(source)

    def mix_from(self, source: "FlatParameters", *, rate: float) -> None:
        """Move each weight by `rate` of its way to the source's; take the buffers whole.

        Raises:
            ValueError: its parameters have other shapes.
        """
        self._check_alike(source)
        self.data.lerp_(source.data, rate)
        self._copy_buffers(source)

    def check(self) -> None:
        """The parameters still lie in `data`.

        Raises:
            RuntimeError: one was moved out of it, as by `module.to(...)`.
        """
        if self._addresses != [parameter.data_ptr() for parameter in self._parameters]:
            raise RuntimeError(
                "a parameter does not lie in the flat tensor any more; move the module to its "
                "device before, and load states without assign=True"
            )

    def _check_alike(self, source: "FlatParameters") -> None:
        if self._shapes != source._shapes:
            raise ValueError(
                f"source: expected parameters of shapes {[list(each) for each in self._shapes]}, "
                f"got {[list(each) for each in source._shapes]}"
            )

    def _copy_buffers(self, source: "FlatParameters") -> None:
        for buffer, other in zip(self._buffers, source._buffers, strict=True):
            buffer.copy_(other)


class FlatAdam(torch.optim.Adam):
    """Adam over all parameters of a module as one, `flat`, with one gradient (Kingma & Ba, 2015).

    The arithmetic is that of Adam over the single parameters, except that one which no loss reaches
    has a gradient of 0 rather than none. Gradients are views that backward passes add to; only
    `zero_grad` of this optimizer, not that of the module, may clear them.

    Raises:
        ValueError: as `FlatParameters`.
    """

    def __init__(self, module: nn.Module, *, lr: float, eps: float, fused: bool = True) -> None:
        self.parameters = FlatParameters(module)
        self.flat = nn.Parameter(self.parameters.data)
        self._gradient = torch.zeros_like(self.parameters.data)
        self.flat.grad = self._gradient
        self._gradients = list(self.parameters.views_of(self._gradient))
        for parameter, gradient in zip(self.parameters.parameters, self._gradients, strict=True):
            parameter.grad = gradient
        super().__init__([self.flat], lr=lr, eps=eps, fused=fused)

    def zero_grad(self, set_to_none: bool = True) -> None:  # noqa: ARG002 - torch's signature
        """Fill the gradient with zeros where it lies, whatever `set_to_none` says."""
        self._gradient.zero_()

    def step(self, closure: None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Take a step. Hooks that were registered with torch are not called.

        Raises:
            RuntimeError: a parameter or its gradient no longer lies in the flat tensors.
        """
        self.parameters.check()
        for parameter, gradient in zip(self.parameters.parameters, self._gradients, strict=True):
            if parameter.grad is not gradient:
                raise RuntimeError(
                    "a parameter's gradient is not the flat one's part any more; clear gradients "
                    "with the optimizer's zero_grad, not with the module's"
                )
        state = self.state[self.flat]
        if state and self._goes_straight:
            self._step_straight(state, self.param_groups[0])
        else:
            with torch.no_grad():
                _BARE_STEP(self)

    @property
    def _goes_straight(self) -> bool:
        """Whether torch's fused operation can be called as it is: a gradient scaler leaves word for
        Adam's own step."""
        scaled = getattr(self, "found_inf", None) is not None
        return bool(self.defaults["fused"]) and not scaled

    def _step_straight(self, state: dict[str, Tensor], group: dict[str, Any]) -> None:
        """What Adam's step comes to for one tensor; its way there takes three times as long."""
        state["step"].add_(1.0)
        beta1, beta2 = group["betas"]
        torch._fused_adam_(
            [self.parameters.data],
            [self._gradient],
            [state["exp_avg"]],
            [state["exp_avg_sq"]],
            [],
            [state["step"]],
            lr=group["lr"],
            beta1=beta1,
            beta2=beta2,
            weight_decay=group["weight_decay"],
            eps=group["eps"],
            amsgrad=False,
            maximize=group["maximize"],
        )

    step.hooked = True  # type: ignore[attr-defined]  # torch wraps its hooks around no such step


def _empty_for(parameters: list[nn.Parameter]) -> Tensor:
    size = sum(_room_for(parameter) for parameter in parameters)
    return torch.zeros(size, dtype=torch.float32, device=parameters[0].device)


def _room_for(parameter: Tensor) -> int:
    return -(-parameter.numel() // ALIGNMENT) * ALIGNMENT
