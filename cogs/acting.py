"""Remembers who is acting while a command, control or form of an admin is served.

Invariant: it holds for the work that the interaction started and for nothing else; nothing is
decided by it.
"""

from contextvars import ContextVar

ACTING: ContextVar[int | None] = ContextVar("acting", default=None)
"""The id of whoever acts; None where the bot does by itself."""
