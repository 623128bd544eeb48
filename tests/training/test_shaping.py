"""Shaping: worked values of each shaper, their order, and shapers of a user's own."""

from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor

from oakemu_rl.checkpoints.plain import from_json, to_json
from oakemu_rl.config.dqn import ShapingOptions
from oakemu_rl.training.shaping import (
    Clip,
    Normalize,
    Novelty,
    Potential,
    RewardShaper,
    RewardShapingPipeline,
    RewardWindows,
    Scale,
    Sign,
    reward_shaping,
)


def windows(
    *rewards: list[float],
    lengths: list[int] | None = None,
    terminated: list[bool] | None = None,
    gamma: float = 0.5,
    **values: list[list[float]],
) -> RewardWindows:
    """Windows of these rewards, full and without an end unless given."""
    count, width = len(rewards), len(rewards[0])
    return RewardWindows(
        rewards=torch.tensor(rewards),
        lengths=torch.tensor(lengths or [width] * count),
        terminated=torch.tensor(terminated or [False] * count),
        values={name: torch.tensor(numbers) for name, numbers in values.items()},
        gamma=gamma,
    )


def shaped(windows: RewardWindows, *shapers: RewardShaper) -> list[list[float]]:
    made: list[list[float]] = RewardShapingPipeline(shapers).shape(windows).tolist()
    return made


def test_scale_clip_and_sign() -> None:
    given = windows([1.0, -3.0], [0.0, 0.25])
    assert shaped(given, Scale(2.0)) == [[2.0, -6.0], [0.0, 0.5]]
    assert shaped(given, Clip(0.5)) == [[0.5, -0.5], [0.0, 0.25]]
    assert shaped(given, Sign()) == [[1.0, -1.0], [0.0, 1.0]]
    assert shaped(given) == given.rewards.tolist()


def test_shapers_are_applied_in_their_order() -> None:
    given = windows([1.0, -3.0])
    assert shaped(given, Scale(2.0), Clip(1.5)) == [[1.5, -1.5]]
    assert shaped(given, Clip(1.5), Scale(2.0)) == [[2.0, -3.0]]


def test_rewards_are_divided_by_the_deviation_of_all_that_were_drawn() -> None:
    shaper = Normalize()
    # Of 1 and 3 it is 1; of 1, 3, 5 and 7 the root of 5. Behind a length there are no rewards.
    assert shaped(windows([1.0, 3.0]), shaper) == [[1.0, 3.0]]
    given = windows([5.0, 0.0], [7.0, 0.0], lengths=[1, 1])
    root = 5**0.5
    assert shaped(given, shaper) == [
        [pytest.approx(5.0 / root), 0.0],
        [pytest.approx(7.0 / root), 0.0],
    ]
    assert shaper.state()["count"] == 4


def test_equal_rewards_are_not_blown_up() -> None:
    assert shaped(windows([1.0, 1.0]), Normalize()) == [[1.0, 1.0]]


def test_a_potential_adds_its_discounted_gain_and_counts_as_0_at_a_true_end() -> None:
    # The potential is 2x - y.
    values: dict[str, Any] = {"x": [[1.0, 2.0, 4.0]] * 3, "y": [[0.0, 1.0, 0.0]] * 3}
    given = windows(
        [1.0, 1.0], [1.0, 1.0], [1.0, 0.0],
        lengths=[2, 2, 1], terminated=[False, True, True], **values,
    )  # fmt: skip
    assert shaped(given, Potential({"x": 2.0, "y": -1.0})) == [
        [1.0 + 0.5 * 3.0 - 2.0, 1.0 + 0.5 * 8.0 - 3.0],
        [1.0 + 0.5 * 3.0 - 2.0, 1.0 - 3.0],
        [1.0 - 2.0, 0.0],
    ]


def test_novelty_falls_with_the_root_of_how_often_a_state_was_drawn() -> None:
    shaper = Novelty(weight=1.0, value_names=["room"])
    root = 2**-0.5
    given = windows([0.0, 5.0], [0.0, 0.0], lengths=[2, 1], room=[[0.0, 7.0, 8.0], [1.0, 7.0, 9.0]])
    assert shaped(given, shaper) == [[1.0, 6.0], [pytest.approx(root), 0.0]]
    # Where the window begins is no step, nor is what lies behind its length.
    again = windows([0.0, 0.0], room=[[0.0, 9.0, 0.0]])
    assert shaped(again, shaper) == [[1.0, 1.0]]
    fourth = windows([0.0, 0.0], room=[[0.0, 7.0, 7.0]])
    assert shaped(fourth, shaper) == [[pytest.approx(3**-0.5), 0.5]]


def test_novelty_tells_states_apart_by_all_its_values_together() -> None:
    shaper = Novelty(weight=2.0, value_names=["x", "y"])
    given = windows([0.0, 0.0], x=[[0.0, 1.0, 1.0]], y=[[0.0, 1.0, 2.0]])
    assert shaped(given, shaper) == [[2.0, 2.0]]


class Doubled:
    """A user's own."""

    value_names = ("speed", "x")

    def shape(self, windows: RewardWindows) -> Tensor:
        return windows.rewards * 2 + windows.values["speed"][:, 1:]


class Misshapen:
    def shape(self, windows: RewardWindows) -> Tensor:
        return windows.rewards.sum(dim=1)


class Counting:
    """Keeps how often it was asked."""

    def __init__(self) -> None:
        self.count = 0

    def shape(self, windows: RewardWindows) -> Tensor:
        self.count += 1
        return windows.rewards

    def state(self) -> dict[str, Any]:
        return {"count": self.count}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.count = state["count"]


def test_a_users_small_class_works_beside_the_others() -> None:
    given = windows([1.0, 3.0], speed=[[9.0, 0.5, -0.5]])
    assert shaped(given, Doubled(), Clip(3.0)) == [[2.5, 3.0]]
    assert given.rewards.tolist() == [[1.0, 3.0]]


def test_a_wrong_shape_is_refused_with_the_name_of_the_class() -> None:
    with pytest.raises(
        ValueError, match=r"^Misshapen.shape: expected rewards of shape \(1, 2\), got \(1,\)$"
    ):
        shaped(windows([1.0, 3.0]), Sign(), Misshapen())


def test_the_values_that_are_read_are_listed_once_each() -> None:
    pipeline = RewardShapingPipeline(
        [
            Scale(2.0),
            Potential({"x": 1.0, "y": 2.0}),
            Doubled(),
            Novelty(weight=1.0, value_names=["y"]),
        ]
    )
    assert pipeline.value_names == ("x", "y", "speed")
    assert RewardShapingPipeline([Sign()]).value_names == ()


def test_shapers_that_would_read_no_value_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^weights: a potential needs the weight of one named"):
        Potential({})
    with pytest.raises(ValueError, match=r"^value_names: novelty needs one named value at least"):
        Novelty(weight=1.0, value_names=[])


def test_statistics_go_through_a_file_and_on_from_there() -> None:
    def pipeline() -> RewardShapingPipeline:
        return RewardShapingPipeline(
            [Scale(2.0), Normalize(), Novelty(weight=1.0, value_names=["room"]), Counting()]
        )

    def batch(seed: int) -> RewardWindows:
        random = torch.Generator().manual_seed(seed)
        rooms = torch.randint(3, (6, 4), generator=random).float()
        rewards = torch.randn(6, 3, generator=random)
        return windows(*rewards.tolist(), room=rooms.tolist())

    one, other = pipeline(), pipeline()
    for seed in range(3):
        one.shape(batch(seed))
    state = one.state()
    assert list(state) == ["1", "2", "3"]
    other.restore(from_json(to_json(state, place="shaping"), source="state.json"))
    assert other.state() == state
    assert torch.equal(one.shape(batch(9)), other.shape(batch(9)))
    assert not torch.equal(pipeline().shape(batch(9)), other.shape(batch(9)))


def test_the_options_make_the_shapers_in_their_order() -> None:
    assert reward_shaping(ShapingOptions()) is None
    options = ShapingOptions(
        scale=10.0,
        clip=5.0,
        sign=True,
        normalize=True,
        potential={"x": 1.0},
        novelty_weight=1.0,
        novelty_values=("room",),
    )
    pipeline = reward_shaping(options)
    assert pipeline is not None
    assert pipeline.value_names == ("x", "room")
    # 0.2 is scaled to 2, 0.9 to 9 and cut to 5; by sign both are 1, and stay so; then the gain of
    # the potential and the bonus of a new state are added.
    given = windows([0.2, 0.9], x=[[0.0, 2.0, 0.0]], room=[[0.0, 1.0, 2.0]])
    assert pipeline.shape(given).tolist() == [[1.0 + 1.0 + 1.0, 1.0 - 2.0 + 1.0]]
    assert set(pipeline.state()) == {"3", "5"}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        (ShapingOptions(scale=0.5), [[0.5, -1.5]]),
        (ShapingOptions(clip=2.0), [[1.0, -2.0]]),
        (ShapingOptions(sign=True), [[1.0, -1.0]]),
        (ShapingOptions(normalize=True), [[0.5, -1.5]]),
        (ShapingOptions(scale=3.0, clip=4.0), [[3.0, -4.0]]),
    ],
)
def test_each_option_works_alone(options: ShapingOptions, wanted: list[list[float]]) -> None:
    pipeline = reward_shaping(options)
    assert pipeline is not None
    assert pipeline.shape(windows([1.0, -3.0])).tolist() == wanted
