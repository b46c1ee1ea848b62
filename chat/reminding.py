"""Sends reminders when they are due, one after another.

Invariant: a reminder is claimed on the disk before it is sent and removed after, so that none is
lost, and none is told by two; what was missed while the bot was away is told once, with how late
it is.
"""

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal, Protocol, TypeAlias

from data.errors import StoreError
from data.reminders import Reminder, Reminders

log = logging.getLogger(__name__)

Told: TypeAlias = Literal["told", "gone", "later"]
"""How telling somebody went: it is there, there is nobody and no place left to tell, or Discord
could not be reached and may be later."""

LATE = timedelta(seconds=90)
"""A reminder that comes later than this says so."""

GIVEN_UP = timedelta(days=7)
"""After due; what could not be told for so long is dropped."""

_CLAIMED = timedelta(seconds=60)
"""For which nobody else sends a claimed reminder. Discord knows nonces for a few minutes."""

_SENDING = 45.0
"""Seconds that sending may take; less than `_CLAIMED`, or it would be sent beside itself."""

_GLANCE = 60.0
"""Seconds after which the clock is looked at again: somebody may set it."""

_FIRST_RETRY = timedelta(seconds=30)
_LONGEST_RETRY = timedelta(minutes=30)


class ReminderSink(Protocol):
    """Tells members what they wanted to be reminded of."""

    async def tell(self, reminder: Reminder, *, late: timedelta | None) -> Told:
        """Send a reminder, `late` by so much, None where it is on time. Does not send a second one
        where `attempts` says that an earlier one may have arrived."""
        ...


class Reminding:
    """The clock of all reminders. `now` is in UTC."""

    def __init__(
        self, reminders: Reminders, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self.reminders = reminders
        self._now = now
        self._news = asyncio.Event()

    def changed(self) -> None:
        """Look again when the next reminder is due: there is another one, or another time."""
        self._news.set()

    async def run(self, sink: ReminderSink) -> None:
        """Send what is due, for as long as this is not cancelled."""
        while True:
            self._news.clear()
            try:
                wait = await self._send_next(sink)
            except StoreError as error:
                log.error("Reminders cannot be sent: %s", error)
                wait = _GLANCE
            if wait:
                await self._wait(wait)

    async def _send_next(self, sink: ReminderSink) -> float:
        """Send one reminder if one is due. Returns the seconds until there may be another."""
        now = self._now()
        reminder = await self.reminders.claim(now, again_at=now + _CLAIMED)
        if reminder is None:
            at = await self.reminders.next_at()
            return _GLANCE if at is None else min(_GLANCE, max(0.01, (at - now).total_seconds()))
        late = now - reminder.due
        told = await _tell(sink, reminder, late if late > LATE else None)
        if told == "later" and late < GIVEN_UP:
            delay = min(_FIRST_RETRY * 2 ** min(reminder.attempts - 1, 10), _LONGEST_RETRY)
            await self.reminders.postpone(reminder.id, self._now() + delay)
        else:
            if told != "told":
                log.warning("Reminder %d could not be told and is dropped.", reminder.id)
            await self.reminders.done(reminder.id)
        return 0.0

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._news.wait()
        except TimeoutError:
            return


async def _tell(sink: ReminderSink, reminder: Reminder, late: timedelta | None) -> Told:
    try:
        async with asyncio.timeout(_SENDING):
            return await sink.tell(reminder, late=late)
    except TimeoutError:
        log.warning("Reminder %d was not sent in time.", reminder.id)
    except Exception:
        log.exception("Reminder %d could not be sent.", reminder.id)
    return "later"
