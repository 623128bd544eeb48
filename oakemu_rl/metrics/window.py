"""The most recent episodes: a bounded history of returns and lengths, and its means."""

from collections import deque
from threading import Lock

from oakemu_rl.metrics.names import EPISODE_LENGTH_MEAN, EPISODE_RETURN_MEAN


class EpisodeWindow:
    """The last `size` finished episodes. Safe to use from several threads."""

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"size must be at least 1, got {size}")
        self._lock = Lock()
        self._episodes: deque[tuple[float, int]] = deque(maxlen=size)

    def add(self, *, episode_return: float, length: int) -> None:
        """A finished episode: its undiscounted return, and its length in environment steps."""
        episode = (float(episode_return), int(length))
        with self._lock:
            self._episodes.append(episode)

    def __len__(self) -> int:
        """Episodes in the window."""
        return len(self._episodes)

    def values(self) -> dict[str, float]:
        """Mean return and mean length by metric name; empty before the first episode."""
        with self._lock:
            episodes = tuple(self._episodes)
        if not episodes:
            return {}
        count = len(episodes)
        return {
            EPISODE_RETURN_MEAN: sum(episode_return for episode_return, _ in episodes) / count,
            EPISODE_LENGTH_MEAN: sum(length for _, length in episodes) / count,
        }
