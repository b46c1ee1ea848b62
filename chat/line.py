"""Lets a bounded number of tasks through at once, the rest in a fair order.

Invariant: a ticket waits, holds one slot, or neither; leaving by any way, cancellation included,
gives its slot or its place to the next at once.

Fairness goes by lane, a path such as (guild, channel). While anyone of a guild waits, no other
guild is served twice; likewise for the channels of one guild; within a lane, first come.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeAlias, TypeVar

T = TypeVar("T")

Lane: TypeAlias = tuple[int, ...]
"""Whose turn it is, outermost share first. All lanes of one line have the same length."""

MOST_SERVED = 10_000
"""Shares of whom it is known when they were served. Others count as never served: nothing but who
comes first among those that wait goes by it."""

_ORDINALS = (
    "next",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def place_in_words(position: int) -> str:
    """A place in a line, counted from 1: next, second, third; from the eleventh on as a number."""
    return _ORDINALS[position - 1] if position <= len(_ORDINALS) else f"number {position}"


class FairLine(Generic[T]):
    """What waits. Iterating gives the order in which `take` would serve it if nothing came.

    Without arrivals nobody moves back. An arrival moves those of other outermost shares back by
    one place at most, and nobody who waits in its own lane.
    """

    def __init__(self) -> None:
        self._waiting: dict[Lane, deque[T]] = {}
        self._served: dict[Lane, int] = {}
        self._takes = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def __iter__(self) -> Iterator[T]:
        line = FairLine[T]()
        line._waiting = {lane: deque(items) for lane, items in self._waiting.items()}
        line._served = dict(self._served)
        line._takes = self._takes
        while line:
            yield line.take()

    def add(self, lane: Lane, item: T) -> None:
        """Let `item` wait."""
        self._waiting.setdefault(lane, deque()).append(item)

    def next(self) -> T:
        """What `take` would return. ValueError if nothing waits."""
        return self._waiting[self._next_lane()][0]

    def take(self) -> T:
        """Remove and return what is next. ValueError if nothing waits."""
        lane = self._next_lane()
        item = self._waiting[lane][0]
        self.remove(lane, item)
        self._takes += 1
        for share in _shares(lane):
            self._served[share] = self._takes
        if len(self._served) > MOST_SERVED:
            latest = sorted(self._served.items(), key=lambda each: each[1])[MOST_SERVED // 2 :]
            self._served = dict(latest)
        return item

    def remove(self, lane: Lane, item: T) -> None:
        """Let `item` wait no longer, if it does."""
        items = self._waiting.get(lane, deque[T]())
        if item in items:
            items.remove(item)
        if not items:
            self._waiting.pop(lane, None)

    def forget(self) -> None:
        """Forget who was served: all begin anew."""
        self._served.clear()

    def _next_lane(self) -> Lane:
        """The least recently served lane of the least recently served share; of those that were
        never served, the one that has waited longest."""
        return min(
            self._waiting, key=lambda lane: [self._served.get(share, 0) for share in _shares(lane)]
        )


class Ticket:
    """Someone who wants a slot.

    `moved` is told the position in the line, from 1, whenever it changes, and 0 once the slot is
    there; it is not called for who never had to wait, and must not raise. With `most`, the slot
    is granted only while fewer than that many are taken, and only if it `raises` may that be more
    than the limit.
    """

    def __init__(
        self,
        lane: Lane,
        *,
        moved: Callable[[int], None],
        most: int | None = None,
        raises: bool = False,
    ) -> None:
        self.lane = lane
        self._most = most
        self._raises = raises
        self._moved = moved
        self._position = 0
        self._granted: asyncio.Future[None] | None = None

    @property
    def waits(self) -> bool:
        """Whether a task still wants the slot: one that was cancelled a moment ago does not."""
        return self._granted is not None and not self._granted.done()

    def limit(self, limit: int) -> int:
        """How many slots may be taken when this one gets one, where `limit` holds for all."""
        if self._most is None:
            return limit
        return self._most if self._raises else min(self._most, limit)

    def wait(self) -> Awaitable[None]:
        """Begin to wait; what is returned ends with `grant`."""
        self._granted = asyncio.get_running_loop().create_future()
        return self._granted

    def grant(self) -> None:
        """End the waiting. Only for a ticket that waits."""
        if self._granted is not None:
            self._granted.set_result(None)

    def move(self, position: int) -> None:
        """Note the position and tell it on if it is another."""
        if position != self._position:
            self._position = position
            self._moved(position)


class Slots:
    """So many at once, and the line of those who wait."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._line = FairLine[Ticket]()
        self._returning: deque[Ticket] = deque()
        self._held: set[Ticket] = set()

    @property
    def limit(self) -> int:
        """Slots for tickets that name no number of their own."""
        return self._limit

    @limit.setter
    def limit(self, limit: int) -> None:
        self._limit = limit
        self._serve()

    @property
    def held(self) -> frozenset[Ticket]:
        """Tickets that hold a slot."""
        return frozenset(self._held)

    def __bool__(self) -> bool:
        return bool(self._held or self._returning or self._line)

    async def enter(self, ticket: Ticket, *, returning: bool = False) -> None:
        """Wait for a slot. A `returning` ticket goes before all that have not had one yet.

        If this raises, the ticket neither waits nor holds a slot.
        """
        granted = ticket.wait()
        if returning:
            self._returning.append(ticket)
        else:
            self._line.add(ticket.lane, ticket)
        try:
            self._serve()
            await granted
        except BaseException:
            self.leave(ticket)
            raise

    def leave(self, ticket: Ticket) -> None:
        """Give back the slot, or stop waiting. Without effect on who does neither."""
        self._held.discard(ticket)
        self._drop(ticket)
        self._serve()

    def _drop(self, ticket: Ticket) -> None:
        if ticket in self._returning:
            self._returning.remove(ticket)
        self._line.remove(ticket.lane, ticket)

    def _serve(self) -> None:
        """Grant what can be granted and tell the others where they stand."""
        served: list[Ticket] = []
        while self._returning or self._line:
            ticket = self._returning[0] if self._returning else self._line.next()
            if not ticket.waits:
                self._drop(ticket)
                continue
            if len(self._held) >= ticket.limit(self._limit):
                break
            if self._returning:
                self._returning.popleft()
            else:
                self._line.take()
            self._held.add(ticket)
            ticket.grant()
            served.append(ticket)
        if not self:
            self._line.forget()
        for ticket in served:
            ticket.move(0)
        for position, ticket in enumerate([*self._returning, *self._line], start=1):
            ticket.move(position)


def _shares(lane: Lane) -> list[Lane]:
    """The lane and what it is part of, outermost first."""
    return [lane[:length] for length in range(1, len(lane) + 1)]
