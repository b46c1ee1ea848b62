"""Leaves an endpoint alone that does not answer, and tries it again in time.

Invariant: after so many failures in a row within a window nothing is sent until a back-off is
over; then one request tries, and the rest wait for how it ends. One that succeeds ends it all.

A failure is an answer that did not come, or a 5xx. What else a server says shows that it is there.
A rate limit that names a time is obeyed as one.
"""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from providers.base import EndpointError, RateLimited, Unavailable

FAILURES = 3
"""Failures in a row after which an endpoint rests."""

WITHIN = 300.0
"""Seconds that they may lie apart, the first and the last."""

FIRST_REST = 30.0
LONGEST_REST = 600.0
"""Seconds of the back-off: the first, doubled after each trial that fails, up to the longest."""


class Resting(Unavailable):
    """Nothing was sent: the endpoint has failed lately, or is `limited`. `seconds` are left."""

    def __init__(self, seconds: float, *, limited: bool = False) -> None:
        why = "has too many requests at the moment" if limited else "has not answered lately"
        super().__init__(
            f"The model server {why}. It is tried again {in_words(seconds)}.",
            remedy="The log tells what it said before. A fallback endpoint (/config endpoints, "
            "VERBATIM_FALLBACKS) would answer meanwhile.",
        )
        self.seconds = seconds


class Breaker:
    """Of one endpoint, for all who use it. `clock` gives seconds that only go forward."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: list[float] = []
        self._rest = FIRST_REST
        self._until = 0.0
        self._tripped = False
        self._trying = False
        self._limited = False

    def check(self) -> None:
        """Raises Resting if a request would have to wait for the back-off. One that only waits
        for the end of a trial does better to wait in line."""
        if left := self.resting:
            raise Resting(left, limited=self._limited)

    @property
    def resting(self) -> float | None:
        """Seconds until the next request may go; 0 while one tries, None where nothing is held."""
        left = self._until - self._clock()
        if left > 0:
            return left
        return 0.0 if self._trying else None

    @property
    def failed_ago(self) -> float | None:
        """Seconds since the latest failure; None where none was, or it has answered since."""
        return self._clock() - self._failures[-1] if self._failures else None

    @contextmanager
    def request(self) -> Generator[None]:
        """Around one request. Entering raises Resting."""
        left = self.resting
        if left is not None:
            raise Resting(left, limited=self._limited)
        trial = self._trying = self._tripped
        try:
            yield
        except Unavailable:
            self._failed()
            raise
        except RateLimited as error:
            self._worked()
            if error.retry_after:
                self._limited = True
                self._until = self._clock() + min(error.retry_after, LONGEST_REST)
            raise
        except EndpointError:
            self._worked()
            raise
        except BaseException:
            raise  # whoever left early has learnt nothing
        else:
            self._worked()
        finally:
            if trial:
                self._trying = False

    def _failed(self) -> None:
        now = self._clock()
        self._failures = [at for at in self._failures if now - at <= WITHIN] + [now]
        if self._tripped:
            self._rest = min(self._rest * 2, LONGEST_REST)
        elif len(self._failures) < FAILURES:
            return
        self._tripped = True
        self._until = now + self._rest

    def _worked(self) -> None:
        self._failures.clear()
        self._rest = FIRST_REST
        self._until = 0.0
        self._tripped = self._limited = False


def in_words(seconds: float) -> str:
    """When something happens that is so many seconds away."""
    if seconds < 1:
        return "in a moment"
    if seconds <= 90:
        whole = math.ceil(seconds)
        return "in 1 second" if whole == 1 else f"in {whole} seconds"
    return f"in {math.ceil(seconds / 60)} minutes"
