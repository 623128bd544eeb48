"""Every check passes what is right and names what is wrong."""

import math
import sys
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core.checks import (
    check_bool,
    check_dimensions,
    check_floating,
    check_integer,
    check_mask,
    check_shape,
)
from oakemu_rl.core.number_checks import (
    check_fraction,
    check_not_negative,
    check_positive,
    is_finite,
)
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests

FLOATING = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
INTEGER = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
FITTING = {check_floating: FLOATING, check_integer: INTEGER, check_bool: (torch.bool,)}


def passes_its_own_dtypes_alone(function: Function, arguments: Arguments) -> None:
    tensor = torch.zeros(2, dtype=arguments["dtype"])
    if arguments["fits"]:
        function("it", tensor)
    else:
        assert_raises(TypeError, f"got dtype {tensor.dtype}", lambda: function("it", tensor))


def passes_tensors_alone(function: Function, _arguments: Arguments) -> None:
    assert_raises(TypeError, "it: expected", lambda: function("it", [1.0]))


def passes_as_many_dimensions_alone(function: Function, arguments: Arguments) -> None:
    tensor, letters = torch.zeros(arguments["shape"]), arguments["letters"]
    if tensor.dim() == len(letters):
        function("it", tensor, letters)
    else:
        expected = f"it: expected shape [{', '.join(letters)}], got {list(tensor.shape)}"
        assert_raises(ValueError, expected, lambda: function("it", tensor, letters))


def passes_an_equal_shape_alone(function: Function, arguments: Arguments) -> None:
    tensor, shape = torch.zeros(arguments["shape"]), arguments["other"]
    if tensor.shape == torch.Size(shape):
        function("it", tensor, shape, "TN")
    else:
        expected = f"it: expected shape [T, N] = {list(shape)}, got {list(tensor.shape)}"
        assert_raises(ValueError, expected, lambda: function("it", tensor, shape, "TN"))


def passes_masks_of_all_rows_or_of_each(function: Function, arguments: Arguments) -> None:
    mask, (rows, actions) = arguments["mask"], arguments["other"]
    if mask.dtype != torch.bool:
        assert_raises(TypeError, "it: expected", lambda: function("it", mask, (rows, actions)))
    elif mask.shape in ((actions,), (rows, actions)):
        function("it", mask, (rows, actions))
    else:
        expected = f"got {list(mask.shape)}"
        assert_raises(ValueError, expected, lambda: function("it", mask, (rows, actions)))


def passes_its_range_alone(function: Function, arguments: Arguments) -> None:
    value = arguments["value"]
    fits = {
        check_fraction: 0.0 <= value <= 1.0,
        check_not_negative: 0.0 <= value < math.inf,
        check_positive: 0.0 < value < math.inf,
    }
    if fits[arguments["real"]]:
        function("it", value)
    else:
        assert_raises(ValueError, f"got {value!r}", lambda: function("it", value))


def finite_is_within_the_floats(function: Function, arguments: Arguments) -> None:
    value = arguments["value"]
    # Beyond the largest float an integer rounds to infinity; NaN compares with nothing.
    assert function(value) is (-LARGEST_FLOAT <= value <= LARGEST_FLOAT)


def dtypes_for(check: Function) -> st.SearchStrategy[dict[str, Any]]:
    """Any dtype, and whether the check must pass it."""
    return st.sampled_from([*FLOATING, *INTEGER, torch.bool]).map(
        lambda dtype: {"dtype": dtype, "fits": dtype in FITTING[check]}
    )


SHAPES = st.lists(st.integers(1, 2), min_size=1, max_size=3)
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 2.0, math.inf, -math.inf, math.nan]), st.floats(-2.0, 2.0)
)
LARGEST_FLOAT = sys.float_info.max
LAWS = [
    Law(
        function=check_mask,
        arguments=st.fixed_dictionaries(
            {
                "mask": st.builds(
                    lambda shape, dtype: torch.zeros(shape, dtype=dtype),
                    SHAPES,
                    st.sampled_from([torch.bool, torch.uint8]),
                ),
                "other": st.tuples(st.integers(1, 2), st.integers(1, 2)),
            }
        ),
        check=passes_masks_of_all_rows_or_of_each,
    ),
    Law(
        function=is_finite,
        arguments=st.fixed_dictionaries(
            {"value": st.one_of(NUMBERS, st.sampled_from([0, 10**400, -(10**400)]))}
        ),
        check=finite_is_within_the_floats,
    ),
    *(
        Law(function=check, arguments=dtypes_for(check), check=passes_its_own_dtypes_alone)
        for check in FITTING
    ),
    *(Law(function=check, arguments=st.just({}), check=passes_tensors_alone) for check in FITTING),
    Law(
        function=check_dimensions,
        arguments=st.fixed_dictionaries(
            {"shape": SHAPES, "letters": st.sampled_from(["B", "TN", "TNA"])}
        ),
        check=passes_as_many_dimensions_alone,
    ),
    Law(
        function=check_shape,
        arguments=st.fixed_dictionaries({"shape": SHAPES, "other": SHAPES}),
        check=passes_an_equal_shape_alone,
    ),
    *(
        Law(
            function=check,
            arguments=st.fixed_dictionaries({"value": NUMBERS, "real": st.just(check)}),
            check=passes_its_range_alone,
        )
        for check in (check_fraction, check_not_negative, check_positive)
    ),
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
