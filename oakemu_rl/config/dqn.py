"""The configuration of a DQN experiment, Rainbow's parts included."""

from collections.abc import Mapping

import attrs

from oakemu_rl.config.options import (
    CheckpointOptions,
    EnvironmentOptions,
    EvaluationOptions,
    MetricsOptions,
    ModelOptions,
    RunOptions,
)
from oakemu_rl.config.validators import (
    as_schedule,
    each_entry,
    number,
    one_of,
    optional,
    schedule,
)
from oakemu_rl.core.schedules import Schedule, constant, linear

# Beyond these a number is a slip of the hand, and would fill the memory before it failed.
MOST_ATOMS = 1_001
MOST_ITEMS = 1_000_000_000
MOST_ROWS = 1_048_576
MOST_WINDOW_STEPS = 100


@attrs.frozen(kw_only=True)
class DQNModelOptions(ModelOptions):
    """The network, and what its heads say of each action."""

    dueling: bool = False
    """Whether an action's value is the state's plus the action's advantage, from two streams."""
    noisy: bool = False
    """Whether the heads have noisy weights, which explore by themselves."""
    noise_sigma: float = attrs.field(default=0.5, validator=number(above=0.0, most=100.0))
    """Size of the noise at first; a layer divides it by the square root of its inputs."""
    atoms: int = attrs.field(default=1, validator=number(least=1, most=MOST_ATOMS))
    """1: expected values; 2 and more: a distribution over so many returns for each action."""
    value_min: float = attrs.field(default=-10.0, validator=number())
    """Least return of a distribution."""
    value_max: float = attrs.field(default=10.0, validator=number())
    """Greatest return of a distribution."""


@attrs.frozen(kw_only=True)
class ReplayOptions:
    """How experience is stored, drawn, and turned into returns."""

    kind: str = attrs.field(default="uniform", validator=one_of("uniform", "prioritised"))
    capacity: int = attrs.field(default=100_000, validator=number(least=2, most=MOST_ITEMS))
    """Steps that are kept, of all environments together; the oldest make room."""
    n_step: int = attrs.field(default=1, validator=number(least=1, most=MOST_WINDOW_STEPS))
    """Rewards in one return before it goes on with the target network's value."""
    gamma: float = attrs.field(default=0.99, validator=number(least=0.0, most=1.0))
    """Discount per environment step."""
    warm_up_steps: int = attrs.field(default=1_000, validator=number(least=0, most=MOST_ITEMS))
    """Environment steps before the first update."""
    priority_exponent: float = attrs.field(default=0.6, validator=number(least=0.0, most=1.0))
    """How far priorities rule the drawing: 0 draws uniformly, 1 in proportion to the error."""
    priority_epsilon: float = attrs.field(default=1e-6, validator=number(above=0.0))
    """Added to an error, so that what is predicted well can still be drawn."""
    importance_exponent: Schedule = attrs.field(
        default=linear(0.4, 1.0, steps=100_000), converter=as_schedule, validator=schedule(most=1.0)
    )
    """How far weights in the loss undo the preference of priorities: 0 not at all, 1 in full."""
    compression: str = attrs.field(default="none", validator=one_of("none", "zstd"))
    """zstd keeps frames compressed: less memory for pictures, more for a few numbers, and slower
    drawing; needs the extra `zstd`."""


@attrs.frozen(kw_only=True)
class DQNOptimisationOptions:
    """How weights move."""

    learning_rate: Schedule = attrs.field(
        default=constant(1e-4), converter=as_schedule, validator=schedule()
    )
    batch_size: int = attrs.field(default=32, validator=number(least=1, most=MOST_ROWS))
    """Rows of one update."""
    steps_per_update: float = attrs.field(default=4.0, validator=number(above=0.0))
    """Environment steps to one update, of all environments together; 0.5 makes two a step."""
    target_update_every: int = attrs.field(default=1_000, validator=number(least=1))
    """Updates between two of the target network."""
    target_update_rate: float = attrs.field(default=1.0, validator=number(above=0.0, most=1.0))
    """1 copies the weights to the target network; less mixes this share of them in (Polyak)."""
    max_gradient_norm: float = attrs.field(default=10.0, validator=number(above=0.0))
    adam_epsilon: float = attrs.field(default=1e-8, validator=number(above=0.0))
    precision: str = attrs.field(
        default="float32", validator=one_of("float32", "bfloat16", "float16")
    )
    """Type of the forward pass; float16 uses a gradient scaler."""
    max_bad_updates: int = attrs.field(default=10, validator=number(least=1))
    """Updates in a row skipped for a loss or gradient that is not finite, before the run stops."""
    max_lag_updates: int = attrs.field(default=100, validator=number(least=1))
    """Updates that the learner may be behind before the actor waits for it."""


@attrs.frozen(kw_only=True)
class DQNLossOptions:
    """The loss of one update. A distribution of returns has the cross-entropy instead."""

    kind: str = attrs.field(default="huber", validator=one_of("huber", "mse"))
    huber_delta: float = attrs.field(default=1.0, validator=number(above=0.0))
    """Error from which the Huber loss grows linearly."""
    double: bool = True
    """Whether the online network picks the next action, and the target network values it."""


@attrs.frozen(kw_only=True)
class ExplorationOptions:
    """How often a random action is taken."""

    epsilon: Schedule = attrs.field(
        default=linear(1.0, 0.05, steps=50_000), converter=as_schedule, validator=schedule(most=1.0)
    )
    """Probability of a random legal action."""
    test_epsilon: float = attrs.field(default=0.05, validator=number(least=0.0, most=1.0))
    """The same in tests whose `evaluation.mode` is sampled."""


@attrs.frozen(kw_only=True)
class ShapingOptions:
    """What is done to rewards before they are learned from; the replay keeps them raw."""

    scale: float = attrs.field(default=1.0, validator=number(above=0.0))
    """Factor on every reward."""
    clip: float | None = attrs.field(default=None, validator=optional(number(above=0.0)))
    """Bound on a reward's magnitude; none leaves rewards as they are."""
    sign: bool = False
    """Whether a reward counts by its sign alone."""
    normalize: bool = False
    """Whether rewards are divided by their running standard deviation."""
    potential: Mapping[str, float] = attrs.field(factory=dict, validator=each_entry(number()))
    """Weight of each named value of the environment in the potential that shapes rewards."""
    novelty_weight: float = attrs.field(default=0.0, validator=number(least=0.0))
    """Bonus for a state seen for the first time; it falls with the root of the visits."""
    novelty_values: tuple[str, ...] = ()
    """Named values of the environment that tell states apart when visits are counted."""


@attrs.frozen(kw_only=True)
class DQNExperimentConfiguration:
    """All that a DQN run is made from. Paths of fields are those of the file and of the flags."""

    environment: EnvironmentOptions = attrs.field(factory=EnvironmentOptions)
    model: DQNModelOptions = attrs.field(factory=DQNModelOptions)
    replay: ReplayOptions = attrs.field(factory=ReplayOptions)
    optimisation: DQNOptimisationOptions = attrs.field(factory=DQNOptimisationOptions)
    loss: DQNLossOptions = attrs.field(factory=DQNLossOptions)
    exploration: ExplorationOptions = attrs.field(factory=ExplorationOptions)
    shaping: ShapingOptions = attrs.field(factory=ShapingOptions)
    evaluation: EvaluationOptions = attrs.field(factory=EvaluationOptions)
    checkpoints: CheckpointOptions = attrs.field(factory=CheckpointOptions)
    metrics: MetricsOptions = attrs.field(factory=MetricsOptions)
    run: RunOptions = attrs.field(factory=RunOptions)
