"""How the database writes a moment.

Invariant: UTC, fixed width, so that comparing texts compares moments.
"""

from datetime import UTC, datetime


def to_column(moment: datetime) -> str:
    """`moment` as stored. It must know its time zone; ValueError otherwise."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone cannot be stored")
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_column(text: str) -> datetime:
    """The moment that a column holds, in UTC."""
    return datetime.fromisoformat(text)
