"""The hypothesis profiles: `quick` unless `--hypothesis-profile deep` is given."""

from hypothesis import HealthCheck, settings

# A busy machine must not fail a test: nothing here is about time.
_UNHURRIED = (HealthCheck.too_slow,)

settings.register_profile(
    "quick",
    deadline=None,
    derandomize=True,
    max_examples=50,
    suppress_health_check=_UNHURRIED,
)
settings.register_profile(
    "deep", deadline=None, max_examples=2_000, suppress_health_check=_UNHURRIED
)
settings.load_profile("quick")
