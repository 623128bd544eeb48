"""Settings that are fine alone and contradict each other together."""

from collections.abc import Iterator

import attrs

from oakemu_rl.config.algorithms import ExperimentConfiguration
from oakemu_rl.config.dqn import DQNExperimentConfiguration
from oakemu_rl.config.ppo import PPOExperimentConfiguration


@attrs.frozen(kw_only=True)
class Contradiction:
    """Settings that contradict each other, first the one to change; `problem` is for the user."""

    paths: tuple[str, ...]
    problem: str


def contradictions(configuration: ExperimentConfiguration) -> Iterator[Contradiction]:
    """All contradictions of a configuration."""
    if isinstance(configuration, PPOExperimentConfiguration):
        yield from _in_rollouts(configuration)
    else:
        yield from _in_replay(configuration)
        yield from _in_model(configuration)
        yield from _in_shaping(configuration)


def _in_rollouts(configuration: PPOExperimentConfiguration) -> Iterator[Contradiction]:
    steps, count = configuration.rollout.steps, configuration.environment.count
    size, rows = configuration.optimisation.minibatch_size, steps * count
    if size > rows:
        yield Contradiction(
            paths=("optimisation.minibatch_size", "rollout.steps", "environment.count"),
            problem=(
                f"{size} rows are more than the {rows} of a rollout (rollout.steps {steps} x "
                f"environment.count {count}); lower optimisation.minibatch_size to {rows} or less, "
                f"or raise rollout.steps or environment.count"
            ),
        )


def _in_replay(configuration: DQNExperimentConfiguration) -> Iterator[Contradiction]:
    rows, replay = configuration.optimisation.batch_size, configuration.replay
    if rows > replay.warm_up_steps:
        yield Contradiction(
            paths=("optimisation.batch_size", "replay.warm_up_steps"),
            problem=(
                f"{rows} rows are more than the {replay.warm_up_steps} steps of "
                f"replay.warm_up_steps, after which the first update is due; lower "
                f"optimisation.batch_size or raise replay.warm_up_steps to {rows} or more"
            ),
        )
    if rows > replay.capacity:
        yield Contradiction(
            paths=("optimisation.batch_size", "replay.capacity"),
            problem=(
                f"{rows} rows are more than the {replay.capacity} steps of replay.capacity; lower "
                f"optimisation.batch_size or raise replay.capacity"
            ),
        )
    if replay.warm_up_steps > replay.capacity:
        yield Contradiction(
            paths=("replay.warm_up_steps", "replay.capacity"),
            problem=(
                f"{replay.warm_up_steps} steps are more than the {replay.capacity} of "
                f"replay.capacity, so the first of them would be lost unlearned; lower "
                f"replay.warm_up_steps or raise replay.capacity"
            ),
        )


def _in_model(configuration: DQNExperimentConfiguration) -> Iterator[Contradiction]:
    least, greatest = configuration.model.value_min, configuration.model.value_max
    if least >= greatest:
        yield Contradiction(
            paths=("model.value_min", "model.value_max"),
            problem=(
                f"the least return {least} is not below the greatest, model.value_max "
                f"{greatest}; lower model.value_min or raise model.value_max"
            ),
        )


def _in_shaping(configuration: DQNExperimentConfiguration) -> Iterator[Contradiction]:
    shaping = configuration.shaping
    if shaping.novelty_weight > 0.0 and not shaping.novelty_values:
        yield Contradiction(
            paths=("shaping.novelty_weight", "shaping.novelty_values"),
            problem=(
                f"got {shaping.novelty_weight}, but shaping.novelty_values names no value whose "
                f"novelty would count; name one or set shaping.novelty_weight to 0"
            ),
        )
    if shaping.novelty_values and shaping.novelty_weight == 0.0:
        yield Contradiction(
            paths=("shaping.novelty_values", "shaping.novelty_weight"),
            problem=(
                f"names {', '.join(shaping.novelty_values)}, but shaping.novelty_weight is 0; "
                f"raise it or leave out shaping.novelty_values"
            ),
        )
