"""Wrong versions of weights, phases, transitions and cadences."""

from typing import Any

from oakemu_rl import core
from oakemu_rl.core import cadence
from property_tests.laws import mutant_of


@mutant_of(core.loss_weights)
def entropy_stays_in_the_bootstrap(configuration: Any, *, step: int, phase: Any) -> Any:
    right = core.loss_weights(configuration, step=step, phase=phase)
    entropy = configuration.loss.entropy_weight.value(step)
    return core.LossWeights(
        policy=right.policy,
        value=right.value,
        entropy=entropy,
        behaviour_cloning=right.behaviour_cloning,
    )


@mutant_of(core.loss_weights)
def cloning_never_decays(configuration: Any, *, step: int, phase: Any) -> Any:
    right = core.loss_weights(configuration, step=step, phase=phase)
    return core.LossWeights(
        policy=right.policy,
        value=right.value,
        entropy=right.entropy,
        behaviour_cloning=configuration.cloning.bootstrap_weight,
    )


@mutant_of(core.loss_weights)
def schedules_stand_still(configuration: Any, *, phase: Any, **_step: Any) -> Any:
    return core.loss_weights(configuration, step=0, phase=phase)


@mutant_of(core.loss_weights)
def unknown_phase_is_training(configuration: Any, *, step: int, phase: Any) -> Any:
    known = phase if phase in tuple(core.Phase) else core.Phase.TRAINING
    return core.loss_weights(configuration, step=step, phase=known)


@mutant_of(core.learning_phase)
def bootstrap_one_step_longer(*, step: int, bootstrap_steps: int) -> core.Phase:
    return core.Phase.BOOTSTRAP if step <= bootstrap_steps else core.Phase.TRAINING


@mutant_of(core.advance)
def illegal_signal_ignored(phase: core.SlotPhase, signal: core.SlotSignal) -> core.SlotPhase:
    return core.TRANSITIONS.get((phase, signal), phase)


@mutant_of(core.advance)
def learner_is_abandoned(phase: core.SlotPhase, signal: core.SlotSignal) -> core.SlotPhase:
    if signal is core.SlotSignal.ABANDON and phase is core.SlotPhase.LEARNING:
        return core.SlotPhase.FREE
    return core.advance(phase, signal)


@mutant_of(core.advance)
def published_twice(phase: core.SlotPhase, signal: core.SlotSignal) -> core.SlotPhase:
    if signal is core.SlotSignal.PUBLISH and phase is core.SlotPhase.PUBLISHED:
        return phase
    return core.advance(phase, signal)


@mutant_of(core.checkpoint_due)
def due_on_exact_multiples(*, env_steps: int, last_env_steps: int, every_steps: int) -> bool:
    cadence.checkpoint_due(
        env_steps=env_steps, last_env_steps=last_env_steps, every_steps=every_steps
    )
    return env_steps % every_steps == 0


@mutant_of(core.checkpoint_due)
def due_after_a_distance(*, env_steps: int, last_env_steps: int, every_steps: int) -> bool:
    cadence.checkpoint_due(
        env_steps=env_steps, last_env_steps=last_env_steps, every_steps=every_steps
    )
    return env_steps - last_env_steps >= every_steps


@mutant_of(core.checkpoint_due)
def steps_may_go_back(*, env_steps: int, last_env_steps: int, every_steps: int) -> bool:
    return env_steps // every_steps > last_env_steps // every_steps


@mutant_of(core.is_stale)
def stale_one_version_early(
    *, rollout_version: int, learner_version: int, max_staleness: int
) -> bool:
    return learner_version - rollout_version >= max_staleness


@mutant_of(core.rollouts_needed)
def last_short_rollout_left_out(total_steps: int, steps_per_rollout: int) -> int:
    return total_steps // steps_per_rollout


@mutant_of(core.rollouts_needed)
def one_rollout_more(total_steps: int, steps_per_rollout: int) -> int:
    return total_steps // steps_per_rollout + 1
