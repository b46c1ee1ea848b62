"""Rate limits of REST: by bucket, and over all requests.

Invariant: a bucket's window is fixed and opens with its first request, as clients that read
the headers expect; a refused request is not counted.
"""

import hashlib
import time
from collections import deque
from dataclasses import dataclass

from tests.loopback.discord_server.limits import Bucket, Limits

UNLISTED = Bucket(requests=50, seconds=1.0)
GLOBAL_WINDOW = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """What a bucket says to a request: the headers of the answer, and how long to wait, if so."""

    headers: dict[str, str]
    retry_after: float | None


class RateLimits:
    """Counts requests."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._windows: dict[tuple[str, str], deque[float]] = {}
        self._all: deque[float] = deque()

    def take(self, bucket: str, resource: str) -> Ticket:
        """Count a request in a bucket of one resource: a channel, a guild or a webhook."""
        limit = self._limits.buckets.get(bucket, UNLISTED)
        window = self._windows.setdefault((bucket, resource), deque())
        now = time.monotonic()
        if window and now >= window[0] + limit.seconds:
            window.clear()
        full = len(window) >= limit.requests
        if not full:
            window.append(now)
        reset_after = max(0.0, window[0] + limit.seconds - now)
        digest = hashlib.md5(bucket.encode(), usedforsecurity=False).hexdigest()
        headers = {
            "X-RateLimit-Limit": str(limit.requests),
            "X-RateLimit-Bucket": digest,
            "X-RateLimit-Remaining": str(limit.requests - len(window)),
            "X-RateLimit-Reset-After": f"{reset_after:.3f}",
            "X-RateLimit-Reset": f"{time.time() + reset_after:.3f}",
        }
        return Ticket(headers=headers, retry_after=reset_after if full else None)

    def take_global(self) -> float | None:
        """Count a request among all; returns the seconds to wait if there were too many."""
        now = time.monotonic()
        while self._all and now - self._all[0] > GLOBAL_WINDOW:
            self._all.popleft()
        if len(self._all) >= self._limits.requests_per_second:
            return round(GLOBAL_WINDOW - (now - self._all[0]), 3)
        self._all.append(now)
        return None
