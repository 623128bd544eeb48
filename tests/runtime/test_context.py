"""What the parts of a run share."""

import attrs
import pytest
import torch

from oakemu_rl.runtime.context import RuntimeContext


def test_a_context_needs_no_more_than_a_configuration() -> None:
    context = RuntimeContext(config="anything")
    assert (context.config, context.device, context.seed) == ("anything", torch.device("cpu"), 0)
    assert not context.stop_event.is_set()
    context.metrics.write(env_steps=1, values={"train/loss": 1.0})
    context.events.record("checkpoint", env_steps=1, folder="step-000000001")
    context.metrics.close()


def test_two_contexts_share_no_stop_event_and_none_can_be_changed() -> None:
    one, other = RuntimeContext(config=0), RuntimeContext(config=0)
    one.stop_event.set()
    assert not other.stop_event.is_set()
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        one.seed = 1  # type: ignore[misc]
