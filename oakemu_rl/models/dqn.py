"""The DQN model: the value of each action, plain, dueling, noisy or as a distribution of returns.

Targets, losses and the choice of actions are not here.
"""

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812 - torch's own convention
from torch import Tensor, nn

from oakemu_rl.config.dqn import DQNModelOptions
from oakemu_rl.core.categorical import expected_values
from oakemu_rl.core.checks import check_mask
from oakemu_rl.core.observations import ActionSpec, Observations, ObservationSpec
from oakemu_rl.core.precision import in_float32
from oakemu_rl.models.layers import HIDDEN_GAIN, linear, parameters_of
from oakemu_rl.models.noisy import NoisyLinear, draw_noise, remove_noise
from oakemu_rl.models.trunks import Trunk

OUTPUT_GAIN = 0.01
"""Small, so that the first values are nearly 0, and the first distributions nearly uniform."""


class DQNModel(nn.Module):
    """`Q = action_head(features)`, or `Q = V + A - mean over legal actions of A` if it is dueling.

    In a dueling model (Wang et al., 2016) `action_head` gives the advantages A and `value_head` V.
    A categorical model (Bellemare et al., 2017) gives, in place of Q, V and A, the logits of Z
    atoms: a distribution over the returns of `support` for each action.

    Nothing in it depends on the train or eval mode, and a forward pass changes no buffer. Under
    autocast all outputs come back in float32.

    Shapes: observations [B, ...]; features [B, F]; Q [B, A]; atom logits [B, A, Z]; support [Z].
    """

    support: Tensor | None

    def __init__(
        self,
        *,
        trunk: Trunk,
        action_head: nn.Module,
        value_head: nn.Module | None = None,
        support: Tensor | None = None,
    ) -> None:
        super().__init__()
        self.trunk = trunk
        self.action_head = action_head
        self.value_head = value_head
        self.register_buffer("support", support, persistent=False)
        self._is_plain = (
            value_head is None and support is None and isinstance(action_head, nn.Linear)
        )
        self._features = trunk.forward
        self._head_weights = parameters_of(action_head)
        self._noisy = [layer for layer in self.modules() if isinstance(layer, NoisyLinear)]

    def forward(self, observations: Observations, mask: Tensor | None = None) -> Tensor:
        """The value [B, A] of each action; that of a categorical model is its expected return.

        Args:
            observations: a batch of them.
            mask: [B, A] or [A] bool, true where an action is legal; None means that all are. It
                matters to a dueling model alone. A row that allows nothing, as after an end, counts
                as one that allows everything.

        Raises:
            TypeError: the mask is not bool.
            ValueError: an entry of the observations is missing, or a shape is wrong.
        """
        if self._is_plain:
            # As below; small networks notice the change of shape to and fro, and calls of modules.
            features = self._features(observations)
            weights = self._head_weights
            return in_float32(F.linear(features, weights["weight"], weights["bias"]))
        if self.support is None:
            return self._outputs(observations, mask).squeeze(dim=-1)
        probabilities = torch.softmax(self._outputs(observations, mask), dim=-1)
        return expected_values(probabilities=probabilities, support=self.support)

    def atom_logits(self, observations: Observations, mask: Tensor | None = None) -> Tensor:
        """The logits [B, A, Z] of a categorical model; the softmax over Z gives probabilities.

        Raises:
            ValueError: the model is not categorical; else as `forward`.
        """
        if not self.is_categorical:
            raise ValueError("atom_logits: the model is not categorical; set model.atoms to 2 up")
        return self._outputs(observations, mask)

    @property
    def is_categorical(self) -> bool:
        """Whether the model gives a distribution of returns for each action."""
        return self.support is not None

    @property
    def is_noisy(self) -> bool:
        """Whether there is a layer to draw noise for."""
        return bool(self._noisy)

    def resample_noise(self, generator: torch.Generator) -> None:
        """Draw new noise for all noisy layers from a generator of the CPU."""
        draw_noise(self._noisy, generator=generator)

    def remove_noise(self) -> None:
        """Take the noise away until it is drawn again; a new model has none."""
        remove_noise(self._noisy)

    @property
    def keeps_statistics(self) -> bool:
        """Whether `update_statistics` has anything to do."""
        return self.trunk.keeps_statistics

    def update_statistics(self, observations: Observations) -> None:
        """Let the observation normalisers, where there are any, take in a collected batch."""
        self.trunk.update_statistics(observations)

    def _outputs(self, observations: Observations, mask: Tensor | None) -> Tensor:
        """Values or logits [B, A, Z], with Z = 1 for expected values."""
        atoms = 1 if self.support is None else self.support.shape[0]
        features: Tensor = self.trunk(observations)
        outputs: Tensor = self.action_head(features).float().unflatten(-1, (-1, atoms))
        if self.value_head is None:
            return outputs
        values: Tensor = self.value_head(features).float().unsqueeze(1)
        return values + outputs - _mean_over_legal(outputs, mask)


def build_dqn_model(
    *,
    observation_spec: ObservationSpec,
    action_spec: ActionSpec,
    options: DQNModelOptions,
    generator: torch.Generator,
) -> DQNModel:
    """A model sized to the observation and the actions, with orthogonal weights.

    A head is one layer on the trunk's features. In a dueling model each of the two streams has a
    hidden layer of the features' width before it, with ReLU, whatever the trunk. If the model is
    noisy, all layers of the heads are, and the trunk is not. The support's Z atoms lie evenly from
    `value_min` to `value_max`.

    Gains are sqrt(2) for hidden layers and 0.01 for the last ones; biases are zero. A generator in
    the same state gives the same weights, and torch's global generator is left alone.
    """
    trunk = Trunk(observation_spec, options=options, generator=generator)
    layer = _layers(options, generator)

    def head(outputs: int) -> nn.Module:
        last = layer(trunk.feature_size, outputs, OUTPUT_GAIN)
        if not options.dueling:
            return last
        hidden = layer(trunk.feature_size, trunk.feature_size, HIDDEN_GAIN)
        return nn.Sequential(hidden, nn.ReLU(inplace=True), last)

    return DQNModel(
        trunk=trunk,
        action_head=head(action_spec.count * options.atoms),
        value_head=head(options.atoms) if options.dueling else None,
        support=(
            torch.linspace(options.value_min, options.value_max, options.atoms)
            if options.atoms > 1
            else None
        ),
    )


def _layers(
    options: DQNModelOptions, generator: torch.Generator
) -> Callable[[int, int, float], nn.Module]:
    """What makes a layer of a head from its inputs, outputs and gain."""

    def plain(inputs: int, outputs: int, gain: float) -> nn.Module:
        return linear(inputs, outputs, gain=gain, generator=generator)

    def noisy(inputs: int, outputs: int, gain: float) -> nn.Module:
        sigma = options.noise_sigma
        return NoisyLinear(inputs, outputs, gain=gain, sigma=sigma, generator=generator)

    return noisy if options.noisy else plain


def _mean_over_legal(advantages: Tensor, mask: Tensor | None) -> Tensor:
    """The mean [B, 1, Z] of advantages [B, A, Z] over the legal actions of each row."""
    if mask is None:
        return advantages.mean(dim=1, keepdim=True)
    check_mask("mask", mask, advantages.shape[:2])
    legal = (mask | ~mask.any(dim=-1, keepdim=True)).unsqueeze(-1)
    total = advantages.where(legal, 0.0).sum(dim=1, keepdim=True)
    return total / legal.sum(dim=-2, keepdim=True)
