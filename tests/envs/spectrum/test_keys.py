"""The keyboard's matrix."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oakemu_rl.envs.spectrum.keys import KEY_NAMES, KEY_ROWS, held_rows, port_answers


@given(held=st.sets(st.sampled_from(KEY_NAMES)), selection=st.integers(0, 255))
def test_a_port_shows_a_key_where_a_selected_row_holds_it(held: set[str], selection: int) -> None:
    answer = port_answers(held_rows(held))[selection]
    selected = [row for bit, row in enumerate(KEY_ROWS) if not selection & (1 << bit)]
    for bit in range(5):
        pressed = any(row[bit] in held for row in selected)
        assert bool(answer & (1 << bit)) is not pressed
    assert answer & 0xE0 == 0xA0


def test_there_are_forty_keys_with_names_of_their_own() -> None:
    assert len(set(KEY_NAMES)) == 40


def test_an_unknown_key_is_refused_with_the_names_that_exist() -> None:
    with pytest.raises(ValueError, match=r"no key is called 'FIRE'; the keys are CAPS_SHIFT, Z"):
        held_rows(["FIRE"])
