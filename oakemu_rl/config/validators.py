"""Validators of option records. Each message says what came and what is allowed."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from oakemu_rl.config.wording import Place, dotted
from oakemu_rl.core.number_checks import is_finite
from oakemu_rl.core.schedules import Schedule, constant

Validator = Callable[[Any, Any, Any], None]

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:[0-9]+)?")


class InvalidValueError(ValueError):
    """A field's value, or the item `index` of it, is out of its range.

    The text is `field: problem`; a loader that knows the whole path takes the parts.
    """

    def __init__(self, field: str, problem: str, *, index: int | str | None = None) -> None:
        self.place: Place = (field,) if index is None else (field, index)
        super().__init__(f"{dotted(self.place)}: {problem}")
        self.field = field
        self.problem = problem


def number(
    *, above: float | None = None, least: float | None = None, most: float | None = None
) -> Validator:
    """A finite number in a range; `above` excludes its bound, `least` and `most` include theirs.

    On a field of type int, or int and None, the number must be a whole one.
    """
    bounds = {"above": above, "at least": least, "at most": most}
    within = "".join(f", {name} {bound}" for name, bound in bounds.items() if bound is not None)

    def check(_instance: Any, attribute: Any, value: Any) -> None:
        kind = "an integer" if _is_whole(attribute.type) else "a finite number"
        if (
            isinstance(value, bool)
            or not isinstance(value, int if kind == "an integer" else (int, float))
            or not is_finite(value)
            or (above is not None and value <= above)
            or (least is not None and value < least)
            or (most is not None and value > most)
        ):
            raise InvalidValueError(attribute.name, f"got {value!r}, allowed is {kind}{within}")

    return check


def _is_whole(wanted: Any) -> bool:
    return wanted is int or wanted in (int | None, tuple[int, ...])


def one_of(*choices: str) -> Validator:
    """One of the names in `choices`."""

    def check(_instance: Any, attribute: Any, value: Any) -> None:
        if value not in choices:
            problem = f"got {value!r}, allowed is one of {', '.join(choices)}"
            raise InvalidValueError(attribute.name, problem)

    return check


def device() -> Validator:
    """A device by torch's name, or auto."""

    def check(_instance: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, str) or not _DEVICE.fullmatch(value):
            problem = (
                f"got {value!r}, allowed is auto, cpu, cuda, cuda with a number (cuda:1) or mps"
            )
            raise InvalidValueError(attribute.name, problem)

    return check


def as_schedule(value: Schedule | float) -> Schedule:
    """A number stands for the schedule that is constant at it; other values stay as they are."""
    return constant(value) if type(value) in (int, float) else value  # type: ignore[arg-type,return-value]


def schedule(*, most: float | None = None) -> Validator:
    """A schedule whose every value is at least 0, and at most `most`."""
    within = number(least=0.0, most=most)

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, Schedule):
            raise InvalidValueError(
                attribute.name, f"got {value!r}, allowed is a number or a Schedule"
            )
        for bound in value.bounds():
            within(instance, attribute, bound)

    return check


def each(validator: Validator) -> Validator:
    """A tuple, every item of which satisfies `validator`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, tuple):
            raise InvalidValueError(attribute.name, f"got {value!r}, allowed is a tuple")
        for index, item in enumerate(value):
            try:
                validator(instance, attribute, item)
            except InvalidValueError as error:
                raise InvalidValueError(error.field, error.problem, index=index) from None

    return check


def each_entry(validator: Validator) -> Validator:
    """A mapping, every value of which satisfies `validator`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise InvalidValueError(attribute.name, f"got {value!r}, allowed is a mapping")
        for key, item in value.items():
            try:
                validator(instance, attribute, item)
            except InvalidValueError as error:
                raise InvalidValueError(error.field, error.problem, index=key) from None

    return check


def optional(validator: Validator) -> Validator:
    """None, or a value that satisfies `validator`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value is not None:
            validator(instance, attribute, value)

    return check
