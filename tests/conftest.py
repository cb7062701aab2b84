"""Settings of all tests, and small corpora."""

from hypothesis import HealthCheck, settings

# Time is not tested: the first example compiles kernels, and machines are busy.
settings.register_profile(
    "neardup", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
settings.load_profile("neardup")
