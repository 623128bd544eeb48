"""Seeds of the parts of a run, derived from the run's one seed.

Each part asks for its own stream by name, so that adding a part, or building another environment,
moves no other part's numbers.
"""

import hashlib


def derive_seed(seed: int, role: str, index: int = 0) -> int:
    """A seed in [0, 2^31) for part `role` number `index` of the run with this `seed`.

    The first 31 bits of BLAKE2b over the three values: equal inputs give equal seeds on every
    machine, and a change of any of them gives an unrelated one.

    Raises:
        ValueError: `seed` or `index` is negative.
    """
    if seed < 0 or index < 0:
        raise ValueError(f"seed and index must not be negative, got seed={seed}, index={index}")
    digest = hashlib.blake2b(f"{seed}/{role}/{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 33
