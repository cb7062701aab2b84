"""Settings of all tests."""

import os

from hypothesis import HealthCheck, settings

# Time is not tested: the first example compiles kernels, and machines are busy. What stands before a merge tries the
# same examples every time; everybody else's runs try new ones.
settings.register_profile(
    "neardup",
    deadline=None,
    max_examples=60,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("neardup")
