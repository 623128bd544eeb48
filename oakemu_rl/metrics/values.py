"""Which values a record may hold. The one check that every writer applies."""

from collections.abc import Mapping
from numbers import Integral, Real

from oakemu_rl.metrics.names import ENV_STEPS


def checked_values(values: Mapping[str, float]) -> dict[str, int | float]:
    """`values` as plain numbers.

    Only numbers pass, so that no record keeps a tensor, and with it a graph, alive. NaN and
    infinities pass: they are what one looks for when a run fails.

    Raises:
        TypeError: a value is a tensor, a bool, or anything else that is not a number.
        ValueError: a value is called `env_steps`, the key of the step itself.
    """
    if ENV_STEPS in values:
        raise ValueError(f"no metric may be called {ENV_STEPS!r}: it is the key of the step")
    return {name: _plain_number(name, value) for name, value in values.items()}


def _plain_number(name: str, value: object) -> int | float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(
            f"metric {name!r} must be a plain number, got {type(value).__name__}; "
            "pass float(value), or value.item() for a tensor"
        )
    return int(value) if isinstance(value, Integral) else float(value)
