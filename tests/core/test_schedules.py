"""Worked values of schedules."""

import pytest

from oakemu_rl.core import Schedule, constant, cosine, exponential, linear, sequence


def test_a_line_is_evaluated_by_the_step() -> None:
    exploration = linear(1.0, 0.05, 1_000)
    assert exploration.value(501) == pytest.approx(0.52405)
    assert exploration.value(1_500) == 0.05
    assert linear(1e-3, 0.0, 1_000).value(500) == 5e-4


def test_curves_at_a_quarter_of_the_way() -> None:
    assert cosine(1.0, 0.0, 100).value(25) == pytest.approx(0.853553)
    assert exponential(1.0, 0.0001, 100).value(25) == pytest.approx(0.1)


def test_a_sequence_starts_each_part_where_the_one_before_ended() -> None:
    warm_up = sequence(linear(0.0, 1.0, 10), linear(1.0, 1.0, 90), cosine(1.0, 0.0, 100))
    values = [warm_up.value(step) for step in (0, 5, 10, 99, 100, 150, 200, 10_000)]
    assert values == pytest.approx([0.0, 0.5, 1.0, 1.0, 1.0, 0.5, 0.0, 0.0])


def test_the_data_is_plain_and_a_constant_is_a_bare_number() -> None:
    assert constant(3).to_data() == 3.0
    assert linear(1, 0, 10).to_data() == {"kind": "linear", "start": 1.0, "end": 0.0, "steps": 10}
    assert sequence(linear(1, 0, 10), constant(0)).to_data() == {
        "kind": "sequence",
        "sections": [{"kind": "linear", "start": 1.0, "end": 0.0, "steps": 10}, 0.0],
    }


def test_a_constant_may_also_be_a_table() -> None:
    assert Schedule.from_data({"kind": "constant", "value": 2}) == constant(2.0)


def test_nested_sequences_are_one_sequence() -> None:
    first, second, third = linear(0, 1, 5), linear(1, 2, 5), constant(2)
    assert sequence(sequence(first, second), third) == sequence(first, second, third)


def test_an_unknown_key_gets_the_nearest_name() -> None:
    data = {"kind": "linear", "start": 1.0, "ned": 0.0, "steps": 10}
    with pytest.raises(ValueError, match=r"unknown key 'ned', allowed are .* did you mean end\?"):
        Schedule.from_data(data)


def test_a_constant_cannot_stand_before_another_part() -> None:
    with pytest.raises(ValueError, match=r"sections\[0\]: got the constant 1.0, which has no end"):
        sequence(constant(1.0), linear(1.0, 0.0, 10))


def test_a_sequence_has_a_part() -> None:
    with pytest.raises(ValueError, match="sections: got none"):
        sequence()


def test_schedules_are_values() -> None:
    assert linear(1, 0, 10) == linear(1.0, 0.0, 10)
    assert hash(linear(1, 0, 10)) == hash(linear(1.0, 0.0, 10))


def test_an_integer_beyond_the_floats_is_refused_like_an_infinity() -> None:
    with pytest.raises(ValueError, match=r"^value: got 1000+, allowed is a finite number"):
        Schedule.from_data(10**400)
