"""Settings that are fine alone and contradict each other together."""

from collections.abc import Iterator

import attrs

from oakemu_rl.config.ppo import PPOExperimentConfiguration


@attrs.frozen(kw_only=True)
class Contradiction:
    """Settings that contradict each other, first the one to change; `problem` is for the user."""

    paths: tuple[str, ...]
    problem: str


def contradictions(configuration: PPOExperimentConfiguration) -> Iterator[Contradiction]:
    """All contradictions of a configuration."""
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
