"""Half types are widened; nothing becomes float64 by itself."""

import torch
from hypothesis import strategies as st

from oakemu_rl.core.precision import at_least_float32, constant, in_float32
from property_tests.laws import Arguments, Function, Law
from property_tests.mutants import law_tests


def widens_half_types_alone(function: Function, arguments: Arguments) -> None:
    tensor = torch.tensor([0.1, -3.0], dtype=arguments["dtype"])
    result = function(tensor)
    wide = arguments["dtype"] if arguments["dtype"] == torch.float64 else torch.float32
    assert result.dtype == wide
    assert torch.equal(result, tensor.to(wide))


def gives_float32(function: Function, arguments: Arguments) -> None:
    tensor = torch.tensor([0.1, -3.0], dtype=arguments["dtype"], requires_grad=True)
    result = function(tensor)
    assert result.dtype == torch.float32
    assert torch.equal(result, tensor.float())


def lets_gradient_pass(function: Function, arguments: Arguments) -> None:
    tensor = torch.tensor([0.1, -3.0], dtype=arguments["dtype"], requires_grad=True)
    assert function(tensor).requires_grad


def lets_no_gradient_pass(function: Function, arguments: Arguments) -> None:
    tensor = torch.tensor([0.1, -3.0], dtype=arguments["dtype"], requires_grad=True)
    assert not function(tensor).requires_grad
    assert not function(2.0 * tensor).requires_grad


DTYPES = st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64])
LAWS = [
    Law(
        function=at_least_float32,
        arguments=st.fixed_dictionaries({"dtype": DTYPES}),
        check=widens_half_types_alone,
    )
] + [
    Law(function=function, arguments=st.fixed_dictionaries({"dtype": DTYPES}), check=check)
    for function, check in (
        (in_float32, gives_float32),
        (in_float32, lets_gradient_pass),
        (constant, gives_float32),
        (constant, lets_no_gradient_pass),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
