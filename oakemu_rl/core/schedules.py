"""Schedules: numbers that change with the environment step, as data.

A schedule is a list of sections, each a curve from `start` to `end` over a number of environment
steps; a section begins at the step where the one before it ended. Past its last section a schedule
holds that section's last value. It can be compared, hashed, written to a file and read back; what a
number is used for, and where files are read, is not here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from numbers import Integral, Real
from typing import Any

import attrs

from oakemu_rl.core.number_checks import is_finite

ScheduleData = float | dict[str, Any]
"""Plain TOML or JSON data: a bare number for a constant, else a table with a `kind`."""


class Curve(StrEnum):
    """How a section goes from its start to its end."""

    CONSTANT = "constant"
    LINEAR = "linear"
    COSINE = "cosine"
    EXPONENTIAL = "exponential"


def _linear(start: float, end: float, fraction: float) -> float:
    return start * (1.0 - fraction) + end * fraction


def _cosine(start: float, end: float, fraction: float) -> float:
    return _linear(start, end, (1.0 - math.cos(math.pi * fraction)) / 2.0)


def _exponential(start: float, end: float, fraction: float) -> float:
    return math.pow(start, 1.0 - fraction) * math.pow(end, fraction)


_INTERPOLATIONS: Mapping[Curve, Callable[[float, float, float], float]] = {
    Curve.LINEAR: _linear,
    Curve.COSINE: _cosine,
    Curve.EXPONENTIAL: _exponential,
}
_MOVING = tuple(_INTERPOLATIONS)
_SEQUENCE = "sequence"
_KINDS = (*(curve.value for curve in Curve), _SEQUENCE)


def _check_number(section: "Section", attribute: Any, value: Any) -> None:
    name = "value" if section.curve is Curve.CONSTANT else attribute.name
    if isinstance(value, bool) or not isinstance(value, Real) or not is_finite(value):
        raise ValueError(f"{name}: got {value!r}, allowed is a finite number")


def _check_steps(section: "Section", _attribute: Any, value: Any) -> None:
    least = 0 if section.curve is Curve.CONSTANT else 1
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"steps: got {value!r}, allowed is a whole number, at least {least}")


@attrs.frozen(kw_only=True)
class Section:
    """One curve. A constant has 0 steps and no end.

    With the fraction f = step / steps in [0, 1], the value is

        linear       start + (end - start) * f
        cosine       start + (end - start) * (1 - cos(pi * f)) / 2
        exponential  start * (end / start) ** f, with start and end above 0
    """

    curve: Curve
    start: float = attrs.field(validator=_check_number)
    end: float = attrs.field(validator=_check_number)
    steps: int = attrs.field(validator=_check_steps)

    def __attrs_post_init__(self) -> None:
        if self.curve is Curve.EXPONENTIAL:
            for name, value in (("start", self.start), ("end", self.end)):
                if value <= 0.0:
                    raise ValueError(
                        f"{name}: got {value!r}, allowed in an exponential is a number above 0"
                    )
        if self.curve is Curve.CONSTANT and (self.steps != 0 or self.start != self.end):
            raise ValueError(f"a constant has one value and 0 steps, got {self}")

    def value(self, step: int) -> float:
        """The value `step` steps after the section's first; its end's value from there on."""
        if step >= self.steps:
            return float(self.end)
        between = _INTERPOLATIONS[self.curve](self.start, self.end, step / self.steps)
        return min(max(between, min(self.start, self.end)), max(self.start, self.end))

    def to_data(self) -> ScheduleData:
        """A bare number for a constant, else a table with `kind`, `start`, `end` and `steps`."""
        if self.curve is Curve.CONSTANT:
            return float(self.start)
        return {
            "kind": self.curve.value,
            "start": float(self.start),
            "end": float(self.end),
            "steps": int(self.steps),
        }


@attrs.frozen(kw_only=True)
class Schedule:
    """A number for every environment step.

    Build one with `constant`, `linear`, `cosine`, `exponential` or `sequence`, or read one with
    `from_data`.
    """

    sections: tuple[Section, ...]

    def __attrs_post_init__(self) -> None:
        if not self.sections:
            raise ValueError("sections: got none, allowed is one section or more")
        for index, section in enumerate(self.sections[:-1]):
            if section.curve is Curve.CONSTANT:
                raise ValueError(
                    f"sections[{index}]: got the constant {section.start}, which has no end, "
                    f"before another section; to hold it for a time, use a linear section from "
                    f"{section.start} to {section.start}"
                )

    def value(self, step: int) -> float:
        """The value at environment step `step`.

        Raises:
            ValueError: `step` is negative.
        """
        if step < 0:
            raise ValueError(f"step: got {step!r}, allowed is a whole number, at least 0")
        for section in self.sections[:-1]:
            if step < section.steps:
                return section.value(step)
            step -= section.steps
        return self.sections[-1].value(step)

    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value over all steps."""
        values = [value for section in self.sections for value in (section.start, section.end)]
        return float(min(values)), float(max(values))

    def to_data(self) -> ScheduleData:
        """Plain TOML and JSON data, from which `from_data` makes an equal schedule."""
        if len(self.sections) == 1:
            return self.sections[0].to_data()
        return {"kind": _SEQUENCE, "sections": [section.to_data() for section in self.sections]}

    @classmethod
    def from_data(cls, data: object) -> "Schedule":
        """Read what `to_data` wrote, or a person did.

        Raises:
            ValueError: a key, type or value is wrong; the message names the field, what came and
                what is allowed.
        """
        return cls(sections=_sections_from(data))


def constant(value: float) -> Schedule:
    """`value` at every step."""
    return _single(Curve.CONSTANT, value, value, 0)


def linear(start: float, end: float, steps: int) -> Schedule:
    """A straight line from `start` to `end` over `steps` environment steps, then `end`."""
    return _single(Curve.LINEAR, start, end, steps)


def cosine(start: float, end: float, steps: int) -> Schedule:
    """Half a cosine wave from `start` to `end` over `steps` environment steps, then `end`."""
    return _single(Curve.COSINE, start, end, steps)


def exponential(start: float, end: float, steps: int) -> Schedule:
    """The same factor at each of `steps` environment steps from `start` to `end`, then `end`."""
    return _single(Curve.EXPONENTIAL, start, end, steps)


def sequence(*sections: Schedule) -> Schedule:
    """One schedule after the other; only the last may be constant, since a constant has no end."""
    return Schedule(sections=tuple(part for schedule in sections for part in schedule.sections))


def _single(curve: Curve, start: float, end: float, steps: int) -> Schedule:
    return Schedule(sections=(Section(curve=curve, start=start, end=end, steps=steps),))


def _sections_from(data: object) -> tuple[Section, ...]:
    if isinstance(data, Mapping):
        return _table_from(data)
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        return constant(data).sections
    raise ValueError(
        f"got {data!r}, allowed is a number or a table with a kind ({', '.join(_KINDS)})"
    )


def _table_from(data: Mapping[Any, Any]) -> tuple[Section, ...]:
    kind = data.get("kind")
    if kind == _SEQUENCE:
        return _sequence_from(data)
    if kind == Curve.CONSTANT:
        _check_keys(data, ("kind", "value"))
        return constant(data["value"]).sections
    if kind in _MOVING:
        _check_keys(data, ("kind", "start", "end", "steps"))
        return _single(Curve(kind), data["start"], data["end"], data["steps"]).sections
    raise ValueError(f"kind: got {kind!r}, allowed is one of {', '.join(_KINDS)}")


def _sequence_from(data: Mapping[Any, Any]) -> tuple[Section, ...]:
    _check_keys(data, ("kind", "sections"))
    sections: list[Section] = []
    for index, section in enumerate(_listed(data["sections"])):
        try:
            sections.extend(_sections_from(section))
        except ValueError as error:
            separator = "." if isinstance(section, Mapping) else ": "
            raise ValueError(f"sections[{index}]{separator}{error}") from None
    return tuple(sections)


def _listed(value: object) -> Sequence[object]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise ValueError(f"sections: got {value!r}, allowed is a list of schedules")


def _check_keys(data: Mapping[Any, Any], allowed: Sequence[str]) -> None:
    for key in data:
        if key not in allowed:
            close = get_close_matches(str(key), allowed, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"unknown key {key!r}, allowed are {', '.join(allowed)}{hint}")
    for key in allowed:
        if key not in data:
            raise ValueError(
                f"{key}: missing, a schedule of kind {data['kind']} needs {', '.join(allowed)}"
            )
