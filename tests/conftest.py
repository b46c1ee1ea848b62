"""How property tests draw their examples.

Invariant: two runs over the same tree try the same examples and judge none by the clock, so that a
run fails for what was changed, not for luck or a busy machine. `make search` draws new ones.
"""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "search", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
