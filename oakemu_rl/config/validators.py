"""Validators of option records. Each message says what came and what is allowed; the loader adds the path."""

import math
from collections.abc import Callable
from typing import Any

from oakemu_rl.core.schedules import Schedule

Validator = Callable[[Any, Any, Any], None]


def number(*, above: float | None = None, least: float | None = None, most: float | None = None) -> Validator:
    """A finite number in a range; `above` excludes its bound, `least` and `most` include theirs."""
    bounds = [f"above {above}" if above is not None else "", f"at least {least}" if least is not None else ""]
    bounds.append(f"at most {most}" if most is not None else "")
    allowed = "a finite number" + "".join(f", {bound}" for bound in bounds if bound)

    def check(_instance: Any, _attribute: Any, value: Any) -> None:
        if (
            not math.isfinite(value)
            or (above is not None and value <= above)
            or (least is not None and value < least)
            or (most is not None and value > most)
        ):
            raise ValueError(f"got {value!r}, allowed is {allowed}")

    return check


def one_of(*choices: str) -> Validator:
    """One of the names in `choices`."""

    def check(_instance: Any, _attribute: Any, value: Any) -> None:
        if value not in choices:
            raise ValueError(f"got {value!r}, allowed is one of {', '.join(choices)}")

    return check


def schedule(*, least: float = 0.0, most: float | None = None) -> Validator:
    """A schedule whose every value lies in the range."""
    within = number(least=least, most=most)

    def check(instance: Any, attribute: Any, value: Schedule) -> None:
        for bound in value.bounds():
            within(instance, attribute, bound)

    return check


def each(validator: Validator) -> Validator:
    """Every item of a sequence satisfies `validator`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        for item in value:
            validator(instance, attribute, item)

    return check


def optional(validator: Validator) -> Validator:
    """None, or a value that satisfies `validator`."""

    def check(instance: Any, attribute: Any, value: Any) -> None:
        if value is not None:
            validator(instance, attribute, value)

    return check
