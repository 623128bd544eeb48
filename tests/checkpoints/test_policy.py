"""When a learner's loop tells the tester and saves."""

import pytest

from oakemu_rl.checkpoints.policy import CheckpointPolicy


class Seen:
    """Keeps what the policy asks for, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []

    def notify(self, *, env_steps: int) -> None:
        self.calls.append(("notify", env_steps))

    def save(self, env_steps: int) -> None:
        self.calls.append(("save", env_steps))

    @property
    def saved(self) -> list[int]:
        return [env_steps for what, env_steps in self.calls if what == "save"]


@pytest.mark.parametrize("rollout", [64, 100, 128, 333, 5_000])
def test_a_checkpoint_is_due_by_environment_steps_however_long_a_rollout_is(rollout: int) -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=1_000)
    updates = range(rollout, 10_001, rollout)
    for env_steps in updates:
        policy.after_update(env_steps=env_steps)
    # One save for each multiple of 1,000 that was passed, at the first update that passed it.
    expected = {-(-multiple // rollout) * rollout for multiple in range(1_000, 10_001, 1_000)}
    assert seen.saved == sorted(expected & set(updates))


def test_many_updates_in_between_save_nothing() -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=1_000)
    for env_steps in range(999):
        policy.after_update(env_steps=env_steps)
    assert seen.saved == []
    policy.after_update(env_steps=1_000)
    policy.after_update(env_steps=1_000)
    assert seen.saved == [1_000]


def test_the_tester_is_told_of_each_update_before_it_is_saved() -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=20, tester=seen)
    for env_steps in (10, 20, 30):
        policy.after_update(env_steps=env_steps)
    assert seen.calls == [("notify", 10), ("notify", 20), ("save", 20), ("notify", 30)]


def test_the_last_save_is_made_once_wherever_the_run_ended() -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=20, tester=seen)
    policy.after_update(env_steps=30)
    policy.finish(env_steps=37)
    policy.finish(env_steps=37)
    assert seen.calls == [("notify", 30), ("save", 30), ("save", 37)]


def test_to_tell_the_tester_and_to_save_can_be_asked_for_apart() -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=20, tester=seen)
    policy.notify(env_steps=50)
    assert seen.calls == [("notify", 50)]
    for env_steps in (19, 20, 21, 45, 59):
        policy.save_if_due(env_steps=env_steps)
    assert seen.calls == [("notify", 50), ("save", 20), ("save", 45)]


def test_where_there_is_no_tester_nobody_is_told() -> None:
    seen = Seen()
    policy = CheckpointPolicy(save=seen.save, every_steps=20)
    policy.notify(env_steps=20)
    policy.after_update(env_steps=20)
    assert seen.calls == [("save", 20)]
