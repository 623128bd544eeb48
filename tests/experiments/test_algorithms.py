"""The algorithms by name."""

import pytest

from oakemu_rl.core.errors import RunFolderError
from oakemu_rl.experiments.algorithms import ALGORITHMS, find_algorithm


def test_each_is_found_by_its_name() -> None:
    assert {name: find_algorithm(name).name for name in ALGORITHMS} == {n: n for n in ALGORITHMS}


def test_an_unknown_one_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(RunFolderError, match="'sarsa' is unknown; allowed is ppo"):
        find_algorithm("sarsa")
