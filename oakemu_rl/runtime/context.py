"""What the parts of one run share."""

import threading
from collections.abc import Mapping
from typing import Generic, TypeVar

import attrs
import torch

from oakemu_rl.core.ports import EventDetail, EventLog, MetricsWriter

ConfigT_co = TypeVar("ConfigT_co", covariant=True)


class _Silent:
    """Writes nothing: for parts that are used outside an experiment."""

    def write(self, *, env_steps: int, values: Mapping[str, float]) -> None:
        pass

    def record(self, kind: str, /, *, env_steps: int, **details: EventDetail) -> None:
        pass

    def close(self) -> None:
        pass


@attrs.frozen(kw_only=True, eq=False)
class RuntimeContext(Generic[ConfigT_co]):
    """The shared runtime context: configuration, device, seed, outlets, and the signal to stop."""

    config: ConfigT_co
    device: torch.device = attrs.field(factory=lambda: torch.device("cpu"))
    seed: int = 0
    metrics: MetricsWriter = attrs.field(factory=_Silent)
    events: EventLog = attrs.field(factory=_Silent)
    stop_event: threading.Event = attrs.field(factory=threading.Event)
