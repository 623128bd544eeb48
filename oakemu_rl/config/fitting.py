"""Fits plain data to records, field by field; `MisfitError` says where and why it does not fit.

One hook for each kind of type: scalars, schedules, choices, lists, tables, unions and records.
Files and the sources of values are not known here.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Literal, TypeVar, get_args, get_origin

import attrs
import cattrs

from oakemu_rl.config.validators import InvalidValueError
from oakemu_rl.config.wording import Place, allowed, dotted, is_union, nearest, shown
from oakemu_rl.core.schedules import Schedule

Record = TypeVar("Record")
Hook = Callable[[Any, Any], Any]


class MisfitError(Exception):
    """Data does not fit a record: at `place` there is `problem`. The caller adds the source."""

    def __init__(self, problem: str, *, place: Place = ()) -> None:
        super().__init__(problem)
        self.problem = problem
        self.place = place

    def told_of(self, source: str) -> str:
        """The line for the user."""
        return ": ".join(text for text in (source, dotted(self.place), self.problem) if text)


class UnknownKeyError(MisfitError):
    """The last part of `place` is a key that the record does not have; `near` is like it."""

    def __init__(self, key: str, names: Sequence[str]) -> None:
        self.near = nearest(key, names)
        self.allowed = f"(allowed: {', '.join(names)})"
        hint = f"; did you mean {self.near}?" if self.near else ""
        super().__init__(f"unknown key{hint} {self.allowed}", place=(key,))


def fit(data: object, record_type: type[Record]) -> Record:
    """Make a record of this type from plain data.

    Raises:
        MisfitError: the data does not fit.
    """
    return _converter().structure(data, record_type)


@cache
def _converter() -> cattrs.Converter:
    converter = cattrs.Converter()
    # A hook for one type stands before those for kinds of types: Schedule is a record too.
    for scalar in (bool, int, float, str):
        converter.register_structure_hook(scalar, _scalar)
    converter.register_structure_hook(Schedule, _schedule)
    for predicate, build in (
        (attrs.has, _record_hook),
        (_is_literal, lambda _wanted, _fit: _literal),
        (is_union, _union_hook),
        (_is_sequence, _sequence_hook),
        (_is_mapping, _mapping_hook),
    ):
        converter.register_structure_hook_factory(
            predicate, lambda wanted, build=build: build(wanted, converter.structure)
        )
    return converter


def _refuse(value: object, wanted: Any) -> MisfitError:
    return MisfitError(f"got {shown(value)}, allowed is {allowed(wanted)}")


def _scalar(value: Any, wanted: Any) -> Any:
    if type(value) is wanted:
        return value
    if wanted is float and type(value) is int:
        try:
            return float(value)
        except OverflowError:
            pass
    raise _refuse(value, wanted)


def _schedule(value: Any, wanted: Any) -> Schedule:
    if type(value) not in (int, float) and not isinstance(value, Mapping):
        raise _refuse(value, wanted)
    try:
        return Schedule.from_data(value)
    except ValueError as error:
        raise MisfitError(str(error)) from None


def _is_literal(wanted: Any) -> bool:
    origin: object = get_origin(wanted)
    return origin is Literal


def _literal(value: Any, wanted: Any) -> Any:
    choices = get_args(wanted)
    for choice in choices:
        if type(value) is type(choice) and value == choice:
            return value
    refusal = _refuse(value, wanted)
    close = nearest(value, map(str, choices)) if isinstance(value, str) else None
    raise MisfitError(f"{refusal}; did you mean {close}?") if close else refusal


def _is_sequence(wanted: Any) -> bool:
    origin = get_origin(wanted)
    return isinstance(origin, type) and issubclass(origin, Sequence)


def _sequence_hook(wanted: Any, fit_value: Hook) -> Hook:
    arguments = get_args(wanted)
    origin: object = get_origin(wanted)
    make = list if origin is list else tuple
    fixed = origin is tuple and Ellipsis not in arguments

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, (list, tuple)) or (fixed and len(value) != len(arguments)):
            raise _refuse(value, wanted)
        types = arguments if fixed else [arguments[0]] * len(value)
        return make(
            _below(index, fit_value, item, item_type)
            for index, (item, item_type) in enumerate(zip(value, types, strict=True))
        )

    return hook


def _is_mapping(wanted: Any) -> bool:
    origin = get_origin(wanted)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _mapping_hook(wanted: Any, fit_value: Hook) -> Hook:
    key_type, value_type = get_args(wanted)

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _refuse(value, wanted)
        return {
            _below(str(key), fit_value, key, key_type): _below(
                str(key), fit_value, item, value_type
            )
            for key, item in value.items()
        }

    return hook


def _union_hook(wanted: Any, fit_value: Hook) -> Hook:
    members = [member for member in get_args(wanted) if member is not type(None)]
    # An integer stays one where the union has both: the exact type comes before the widened one.
    members.sort(key=lambda member: member is float)

    def hook(value: Any, _: Any) -> Any:
        if value is None and len(members) < len(get_args(wanted)):
            return None
        deepest: MisfitError | None = None
        for member in members:
            try:
                return fit_value(value, member)
            except MisfitError as fault:
                if deepest is None or len(fault.place) > len(deepest.place):
                    deepest = fault
        if deepest is not None and (deepest.place or len(members) == 1):
            raise deepest
        raise _refuse(value, wanted)

    return hook


def _record_hook(wanted: Any, fit_value: Hook) -> Hook:
    fields = {
        field.name: field for field in attrs.fields(attrs.resolve_types(wanted)) if field.init
    }

    def hook(value: Any, _: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _refuse(value, wanted)
        for key in value:
            if key not in fields:
                raise UnknownKeyError(str(key), list(fields))
        for name, field in fields.items():
            if field.default is attrs.NOTHING and name not in value:
                raise MisfitError(f"missing, needed is {allowed(field.type)}", place=(name,))
        values = {
            name: _below(name, fit_value, item, fields[name].type) for name, item in value.items()
        }
        return _make(wanted, values)

    return hook


def _below(part: str | int, fit_value: Hook, value: object, wanted: Any) -> Any:
    try:
        return fit_value(value, wanted)
    except MisfitError as fault:
        fault.place = (part, *fault.place)
        raise


def _make(record_type: Any, values: Mapping[str, object]) -> Any:
    """Call the constructor; what its validators refuse is placed at the field they name."""
    aliases = {field.name: field.alias for field in attrs.fields(record_type)}
    try:
        return record_type(**{aliases[name]: value for name, value in values.items()})
    except InvalidValueError as error:
        raise MisfitError(error.problem, place=error.place) from None
    except (ValueError, TypeError) as error:
        # attrs' own validators pass the message, then the attribute they checked.
        fields = [item for item in error.args if isinstance(item, attrs.Attribute)]
        if not fields and isinstance(error, TypeError):
            raise
        place = (fields[0].name,) if fields else ()
        raise MisfitError(str(error.args[0]), place=place) from None
