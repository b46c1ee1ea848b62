"""Lets the questions of a channel be answered one at a time.

Invariant: members take turns, one member's questions keep their order, and nobody's many
questions make another wait for all of them.

How many channels are answered at once is not decided here but in chat.scheduler, by endpoint. A
question enters that line only when it is its turn here, so no line ever waits for the other.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from chat.line import Slots, Ticket, place_in_words

TELL_AFTER = 5.0
"""Seconds of waiting after which a member is told where they stand."""


class ChannelQueue:
    """The questions of one channel. False once nobody is in it."""

    def __init__(self, *, tell_after: float = TELL_AFTER) -> None:
        self._tell_after = tell_after
        self._slots = Slots(1)
        self._told: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._slots)

    @asynccontextmanager
    async def turn(self, member_id: int, show: Callable[[str], None]) -> AsyncGenerator[None]:
        """Entering waits until it is this question's turn, leaving lets the next one in.

        `show` gets the place in words when waiting takes long, and again when it changes; of one
        member's questions only the first that waits is told.
        """
        place = _Place(member_id, self._told, show)
        ticket = Ticket((member_id,), moved=place.moved)
        overdue = asyncio.get_running_loop().call_later(self._tell_after, place.overdue)
        try:
            await self._slots.enter(ticket)
            overdue.cancel()
            yield
        finally:
            overdue.cancel()
            place.moved(0)
            self._slots.leave(ticket)


class _Place:
    """Where a question stands, and whether its author is told."""

    def __init__(self, member_id: int, told: set[int], show: Callable[[str], None]) -> None:
        self._member_id = member_id
        self._told = told
        self._show = show
        self._position = 0
        self._waited_long = self._is_told = False

    def moved(self, position: int) -> None:
        self._position = position
        if self._is_told and not position:
            self._told.remove(self._member_id)
            self._is_told = False
        self._tell()

    def overdue(self) -> None:
        self._waited_long = True
        self._tell()

    def _tell(self) -> None:
        if not self._position or not self._waited_long:
            return
        if not self._is_told:
            if self._member_id in self._told:
                return
            self._told.add(self._member_id)
            self._is_told = True
        self._show(f"you are {place_in_words(self._position)} in this channel")
