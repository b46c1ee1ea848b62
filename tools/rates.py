"""Counts how often members call tools, and says when the next call may be.

Invariant: a sliding window; a call that is refused does not count. A guild as a whole may call a
tool GUILD_SHARE times as often as one member.
"""

from collections import deque
from collections.abc import Callable

from prompt.values import Rate

GUILD_SHARE = 4

_SWEEP = 512
"""Windows after which those that are over are dropped."""


class RateLimiter:
    """The calls of this process. `clock` tells seconds, and never goes back."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._calls: dict[tuple[str, int, int], deque[float]] = {}
        self._longest = 0.0
        self._sweep_at = _SWEEP

    def take(self, tool: str, rate: Rate, *, guild_id: int, member_id: int) -> float:
        """Count a call of a member, in a guild or with guild 0 in direct messages. Returns 0, or
        the seconds until it may be tried again, and then nothing was counted."""
        now = self._clock()
        own = self._window((tool, guild_id, member_id), now, rate.seconds)
        windows = [(own, rate.calls)]
        if guild_id:
            whole = self._window((tool, guild_id, 0), now, rate.seconds)
            windows.append((whole, rate.calls * GUILD_SHARE))
        full = [window for window, most in windows if len(window) >= most]
        if full:
            return max(window[0] for window in full) + rate.seconds - now
        for window, _ in windows:
            window.append(now)
        return 0.0

    def _window(self, key: tuple[str, int, int], now: float, seconds: float) -> deque[float]:
        self._longest = max(self._longest, seconds)
        if key not in self._calls and len(self._calls) >= self._sweep_at:
            since = now - self._longest
            self._calls = {
                k: calls for k, calls in self._calls.items() if calls and calls[-1] > since
            }
            self._sweep_at = max(_SWEEP, 2 * len(self._calls))
        window = self._calls.setdefault(key, deque())
        while window and window[0] <= now - seconds:
            window.popleft()
        return window
