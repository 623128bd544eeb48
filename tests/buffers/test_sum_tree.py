"""The sum tree against plain sums: what it finds, its total and its smallest, after any changes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oakemu_rl.buffers.sum_tree import SumTree

WIDE = 200_000
"""Leaves enough for a level between the blocks of leaves and the top."""
QUIETLY = settings(deadline=None, derandomize=True, max_examples=60)


def tree_of(weights: list[float] | np.ndarray) -> SumTree:
    tree = SumTree(len(weights))
    there = np.flatnonzero(weights)
    tree.assign(there, np.asarray(weights, dtype=np.float64)[there])
    return tree


def found(tree: SumTree, masses: list[float] | np.ndarray) -> list[int]:
    return tree.find(np.asarray(masses, dtype=np.float64))[0].tolist()


def test_masses_fall_into_the_leaves_laid_end_to_end() -> None:
    tree = tree_of([1.0, 1.0, 1.0])
    assert found(tree, [0.5, 1.5, 2.5]) == [0, 1, 2]
    assert found(tree, [0.0, 1.0, 2.0, math.nextafter(3.0, 0.0)]) == [0, 1, 2, 2]
    assert tree.find(np.array([2.5]))[1].tolist() == [1.0]


def test_the_last_leaf_is_found_as_often_as_its_weight_says() -> None:
    tree = tree_of([1.0, 1.0, 1.0, 97.0])
    leaves = found(tree, np.random.default_rng(0).random(100_000) * tree.total)
    assert leaves.count(3) / 100_000 == pytest.approx(0.97, abs=0.01)


def test_a_mass_of_the_total_or_beyond_finds_the_last_leaf_that_is_there() -> None:
    for weights in ([0, 2.0, 0, 3.0, 0, 0], [0.0] * 40 + [0.1] * 3 + [0.0] * 60):
        tree = tree_of(weights)
        last = int(np.flatnonzero(weights)[-1])
        assert found(tree, [tree.total, 2 * tree.total]) == [last, last]


def test_a_leaf_of_weight_nothing_is_never_found() -> None:
    generator = np.random.default_rng(0)
    weights = np.where(generator.random(WIDE) < 0.5, generator.random(WIDE) ** 8 + 1e-12, 0.0)
    weights[-5_000:] = 0.0
    tree = tree_of(weights)
    edges = np.cumsum(weights)
    near = np.concatenate((edges, np.nextafter(edges, 0.0), np.nextafter(edges, np.inf)))
    assert np.all(weights[found(tree, near)] > 0.0)


def test_a_wide_tree_finds_what_one_cumulative_sum_finds() -> None:
    generator = np.random.default_rng(1)
    weights = generator.integers(0, 5, WIDE).astype(np.float64)
    tree = tree_of(weights)
    masses = generator.integers(0, int(weights.sum()), 5_000) + 0.5
    expected = np.cumsum(weights).searchsorted(masses, side="right")
    assert found(tree, masses) == expected.tolist()
    assert tree.total == weights.sum()


def test_no_rounding_piles_up() -> None:
    generator = np.random.default_rng(2)
    weights = generator.random(1_000) * 1e9
    tree = tree_of(weights)
    for _ in range(2_000):
        leaves = generator.integers(0, 1_000, 10)
        weights[leaves] = generator.random(10) * 10.0 ** generator.integers(-9, 9)
        tree.assign(leaves, weights[leaves])
    fresh = tree_of(weights)
    assert tree.total == fresh.total
    assert tree.smallest == fresh.smallest


CHANGES = st.lists(
    st.tuples(
        st.lists(st.integers(0, 69), min_size=0, max_size=6),
        st.sampled_from([0.0, 1e-12, 0.25, 1.0, 3.0, 1e6]),
    ),
    max_size=30,
)


@QUIETLY
@given(changes=CHANGES)
def test_total_smallest_and_finds_are_those_of_a_plain_array(
    changes: list[tuple[list[int], float]],
) -> None:
    tree, weights = SumTree(70), np.zeros(70)
    for leaves, weight in changes:
        if weight:
            tree.assign(np.array(leaves, dtype=np.int64), weight)
        else:
            tree.remove(np.array(leaves, dtype=np.int64))
        weights[leaves] = weight
        assert tree.smallest == weights[weights > 0].min(initial=math.inf)
    assert tree.values(np.arange(70)).tolist() == weights.tolist()
    assert tree.total == pytest.approx(weights.sum())
    if weights.any():
        masses = (np.cumsum(weights) - weights / 2)[weights > 0.1 * weights.max()]
        assert found(tree, masses) == np.flatnonzero(weights > 0.1 * weights.max()).tolist()


def test_many_changes_may_wait() -> None:
    tree = SumTree(100)
    for leaf in range(100):
        for _ in range(20):
            tree.assign(np.array([leaf]), 1.0 + leaf)
    assert (tree.total, tree.smallest) == (5050.0, 1.0)


@pytest.mark.parametrize("capacity", [1, 3, 16, 17, 65_536, 65_537, WIDE])
def test_the_size_that_is_told_is_the_size_that_is_taken(capacity: int) -> None:
    assert SumTree.size_bytes(capacity) == SumTree(capacity).nbytes


def test_an_empty_tree_finds_nothing() -> None:
    tree = SumTree(5)
    assert (tree.total, tree.smallest) == (0.0, math.inf)
    with pytest.raises(ValueError, match="no leaf has a weight above 0"):
        found(tree, [0.0])
    with pytest.raises(ValueError, match="capacity must be at least 1, got 0"):
        SumTree(0)
