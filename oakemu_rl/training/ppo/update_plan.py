"""Which updates a rollout calls for, in which order. How one is done is in `minibatch_update`."""

from collections.abc import Iterator

import attrs
import torch

from oakemu_rl.buffers.rollout import RolloutBuffer
from oakemu_rl.config.ppo import PPOExperimentConfiguration
from oakemu_rl.core.minibatches import BehaviorCloningMinibatch, RolloutMinibatch
from oakemu_rl.core.ports import BCSampler
from oakemu_rl.core.weighting import Phase


@attrs.frozen(kw_only=True, eq=False)
class CalibrateValues:
    """Update the value head alone."""

    minibatch: RolloutMinibatch


@attrs.frozen(kw_only=True, eq=False)
class UpdateModel:
    """Update the whole model on either minibatch or on both."""

    on_policy: RolloutMinibatch | None
    demonstrated: BehaviorCloningMinibatch | None


PlannedUpdate = CalibrateValues | UpdateModel


@attrs.frozen(kw_only=True, eq=False)
class UpdatePlan:
    """The updates of the buffer's selected rollout.

        on-policy rows, training     `ppo_epochs` epochs, each minibatch beside a demonstrated one
        on-policy rows, bootstrap    `ppo_epochs` epochs of the value head alone, then cloning
        replayed rows alone          one epoch of cloning

    Demonstrated rows are the rollout's own replayed rows, else the sampler's; they are drawn only
    if the cloning loss has a weight. In the bootstrap the rollout's own are cloned for one epoch;
    a sampler, which has no epochs, gives as many minibatches as the value head had.
    """

    config: PPOExperimentConfiguration
    buffer: RolloutBuffer
    sampler: BCSampler | None
    generator: torch.Generator

    def updates(self, *, phase: Phase, cloning_weight: float) -> Iterator[PlannedUpdate]:
        """The updates in order, each made when it is asked for."""
        cloned = cloning_weight > 0.0
        if self.buffer.on_policy_rows == 0:
            yield from self._cloning(self._replayed() if cloned else iter(()))
        elif phase is Phase.BOOTSTRAP:
            calibrated = 0
            for minibatch in self._on_policy():
                calibrated += 1
                yield CalibrateValues(minibatch=minibatch)
            if self.buffer.replayed_rows > 0:
                demonstrated = self._replayed()
            else:
                demonstrated = self._sampled(calibrated)
            yield from self._cloning(demonstrated if cloned else iter(()))
        else:
            companions = self._companions() if cloned else iter(())
            for minibatch in self._on_policy():
                yield UpdateModel(on_policy=minibatch, demonstrated=next(companions, None))

    def _cloning(self, minibatches: Iterator[BehaviorCloningMinibatch]) -> Iterator[PlannedUpdate]:
        for minibatch in minibatches:
            yield UpdateModel(on_policy=None, demonstrated=minibatch)

    def _on_policy(self) -> Iterator[RolloutMinibatch]:
        return self.buffer.on_policy_minibatches(
            self.config.optimisation.minibatch_size,
            epochs=self.config.optimisation.ppo_epochs,
            generator=self.generator,
        )

    def _replayed(self) -> Iterator[BehaviorCloningMinibatch]:
        return self.buffer.replayed_minibatches(
            self.config.cloning.minibatch_size, generator=self.generator
        )

    def _companions(self) -> Iterator[BehaviorCloningMinibatch]:
        if self.buffer.replayed_rows > 0:
            while True:
                yield from self._replayed()
        yield from self._sampled(None)

    def _sampled(self, count: int | None) -> Iterator[BehaviorCloningMinibatch]:
        drawn = 0
        while self.sampler is not None and drawn != count:
            minibatch = self.sampler.sample(
                self.config.cloning.minibatch_size, generator=self.generator
            )
            if minibatch is None:
                return
            drawn += 1
            yield minibatch
