"""Settings of DQN that contradict each other; those of PPO are in `test_loading`."""

import pytest

from oakemu_rl.config.combinations import contradictions
from oakemu_rl.config.dqn import (
    DQNExperimentConfiguration,
    DQNLossOptions,
    DQNModelOptions,
    DQNOptimisationOptions,
    ReplayOptions,
    ShapingOptions,
)
from oakemu_rl.config.loading import load_configuration
from oakemu_rl.core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("configuration", "paths"),
    [
        (
            DQNExperimentConfiguration(
                optimisation=DQNOptimisationOptions(batch_size=33),
                replay=ReplayOptions(warm_up_steps=32),
            ),
            ("optimisation.batch_size", "replay.warm_up_steps"),
        ),
        (
            DQNExperimentConfiguration(replay=ReplayOptions(capacity=999)),
            ("replay.warm_up_steps", "replay.capacity"),
        ),
        (
            DQNExperimentConfiguration(model=DQNModelOptions(value_min=1.0, value_max=1.0)),
            ("model.value_min", "model.value_max"),
        ),
        (
            DQNExperimentConfiguration(shaping=ShapingOptions(novelty_weight=0.1)),
            ("shaping.novelty_weight", "shaping.novelty_values"),
        ),
        (
            DQNExperimentConfiguration(shaping=ShapingOptions(novelty_values=("room",))),
            ("shaping.novelty_values", "shaping.novelty_weight"),
        ),
    ],
)
def test_a_contradiction_names_all_its_settings(
    configuration: DQNExperimentConfiguration, paths: tuple[str, ...]
) -> None:
    (found,) = contradictions(configuration)
    assert found.paths == paths
    assert all(path in found.problem for path in paths[1:])


def test_a_batch_larger_than_the_capacity_is_told_besides() -> None:
    configuration = DQNExperimentConfiguration(
        optimisation=DQNOptimisationOptions(batch_size=65),
        replay=ReplayOptions(capacity=64, warm_up_steps=64),
    )
    assert [found.paths[1] for found in contradictions(configuration)] == [
        "replay.warm_up_steps",
        "replay.capacity",
    ]


def test_numbers_on_the_bounds_and_other_combinations_are_fine() -> None:
    fine = DQNExperimentConfiguration(
        optimisation=DQNOptimisationOptions(batch_size=64),
        replay=ReplayOptions(capacity=64, warm_up_steps=64),
        model=DQNModelOptions(atoms=2, value_min=0.0, value_max=0.5),
        loss=DQNLossOptions(kind="mse", huber_delta=2.0),
        shaping=ShapingOptions(novelty_weight=0.1, novelty_values=("room",)),
    )
    assert list(contradictions(fine)) == []
    assert list(contradictions(DQNExperimentConfiguration())) == []


def test_a_contradiction_is_refused_with_its_sources_and_the_way_out() -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_configuration(DQNExperimentConfiguration, overrides={"optimisation.batch_size": 2_000})
    assert str(caught.value) == (
        "--optimisation.batch-size, defaults: optimisation.batch_size: 2000 rows are more than "
        "the 1000 steps of replay.warm_up_steps, after which the first update is due; lower "
        "optimisation.batch_size or raise replay.warm_up_steps to 2000 or more"
    )
