"""The option records that experiments share: one record a concern, one field a setting.

Units stand in the names. What a value may be is checked when the record is made.
"""

from collections.abc import Mapping

import attrs

from oakemu_rl.config.validators import (
    as_schedule,
    device,
    each,
    number,
    one_of,
    optional,
    schedule,
)
from oakemu_rl.core.schedules import Schedule, constant

Argument = bool | int | float | str

# Beyond these a number is a slip of the hand, and would fill the memory before it failed.
MOST_ENVIRONMENTS = 4_096
MOST_FRAMES = 256
MOST_UNITS = 65_536
MOST_THREADS = 1_024


@attrs.frozen(kw_only=True)
class EnvironmentOptions:
    """What is played, and how many copies of it."""

    id: str = "acorns"
    """A game's name, the path of a game's definition file, or a Gymnasium id."""
    count: int = attrs.field(default=8, validator=number(least=1, most=MOST_ENVIRONMENTS))
    """Environments that the actor steps together, N."""
    frame_stack: int = attrs.field(default=1, validator=number(least=1, most=MOST_FRAMES))
    """Latest observations that the agent sees at once; 1 stacks nothing."""
    actions: tuple[str, ...] = ()
    """Names of the actions the agent may take; empty means all of them."""
    max_episode_steps: int | None = attrs.field(default=None, validator=optional(number(least=1)))
    """Steps after which an episode is truncated; none keeps the environment's own limit."""
    arguments: Mapping[str, Argument] = attrs.field(factory=dict)
    """Keyword arguments for the environment's constructor."""


@attrs.frozen(kw_only=True)
class ModelOptions:
    """The network: a trunk sized to the observation, with heads on top."""

    trunk: str = attrs.field(default="auto", validator=one_of("auto", "mlp", "nature", "impala"))
    """Trunk for images; auto takes nature for images. Vectors always pass through an MLP."""
    hidden_sizes: tuple[int, ...] = attrs.field(
        default=(64, 64), validator=each(number(least=1, most=MOST_UNITS))
    )
    """Widths of the MLP's layers."""
    activation: str = attrs.field(default="tanh", validator=one_of("tanh", "relu"))
    """Activation of the MLP; convolutional trunks use ReLU."""
    channel_multiplier: float = attrs.field(default=1.0, validator=number(above=0.0))
    """Factor on the channels of a convolutional trunk."""
    feature_size: int = attrs.field(default=512, validator=number(least=1, most=MOST_UNITS))
    """Width of a convolutional trunk's output."""
    normalize_observations: bool = False
    """Whether vectors are normalised by running mean and variance."""


@attrs.frozen(kw_only=True)
class EvaluationOptions:
    """How the agent is tested: from the true start, on environments of the tester's own."""

    every_steps: int = attrs.field(default=25_000, validator=number(least=1))
    episodes: int = attrs.field(default=10, validator=number(least=1))
    final_episodes: int = attrs.field(default=30, validator=number(least=1))
    """Episodes of the last test, on seeds that no other test has used."""
    environments: int = attrs.field(default=10, validator=number(least=1, most=MOST_ENVIRONMENTS))
    """Environments that the tester steps together."""
    max_episode_steps: int = attrs.field(default=20_000, validator=number(least=1))
    """Steps after which a test episode counts as it stands, so that no policy can play for ever."""
    mode: str = attrs.field(default="greedy", validator=one_of("greedy", "sampled"))
    """Whether the tester takes the likeliest action or samples."""


@attrs.frozen(kw_only=True)
class CheckpointOptions:
    """When the run is saved."""

    every_steps: int = attrs.field(default=50_000, validator=number(least=1))
    keep_last: int = attrs.field(default=3, validator=number(least=1))
    """Newest checkpoints that stay; the best one stays besides."""


@attrs.frozen(kw_only=True)
class MetricsOptions:
    """What is written down while training."""

    episode_window: int = attrs.field(default=100, validator=number(least=1))
    """Most recent episodes over which `rollout/ep_rew_mean` is taken."""
    tensorboard: bool = False
    """Whether TensorBoard files are written; needs the extra `tensorboard`."""
    console: str = attrs.field(default="auto", validator=one_of("auto", "live", "plain", "off"))
    """auto draws a live table on a terminal and plain lines elsewhere."""


@attrs.frozen(kw_only=True)
class RunOptions:
    """The run as a whole."""

    total_steps: int = attrs.field(default=1_000_000, validator=number(least=1))
    seed: int = attrs.field(default=0, validator=number(least=0, most=2**31 - 1))
    mode: str = attrs.field(default="threads", validator=one_of("threads", "lockstep"))
    """threads: actor, learner and tester overlap; lockstep: one thread, equal seeds, equal bits."""
    device: str = attrs.field(default="auto", validator=device())
    """cpu, cuda, cuda:1, mps, or auto for the best that is there."""
    torch_threads: int = attrs.field(default=0, validator=number(least=0, most=MOST_THREADS))
    """Threads inside one torch operation; 0 means 1 in threads mode, every core in lockstep."""
    folder: str | None = None
    """The run folder; none makes a new one below runs/."""
    heartbeat_seconds: float = attrs.field(default=120.0, validator=number(above=0.0))
    """A part that is silent for longer is reported by name, and the run stops."""


@attrs.frozen(kw_only=True)
class CloningOptions:
    """Behaviour cloning beside or before PPO."""

    weight: Schedule = attrs.field(
        default=constant(0.0), converter=as_schedule, validator=schedule()
    )
    """Weight of the cloning loss while training."""
    bootstrap_weight: float = attrs.field(default=1.0, validator=number(least=0.0))
    """Weight of the cloning loss in the bootstrap phase."""
    bootstrap_steps: int = attrs.field(default=0, validator=number(least=0))
    """Length of the bootstrap phase, in which the policy learns from demonstrations alone."""
    label_smoothing: float = attrs.field(default=0.0, validator=number(least=0.0, most=1.0))
    minibatch_size: int = attrs.field(default=256, validator=number(least=1))
    """Demonstrated rows in one update."""
