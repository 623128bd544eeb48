"""The PPO model: two heads over a shared trunk. Losses and sampling are not here."""

import attrs
import torch
from torch import Tensor, nn

from oakemu_rl.config.options import ModelOptions
from oakemu_rl.core.observations import ActionSpec, Observations, ObservationSpec
from oakemu_rl.models.layers import linear
from oakemu_rl.models.trunks import Trunk

POLICY_GAIN = 0.01
"""Small, so that the first policy is nearly uniform."""
VALUE_GAIN = 1.0


@attrs.frozen(kw_only=True, eq=False)
class PolicyValue:
    """What the model says of a batch: logits [B, A] before any mask, values [B]; both float32."""

    logits: Tensor
    values: Tensor


class PPOModel(nn.Module):
    """`logits = policy_head(features)` and `values = value_head(features)` over one trunk.

    Nothing in it depends on the train or eval mode, and a forward pass changes no buffer. Under
    autocast the heads' outputs come back in float32.

    Shapes: observations [B, ...]; features [B, F]; logits [B, A]; values [B].
    """

    def __init__(self, *, trunk: Trunk, policy_head: nn.Linear, value_head: nn.Linear) -> None:
        super().__init__()
        self.trunk = trunk
        self.policy_head = policy_head
        self.value_head = value_head

    def forward(self, observations: Observations) -> PolicyValue:
        """Logits and values of a batch of observations."""
        features = self.features(observations)
        return PolicyValue(logits=self.logits_from(features), values=self.values_from(features))

    def features(self, observations: Observations) -> Tensor:
        """The trunk's output [B, F]."""
        features: Tensor = self.trunk(observations)
        return features

    def logits_from(self, features: Tensor) -> Tensor:
        """The policy head's output [B, A] in float32."""
        logits: Tensor = self.policy_head(features)
        return logits.float()

    def values_from(self, features: Tensor) -> Tensor:
        """The value head's output [B] in float32."""
        values: Tensor = self.value_head(features)
        return values.squeeze(dim=-1).float()

    def calibration_values(self, observations: Observations) -> Tensor:
        """Values [B] whose gradient reaches the value head alone: none flows into the features."""
        with torch.no_grad():
            features = self.features(observations)
        return self.values_from(features)

    @property
    def keeps_statistics(self) -> bool:
        """Whether `update_statistics` has anything to do."""
        return self.trunk.keeps_statistics

    def update_statistics(self, observations: Observations) -> None:
        """Let the observation normalisers, where there are any, take in a collected batch."""
        self.trunk.update_statistics(observations)


def build_ppo_model(
    *,
    observation_spec: ObservationSpec,
    action_spec: ActionSpec,
    options: ModelOptions,
    generator: torch.Generator,
) -> PPOModel:
    """A model sized to the observation and the actions, with orthogonal weights.

    Gains are sqrt(2) in the trunk, 0.01 for the policy head and 1 for the value head; biases are
    zero. A generator in the same state gives the same weights, and torch's global generator is left
    alone.
    """
    trunk = Trunk(observation_spec, options=options, generator=generator)
    return PPOModel(
        trunk=trunk,
        policy_head=linear(
            trunk.feature_size, action_spec.count, gain=POLICY_GAIN, generator=generator
        ),
        value_head=linear(trunk.feature_size, 1, gain=VALUE_GAIN, generator=generator),
    )
