"""Projected distributions keep mass and mean, and agree with a slow walk over their atoms."""

import math
from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import (
    atoms_of_actions,
    categorical_loss,
    categorical_projection,
    expected_values,
    rows_outside_support,
)
from property_tests import references_of_dqn as references
from property_tests.laws import Arguments, Function, Law, assert_close, assert_raises
from property_tests.mutants import law_tests
from property_tests.strategies import INTEGER_DTYPES, booleans, flags, grid, tensors


def agrees_with_the_slow_walk(function: Function, arguments: Arguments) -> None:
    result = function(**arguments)
    assert result.dtype == torch.float32
    assert_close(result, references.projection(**arguments))


def keeps_the_mass_and_where_it_can_the_mean(function: Function, arguments: Arguments) -> None:
    result, support = function(**arguments), arguments["support"]
    assert_close(result.sum(dim=1), [1.0] * len(result))
    assert (result >= 0.0).all()
    for row, wanted in enumerate(_means(arguments)):
        discount = float(arguments["discounts"][row])
        ends = [float(arguments["rewards"][row]) + discount * float(support[i]) for i in (0, -1)]
        if all(support[0] <= end <= support[-1] for end in ends):
            assert_close(references.mean(result[row].tolist(), support), wanted, tolerance=1e-3)


def is_detached(function: Function, arguments: Arguments) -> None:
    leaves = {name: value.clone().requires_grad_() for name, value in arguments.items()}
    assert not function(**leaves).requires_grad


def refuses_an_uneven_support(function: Function, arguments: Arguments) -> None:
    support = arguments["support"].clone()
    support[-1] += 0.25
    backward = arguments["support"].flip(0)
    for wrong in (support, backward) if len(support) > 2 else (backward,):
        changed = {**arguments, "support": wrong}
        assert_raises(ValueError, "support: ", lambda given=changed: function(**given))


def counts_means_beyond_the_ends(function: Function, arguments: Arguments) -> None:
    support = arguments["support"]
    slack = 1e-3 * float(support[1] - support[0])
    low, high = float(support[0]) - slack, float(support[-1]) + slack
    means = _means(arguments)
    if all(min(abs(mean - low), abs(mean - high)) > 1e-5 for mean in means):
        result = function(**arguments)
        assert result.item() == sum(not low <= mean <= high for mean in means)
        assert result.dtype == torch.int64


def are_the_slow_means(function: Function, arguments: Arguments) -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = function(**arguments)
    assert result.dtype == torch.float32
    support = arguments["support"]
    assert_close(
        result,
        [
            [references.mean(atoms, support) for atoms in row]
            for row in arguments["probabilities"].tolist()
        ],
        tolerance=1e-3,
    )


def are_those_of_each_action(function: Function, arguments: Arguments) -> None:
    atoms, actions = arguments["atoms"].clone().requires_grad_(), arguments["actions"]
    result = function(atoms=atoms, actions=actions)
    rows = list(enumerate(actions.tolist()))
    assert result.tolist() == [atoms[row, action].tolist() for row, action in rows]
    result.sum().backward()
    expected = torch.zeros_like(atoms)
    for row, action in rows:
        expected[row, action] = 1.0
    assert atoms.grad is not None
    assert torch.equal(atoms.grad, expected)


def is_the_slow_cross_entropy(function: Function, arguments: Arguments) -> None:
    logits = arguments["logits"].clone().requires_grad_()
    targets = arguments["targets"].clone().requires_grad_()
    log_probabilities = logits.log_softmax(dim=1)
    result = function(log_probabilities=log_probabilities, targets=targets)
    pairs = zip(arguments["targets"].tolist(), log_probabilities.tolist(), strict=True)
    assert_close(
        result,
        [
            -math.fsum(mass * log for mass, log in zip(*pair, strict=True) if mass > 0.0)
            for pair in pairs
        ],
    )
    result.sum().backward()
    assert targets.grad is None
    assert logits.grad is not None
    assert_close(logits.grad, (logits.softmax(dim=1) - targets).tolist())


def _means(arguments: Arguments) -> list[float]:
    """The mean of each row's target before it is put onto the atoms."""
    means = []
    for reward, discount, row in zip(
        arguments["rewards"].tolist(),
        arguments["discounts"].tolist(),
        arguments["next_probabilities"].tolist(),
        strict=True,
    ):
        later = references.mean(row, arguments["support"]) if discount != 0.0 else 0.0
        means.append(reward + discount * later)
    return means


@st.composite
def supports(draw: st.DrawFn) -> torch.Tensor:
    """Evenly spaced atoms, many of them numbers that have to be rounded."""
    low, gap, count = draw(grid(8)), draw(st.integers(1, 16)) / 8, draw(st.integers(2, 6))
    scale = draw(st.sampled_from([1.0, 0.1, 1 / 3]))
    return torch.tensor([scale * (low + gap * index) for index in range(count)])


@st.composite
def distributions(draw: st.DrawFn, shape: tuple[int, ...]) -> torch.Tensor:
    """Probabilities along the last dimension, some of them 0."""
    weights = draw(tensors(shape, st.integers(0, 4)))
    weights[..., 0] += (weights.sum(dim=-1) == 0.0).float()
    return weights / weights.sum(dim=-1, keepdim=True)


@st.composite
def moved_distributions(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `categorical_projection`; behind a true end probabilities are NaN at times."""
    rows, support = draw(st.integers(1, 4)), draw(supports())
    dead = draw(flags((rows,)))
    discounts = draw(tensors((rows,), st.sampled_from([0.5, 0.9, 1.0])))
    discounts[dead] = 0.0
    probabilities = draw(distributions((rows, len(support))))
    if draw(booleans):
        probabilities[dead] = torch.nan
    return {
        "rewards": draw(tensors((rows,), grid(draw(st.sampled_from([1, 20]))))),
        "discounts": discounts,
        "next_probabilities": probabilities,
        "support": support,
    }


@st.composite
def distributions_of_actions(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `expected_values`."""
    support = draw(supports())
    shape = (draw(st.integers(1, 3)), draw(st.integers(1, 3)), len(support))
    return {"probabilities": draw(distributions(shape)), "support": support}


@st.composite
def atoms_and_actions(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of `atoms_of_actions`."""
    rows, actions, atoms = (draw(st.integers(1, 3)) for _ in range(3))
    dtype = draw(st.sampled_from(INTEGER_DTYPES))
    return {
        "atoms": draw(tensors((rows, actions, atoms))),
        "actions": draw(tensors((rows,), st.integers(0, actions - 1), dtype)),
    }


@st.composite
def learned_distributions(draw: st.DrawFn) -> dict[str, Any]:
    """Logits, some so far apart that probabilities are 0 where the targets are as well."""
    rows, atoms = draw(st.integers(1, 3)), draw(st.integers(2, 4))
    targets, logits = draw(distributions((rows, atoms))), draw(tensors((rows, atoms), grid(4)))
    if draw(booleans):
        logits[targets == 0.0] = -torch.inf
    return {"logits": logits, "targets": targets}


LAWS = [
    Law(function=function, arguments=arguments, check=check)
    for function, arguments, check in (
        (categorical_projection, moved_distributions(), agrees_with_the_slow_walk),
        (categorical_projection, moved_distributions(), keeps_the_mass_and_where_it_can_the_mean),
        (categorical_projection, moved_distributions(), is_detached),
        (categorical_projection, moved_distributions(), refuses_an_uneven_support),
        (rows_outside_support, moved_distributions(), counts_means_beyond_the_ends),
        (rows_outside_support, moved_distributions(), refuses_an_uneven_support),
        (expected_values, distributions_of_actions(), are_the_slow_means),
        (atoms_of_actions, atoms_and_actions(), are_those_of_each_action),
        (categorical_loss, learned_distributions(), is_the_slow_cross_entropy),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
