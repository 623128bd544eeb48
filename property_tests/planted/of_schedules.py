"""Wrong versions of schedules."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from oakemu_rl import core
from oakemu_rl.core.schedules import Schedule
from property_tests.laws import mutant_of


@mutant_of(Schedule.value)
def runs_on_past_its_end(self: Schedule, step: int) -> float:
    last = self.sections[-1]
    if len(self.sections) > 1 or step <= last.steps or last.steps == 0:
        return self.value(step)
    return last.start + (last.end - last.start) * step / last.steps


@mutant_of(Schedule.value)
def sections_start_at_zero(self: Schedule, step: int) -> float:
    self.value(step)
    for section in self.sections:
        if step < section.steps:
            return section.value(step)
    return self.sections[-1].value(step)


@mutant_of(Schedule.value)
def everything_is_linear(self: Schedule, step: int) -> float:
    if len(self.sections) > 1 or self.sections[0].steps == 0:
        return self.value(step)
    section = self.sections[0]
    fraction = min(step / section.steps, 1.0)
    return section.start + (section.end - section.start) * fraction


@mutant_of(Schedule.value)
def negative_steps_pass(self: Schedule, step: int) -> float:
    return self.value(max(step, 0))


@mutant_of(Schedule.bounds)
def bounds_of_the_first_section(self: Schedule) -> tuple[float, float]:
    section = self.sections[0]
    return min(section.start, section.end), max(section.start, section.end)


@mutant_of(Schedule.bounds)
def bounds_in_order_of_time(self: Schedule) -> tuple[float, float]:
    return self.sections[0].start, self.sections[-1].end


@mutant_of(Schedule.to_data)
def data_of_the_last_section(self: Schedule) -> Any:
    return self.sections[-1].to_data()


@mutant_of(Schedule.to_data)
def data_with_an_object_in_it(self: Schedule) -> Any:
    return {"kind": "sequence", "sections": list(self.sections)}


@mutant_of(Schedule.from_data)
def unknown_keys_pass(data: Any) -> Schedule:
    known = ("kind", "value", "start", "end", "steps", "sections")
    if isinstance(data, Mapping):
        data = {key: value for key, value in data.items() if key in known}
    return Schedule.from_data(data)


@mutant_of(Schedule.from_data)
def numbers_in_strings_pass(data: Any) -> Schedule:
    return Schedule.from_data(float(data) if isinstance(data, str | bool) else data)


@mutant_of(Schedule.from_data)
def misspelt_kind_is_mended(data: Any) -> Schedule:
    if isinstance(data, Mapping) and "kind" in data:
        close = get_close_matches(str(data["kind"]), ("linear", "cosine", "exponential"), n=1)
        data = {**data, "kind": close[0]} if close else data
    return Schedule.from_data(data)


@mutant_of(core.constant)
def constant_of_the_magnitude(value: float) -> Schedule:
    return core.constant(abs(value))


@mutant_of(core.linear)
def line_the_other_way(start: float, end: float, steps: int) -> Schedule:
    return core.linear(end, start, steps)


@mutant_of(core.cosine)
def cosine_drawn_straight(start: float, end: float, steps: int) -> Schedule:
    return core.linear(start, end, steps)


@mutant_of(core.exponential)
def exponential_one_step_short(start: float, end: float, steps: int) -> Schedule:
    return core.exponential(start, end, max(steps - 1, 1))


@mutant_of(core.sequence)
def sequence_without_its_first(*sections: Schedule) -> Schedule:
    return core.sequence(*(sections[1:] or sections))
