"""The Protocols through which packages that do not import each other meet."""

from collections.abc import Mapping
from typing import Protocol

import torch

from oakemu_rl.core.minibatches import BehaviorCloningMinibatch

EventDetail = str | int | float | bool | None
"""What may be told of an event beside its kind and step."""


class MetricsWriter(Protocol):
    """Takes named numbers at an environment step. Called from any thread."""

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        """Record `values` at `env_steps`."""

    def close(self) -> None:
        """Flush and release what is held."""


class EventLog(Protocol):
    """Takes what happened, as data. Called from any thread."""

    def record(self, kind: str, /, *, env_steps: int, **details: EventDetail) -> None:
        """Record that an event of this kind happened at `env_steps`."""


class TesterSignal(Protocol):
    """Tells the tester that newer weights are there to be tested."""

    def notify(self, *, env_steps: int) -> None:
        """The learner has finished an update at `env_steps`."""


class BCSampler(Protocol):
    """The learner's own source of demonstrated rows for behaviour cloning."""

    def sample(self, rows: int, *, generator: torch.Generator) -> BehaviorCloningMinibatch | None:
        """Up to `rows` demonstrated rows, on any device; None where there is nothing to clone."""
