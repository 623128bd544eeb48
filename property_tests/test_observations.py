"""A lone tensor and a mapping of tensors are treated alike."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import (
    TensorSpec,
    batch_size,
    map_observations,
    observation_specs,
    observation_tensors,
)
from property_tests.laws import Arguments, Function, Law
from property_tests.mutants import law_tests
from property_tests.strategies import tensors


def reaches_every_tensor(function: Function, arguments: Arguments) -> None:
    observations = arguments["observations"]
    mapped = function(lambda tensor: tensor + 1.0, observations)
    assert isinstance(mapped, torch.Tensor) == isinstance(observations, torch.Tensor)
    before, after = observation_tensors(observations), observation_tensors(mapped)
    assert list(before) == list(after)
    assert all(torch.equal(after[name], before[name] + 1.0) for name in before)


def gives_every_tensor_a_name(function: Function, arguments: Arguments) -> None:
    observations = arguments["observations"]
    named = function(observations)
    if isinstance(observations, torch.Tensor):
        assert list(named) == ["observation"]
        assert named["observation"] is observations
    else:
        assert named == observations


def gives_every_spec_a_name(function: Function, arguments: Arguments) -> None:
    spec = arguments["spec"]
    named = function(spec)
    assert named == ({"observation": spec} if isinstance(spec, TensorSpec) else spec)


def counts_rows(function: Function, arguments: Arguments) -> None:
    assert function(arguments["observations"]) == arguments["rows"]


@st.composite
def some_observations(draw: st.DrawFn) -> dict[str, Any]:
    """A batch of vectors, or a mapping of batches."""
    rows = draw(st.integers(1, 4))
    widths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    made = {f"part {index}": draw(tensors((rows, width))) for index, width in enumerate(widths)}
    lone = made["part 0"]
    return {"observations": draw(st.sampled_from([lone, made])), "rows": rows}


@st.composite
def some_specs(draw: st.DrawFn) -> dict[str, Any]:
    """A spec, or a mapping of specs."""
    spec = TensorSpec(shape=(draw(st.integers(1, 9)),), dtype="float32")
    return {"spec": draw(st.sampled_from([spec, {"memory": spec}]))}


LAWS = [
    Law(function=function, arguments=some_observations(), check=check)
    for function, check in (
        (map_observations, reaches_every_tensor),
        (observation_tensors, gives_every_tensor_a_name),
        (batch_size, counts_rows),
    )
] + [Law(function=observation_specs, arguments=some_specs(), check=gives_every_spec_a_name)]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
