"""A sliding window for each member, and a wider one for the guild."""

from prompt.values import Rate
from tools.rates import GUILD_SHARE, RateLimiter

RATE = Rate(calls=2, seconds=60.0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_window_slides_and_a_refused_call_does_not_count() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)

    def take() -> float:
        return limiter.take("draw", RATE, guild_id=1, member_id=5)

    assert take() == 0
    clock.now += 30
    assert take() == 0
    clock.now += 10
    assert [take(), take()] == [20, 20]
    clock.now += 20
    assert take() == 0
    assert take() == 30


def test_members_tools_and_guilds_have_windows_of_their_own() -> None:
    limiter = RateLimiter(Clock())
    for _ in range(2):
        assert limiter.take("draw", RATE, guild_id=1, member_id=5) == 0
    assert limiter.take("draw", RATE, guild_id=1, member_id=5) == 60
    assert limiter.take("draw", RATE, guild_id=1, member_id=6) == 0
    assert limiter.take("draw", RATE, guild_id=2, member_id=5) == 0
    assert limiter.take("roll", RATE, guild_id=1, member_id=5) == 0


def test_a_guild_as_a_whole_is_bounded_and_direct_messages_are_not() -> None:
    limiter = RateLimiter(Clock())
    members = range(1, 2 * GUILD_SHARE + 2)
    waits = [limiter.take("draw", RATE, guild_id=1, member_id=member) for member in members]
    assert waits == [0] * (2 * GUILD_SHARE) + [60]
    waits = [limiter.take("draw", RATE, guild_id=0, member_id=member) for member in members]
    assert set(waits) == {0}


def test_windows_that_are_over_are_forgotten() -> None:
    clock = Clock()
    limiter = RateLimiter(clock)
    for member in range(5000):
        limiter.take("draw", RATE, guild_id=0, member_id=member)
        clock.now += 61
    assert len(limiter._calls) < 1000  # pyright: ignore[reportPrivateUsage]
