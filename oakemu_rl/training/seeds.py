"""Seeds of test episodes."""

from oakemu_rl.core.seeding import derive_seed


def episode_seeds(seed: int, test: str, count: int) -> list[int]:
    """The seeds of `count` episodes of the test of this name; no two tests share any."""
    return [derive_seed(seed, test, index) for index in range(count)]
