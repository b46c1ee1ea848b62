"""Sees that the process ends in time once it was told to stop.

Invariant: the time is counted once, from the signal to the end of the process, whatever its stages
are given, and also where the event loop no longer turns. Nothing is lost by it: the database
survives it like a power cut, and replies that were not marked are marked at the next start.
"""

import logging
import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

log = logging.getLogger(__name__)

WHOLE = 9.0
"""Seconds from the signal to the end; who sent it waits ten."""

_TO_LOG = 0.2
"""Seconds: whoever blocks the process may hold the log as well."""


class Deadline:
    """Ends the process with `end` so many seconds after `begin`, unless it has ended by then."""

    def __init__(self, seconds: float = WHOLE, *, end: Callable[[int], None] = os._exit) -> None:
        self._seconds = seconds
        self._end = end
        # Begun from within a signal handler, which must neither wait for a lock nor start a thread.
        self._begun = SimpleQueue[None]()
        threading.Thread(target=self._watch, name="leaving", daemon=True).start()

    def begin(self) -> None:
        """Count from now on, or go on counting."""
        self._begun.put(None)

    def _watch(self) -> None:
        self._begun.get()
        time.sleep(self._seconds)
        told = threading.Thread(target=self._tell, daemon=True)
        told.start()
        told.join(_TO_LOG)
        self._end(1)

    def _tell(self) -> None:
        log.error(
            "Not everything had ended %g s after the bot was told to stop; it ends now. Replies "
            "that were left are marked at the next start.",
            self._seconds,
        )
