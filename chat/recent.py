"""Keeps what recent turns left behind, for those who ask about it.

Invariant: in memory alone, for a time and within a bound, the oldest going first.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

MOST_TURNS = 200

KEPT_FOR = 24 * 3600.0
"""Seconds."""


class Recent(Generic[T]):
    """Values of turns, the oldest first: `most` at most, for `kept_for` seconds, and no more while
    `is_full`. `dropped` is told of each that goes."""

    def __init__(
        self,
        *,
        most: int,
        kept_for: float,
        is_full: Callable[[], bool],
        dropped: Callable[[T], None],
    ) -> None:
        self._most = most
        self._kept_for = kept_for
        self._is_full = is_full
        self._dropped = dropped
        self._kept: deque[tuple[float, T]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def __iter__(self) -> Iterator[T]:
        return (value for _, value in self._kept)

    def __reversed__(self) -> Iterator[T]:
        return (value for _, value in reversed(self._kept))

    def add(self, value: T) -> None:
        """Keep a value, at the cost of the oldest ones."""
        loop = asyncio.get_running_loop()
        self._kept.append((loop.time() + self._kept_for, value))
        while self._kept and (len(self._kept) > self._most or self._is_full()):
            self._drop_oldest()
        if self._timer is None:
            self._timer = loop.call_later(self._kept_for, self._drop_old)

    def forget(self, is_meant: Callable[[T], bool]) -> None:
        """Drop those that are meant."""
        before, self._kept = self._kept, deque()
        for until, value in before:
            if is_meant(value):
                self._dropped(value)
            else:
                self._kept.append((until, value))

    def _drop_old(self) -> None:
        """Drop what is too old, and come back when the next one is."""
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._kept and self._kept[0][0] <= loop.time():
            self._drop_oldest()
        if self._kept:
            self._timer = loop.call_at(self._kept[0][0], self._drop_old)

    def _drop_oldest(self) -> None:
        _, value = self._kept.popleft()
        self._dropped(value)
