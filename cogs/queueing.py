"""Decides whose message is answered next in a channel.

Invariant: members take turns in the order of their first waiting message; one member's messages
keep their order. Nobody's many messages make another wait for all of them.
"""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Waiting items of one channel, by member."""

    def __init__(self) -> None:
        self._waiting: dict[int, deque[T]] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, member_id: int, item: T) -> None:
        """Let `item` wait."""
        self._waiting.setdefault(member_id, deque()).append(item)

    def take(self) -> T:
        """Remove and return what is next. IndexError if nothing waits."""
        if not self._waiting:
            raise IndexError("nothing waits")
        member_id = next(iter(self._waiting))
        items = self._waiting.pop(member_id)
        item = items.popleft()
        if items:
            self._waiting[member_id] = items
        return item
