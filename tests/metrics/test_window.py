"""The window of recent episodes."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from oakemu_rl.metrics.window import EpisodeWindow


def test_means_are_taken_over_the_latest_episodes_only() -> None:
    window = EpisodeWindow(2)
    for episode_return, length in ((100.0, 7), (1.0, 10), (4.0, 20)):
        window.add(episode_return=episode_return, length=length)
    assert window.values() == {"rollout/ep_rew_mean": 2.5, "rollout/ep_len_mean": 15.0}
    assert len(window) == 2


def test_before_the_first_episode_there_is_nothing_to_tell() -> None:
    window = EpisodeWindow(5)
    assert window.values() == {}
    assert len(window) == 0


def test_a_hundred_thousand_episodes_leave_the_window_no_longer() -> None:
    window = EpisodeWindow(100)
    for number in range(100_000):
        window.add(episode_return=number, length=1)
    assert len(window) == 100
    assert window.values()["rollout/ep_rew_mean"] == sum(range(99_900, 100_000)) / 100


def test_no_episode_is_lost_where_several_threads_add() -> None:
    window = EpisodeWindow(10_000)

    def add_many(_: int) -> None:
        for _ in range(1_000):
            window.add(episode_return=1.0, length=2)
            window.values()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add_many, range(4)))
    assert len(window) == 4_000


def test_a_window_of_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="size must be at least 1, got 0"):
        EpisodeWindow(0)
