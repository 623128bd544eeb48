"""Actions are legal, random as often as epsilon says, and draw as many numbers whatever comes."""

from typing import Any

import torch
from hypothesis import strategies as st

from oakemu_rl.core import NoLegalActionError, epsilon_greedy_actions
from oakemu_rl.core.exploration import epsilon_greedy_choices, legal_actions
from property_tests.laws import Arguments, Function, Law, assert_raises
from property_tests.mutants import law_tests
from property_tests.references import legal_rows
from property_tests.references_of_dqn import best_legal
from property_tests.strategies import FLOAT_DTYPES, GRID, booleans, fractions, masks, tensors


def are_legal_and_come_again_from_an_equal_generator(
    function: Function, arguments: Arguments
) -> None:
    torch.manual_seed(0)
    draws = [_drawn(function, arguments, seed=seed) for seed in (1, 1, *range(2, 12))]
    assert draws[0].tolist() == draws[1].tolist(), "an equal generator gave other actions"
    assert draws[0].dtype == torch.int64
    legal = legal_rows(arguments["q_values"], arguments["mask"])
    for actions in draws:
        assert all(row[action] for action, row in zip(actions.tolist(), legal, strict=True))


def are_the_best_legal_ones_without_chance(function: Function, arguments: Arguments) -> None:
    actions = _drawn(function, {**arguments, "epsilon": 0.0})
    values = arguments["q_values"]
    legal = legal_rows(values, arguments["mask"])
    expected = [best_legal(row, fits) for row, fits in zip(values.tolist(), legal, strict=True)]
    assert actions.tolist() == expected


def draw_as_many_numbers_whatever_comes(function: Function, arguments: Arguments) -> None:
    states = []
    for epsilon, mask in ((0.0, None), (1.0, None), (arguments["epsilon"], arguments["mask"])):
        generator = torch.Generator().manual_seed(7)
        changes = {"epsilon": epsilon, "mask": mask}
        function(**{**arguments, **changes}, generator=generator)
        states.append(generator.get_state())
    assert torch.equal(states[0], states[1])
    assert torch.equal(states[0], states[2])


def are_random_as_often_as_epsilon_says(function: Function, arguments: Arguments) -> None:
    count, epsilon = 2_000, arguments["epsilon"]
    values = arguments["q_values"][:1]
    (legal,) = legal_rows(values, _first_row(arguments))
    mask = torch.tensor(legal)
    actions = _drawn(
        function,
        {"q_values": values.expand(count, -1), "mask": mask, "epsilon": epsilon},
        seed=3,
    )
    shares = torch.bincount(actions, minlength=len(legal)) / count
    best = best_legal(values[0].tolist(), legal)
    for action, share in enumerate(shares.tolist()):
        expected = epsilon / sum(legal) * legal[action] + (1.0 - epsilon) * (action == best)
        assert abs(share - expected) <= 0.06


def refuse_a_row_without_actions(function: Function, arguments: Arguments) -> None:
    mask = torch.tensor(legal_rows(arguments["q_values"], arguments["mask"]))
    mask[-1] = False
    named = f"environment {len(mask) - 1}"
    assert_raises(NoLegalActionError, named, lambda: _drawn(function, {**arguments, "mask": mask}))


def are_those_that_tensors_give(function: Function, arguments: Arguments) -> None:
    values, mask = arguments["q_values"], arguments["mask"]
    legal = legal_rows(values, mask)
    numbers = [[action for action, fits in enumerate(row) if fits] for row in legal]
    for seed in range(4):
        generator = torch.Generator().manual_seed(seed)
        draws = torch.rand(len(values), 1 + values.shape[1], generator=generator)
        chosen = function(
            q_values=values.tolist,
            draws=draws.tolist(),
            legal=None if mask is None else numbers,
            epsilon=arguments["epsilon"],
        )
        assert chosen == _drawn(epsilon_greedy_actions, arguments, seed).tolist()


def refuse_a_row_of_numbers_without_actions(function: Function, arguments: Arguments) -> None:
    values = arguments["q_values"].tolist()
    draws = [[0.5] * (1 + len(row)) for row in values]
    legal = [*([0] for _ in values[:-1]), []]

    def call() -> None:
        epsilon = arguments["epsilon"]
        function(q_values=lambda: values, draws=draws, legal=legal, epsilon=epsilon)

    assert_raises(NoLegalActionError, f"environment {len(values) - 1}: none", call)


def are_not_asked_for_values_that_do_not_matter(function: Function, arguments: Arguments) -> None:
    rows, actions = arguments["q_values"].shape
    draws = [[0.5] + [0.25] * actions] * rows
    asked = []

    def values() -> list[list[float]]:
        asked.append(1)
        return [[0.0] * actions] * rows

    function(q_values=values, draws=draws, epsilon=arguments["epsilon"])
    assert bool(asked) == (arguments["epsilon"] <= 0.5)


def are_those_that_the_mask_allows(function: Function, arguments: Arguments) -> None:
    mask = torch.tensor(legal_rows(arguments["q_values"], arguments["mask"]))
    found = function(mask)
    assert [sorted(row) for row in found] == found
    assert [[place in row for place in range(mask.shape[1])] for row in found] == mask.tolist()


def refuse_a_mask_that_allows_nothing(function: Function, arguments: Arguments) -> None:
    mask = torch.tensor(legal_rows(arguments["q_values"], arguments["mask"]))
    mask[-1] = False
    assert_raises(NoLegalActionError, f"environment {len(mask) - 1}", lambda: function(mask))


def _drawn(function: Function, arguments: Arguments, seed: int = 1) -> torch.Tensor:
    actions: torch.Tensor = function(**arguments, generator=torch.Generator().manual_seed(seed))
    return actions


def _first_row(arguments: Arguments) -> torch.Tensor | None:
    mask = arguments["mask"]
    return mask if mask is None or mask.dim() == 1 else mask[:1]


@st.composite
def choices(draw: st.DrawFn) -> dict[str, Any]:
    """Values, some of them infinite, and a mask or None."""
    rows, actions = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    elements = st.one_of(GRID, GRID, st.sampled_from([-torch.inf, torch.inf]))
    return {
        "q_values": draw(tensors((rows, actions), elements, draw(st.sampled_from(FLOAT_DTYPES)))),
        "mask": draw(masks(rows, actions)) if draw(booleans) else None,
        "epsilon": draw(fractions),
    }


LAWS = [
    Law(function=epsilon_greedy_actions, arguments=choices(), check=check)
    for check in (
        are_legal_and_come_again_from_an_equal_generator,
        are_the_best_legal_ones_without_chance,
        draw_as_many_numbers_whatever_comes,
        are_random_as_often_as_epsilon_says,
        refuse_a_row_without_actions,
    )
] + [
    Law(function=function, arguments=choices(), check=check)
    for function, check in (
        (epsilon_greedy_choices, are_those_that_tensors_give),
        (epsilon_greedy_choices, refuse_a_row_of_numbers_without_actions),
        (epsilon_greedy_choices, are_not_asked_for_values_that_do_not_matter),
        (legal_actions, are_those_that_the_mask_allows),
        (legal_actions, refuse_a_mask_that_allows_nothing),
    )
]

test_the_law_holds, test_a_law_notices_the_mutant = law_tests(LAWS)
