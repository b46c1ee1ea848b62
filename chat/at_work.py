"""Tells in which turn something happens, to whoever writes the log.

Invariant: it costs nothing to import, and what a turn starts belongs to it too.
"""

from contextvars import ContextVar

turn_at_work: ContextVar[int | None] = ContextVar("turn_at_work", default=None)
"""The message that is being answered here; None outside of turns."""
