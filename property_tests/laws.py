"""Laws: what must hold of a core function for all arguments, and of none of its wrong versions.

A law is a plain function `check(function, arguments)` that calls the function and asserts. It is
run on the real function, where it must hold, and on each mutant, where at least one law must fail.
Whatever a law looks at, the arguments must come out of the call byte for byte as they went in.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import torch
from hypothesis import Phase, given, settings
from hypothesis.strategies import SearchStrategy
from torch import Tensor

Function = Callable[..., Any]
Arguments = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Law:
    """`check` holds of `function` for all arguments that `arguments` can draw."""

    function: Function
    arguments: SearchStrategy[Arguments]
    check: Callable[[Function, Arguments], None]

    def __str__(self) -> str:
        return f"{self.function.__qualname__}-{self.check.__name__}"

    def examine(self, candidate: Function, how: settings | None = None) -> None:
        """Try the law on `candidate`, which is the function itself or a mutant of it."""

        @settings(how, report_multiple_bugs=False)
        @given(self.arguments)
        def examine_one(arguments: Arguments) -> None:
            before = _bytes_of(arguments)
            self.check(candidate, arguments)
            assert _bytes_of(arguments) == before, "the function wrote to its arguments"

        examine_one()


@attrs.frozen(kw_only=True)
class Mutant:
    """A planted wrong version of `function`."""

    function: Function
    wrong: Function

    def __str__(self) -> str:
        return f"{self.function.__qualname__}-{self.wrong.__name__}"


PLANTED: list[Mutant] = []


def mutant_of(function: Function) -> Callable[[Function], Function]:
    """Register a wrong version of `function`."""

    def register(wrong: Function) -> Function:
        PLANTED.append(Mutant(function=function, wrong=wrong))
        return wrong

    return register


def assert_killed(mutant: Mutant, laws: Iterable[Law]) -> None:
    """At least one law of the function fails on the mutant, by an assertion and not by a crash.

    Few examples are tried on all laws before many are.
    """
    concerned = [law for law in laws if law.function == mutant.function]
    for max_examples in (50, 1_000):
        how = settings(phases=(Phase.generate,), max_examples=max_examples)
        for law in concerned:
            try:
                law.examine(mutant.wrong, how)
            except AssertionError:
                return
    raise AssertionError(f"no law noticed the mutant {mutant}")


def assert_raises(error: type[Exception], mention: str, call: Callable[[], object]) -> None:
    """`call` raises `error` with `mention` in its message."""
    try:
        call()
    except error as raised:
        message = str(raised)
    else:
        message = "nothing was raised"
    assert mention in message, f"{mention!r} is not in {message!r}"


def assert_close(actual: Tensor | float, expected: object, tolerance: float = 1e-4) -> None:
    """Equal up to `tolerance`, relative or absolute; infinities and NaN stand where expected."""
    got = torch.as_tensor(actual).detach().double()
    wanted = torch.as_tensor(expected, dtype=torch.float64)
    assert got.shape == wanted.shape, f"got shape {got.shape}, wanted {wanted.shape}"
    assert torch.allclose(got, wanted, rtol=tolerance, atol=tolerance, equal_nan=True), (
        f"got {got.tolist()}, wanted {wanted.tolist()}"
    )


def _bytes_of(arguments: Arguments) -> dict[str, object]:
    return {name: _content(value) for name, value in arguments.items()}


def _content(value: object) -> object:
    if isinstance(value, Tensor):
        return bytes(value.detach().reshape(-1).view(torch.uint8).tolist())
    if isinstance(value, list | tuple):
        return [_content(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _content(item) for name, item in value.items()}
    if attrs.has(type(value)):
        return {
            field.name: _content(getattr(value, field.name)) for field in attrs.fields(type(value))
        }
    return repr(value)
