"""Decides when a turn's next request may go to its endpoint.

Invariant: no more requests run at once than the endpoint takes, a slot is held from before a
request until its stream is left, and whatever ends a turn gives it back.

Between two requests of a turn, while its tools run, the slot is kept for a moment: most tools are
quicker, and another conversation in between would throw the prompt out of a one-slot server's
cache. A tool that takes longer, or waits for a person, lets others in; the turn then goes before
all that have not begun, so it waits for one request at most a slot, and eight rounds bound how
often it can come back.
"""

import asyncio
import ipaddress
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

from chat.breaker import Breaker, Resting
from chat.line import Slots, Ticket
from chat.ports import Place
from providers.base import EndpointError, Unavailable

log = logging.getLogger(__name__)

KEPT_BETWEEN_ROUNDS = 2.0
"""Seconds that a turn keeps its slot while its tools run."""

_NEAR = 1
"""Assumed of a server in the house: most run one request after the other."""

_FAR = 4
"""Assumed of a hosted endpoint."""

Ask: TypeAlias = Callable[[], Awaitable[int | None]]
"""See providers.base.Provider.slots."""

MOST_HOMES = 1000
"""Channels that keep a server's slot of their own: those that asked last."""

MOST_IDLE = 256
"""Schedulers that are kept although nobody uses them."""

_HOUSE_NAMES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallelism:
    """What a guild has set. `most` is None for auto, and more than auto gives only if it `raises`;
    `slot_hint` asks for a server slot a channel."""

    most: int | None = None
    raises: bool = False
    slot_hint: bool = False


class Scheduler:
    """The requests to one endpoint, of all guilds that use it.

    `assumed` holds as the number of slots until the server has told. It is asked beside the first
    turn that wants to know, and again beside a later one while nothing has answered. `clock` is the
    breaker's.
    """

    def __init__(
        self,
        *,
        assumed: int,
        kept: float = KEPT_BETWEEN_ROUNDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.breaker = Breaker(clock=clock)
        """Whether the endpoint is asked at all."""
        self._assumed = assumed
        self._kept = kept
        self._slots = Slots(assumed)
        self._asked = False
        self._server_slots: int | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self._idle_since = time.monotonic()
        self._aside: asyncio.Task[None] | None = None
        self._homes: dict[int, int] = {}
        self._next_home = 0
        self._in_use: dict[Ticket, int] = {}

    @asynccontextmanager
    async def turn(
        self,
        place: Place,
        parallelism: Parallelism,
        *,
        ask: Ask,
        moved: Callable[[int], None],
    ) -> AsyncGenerator["Lease"]:
        """For the length of a turn. `ask` asks the server for its slots. `moved` is told the
        turn's position in the line, 0 when waiting is over; it must not raise."""
        asking = None
        if not self._asked and (parallelism.most is None or parallelism.slot_hint):
            self._asked = True
            asking = asyncio.create_task(self._learn(ask))
        lease = Lease(self, place, parallelism, moved)
        try:
            yield lease
        finally:
            lease.end()
            if asking is not None and asking.cancel():
                self._asked = False

    async def enter(self, ticket: Ticket, *, returning: bool) -> None:
        """Wait for a slot; see Slots.enter. What runs aside is given up."""
        self._idle.clear()
        if self._aside is not None:
            self._aside.cancel()
        await self._slots.enter(ticket, returning=returning)

    def leave(self, ticket: Ticket) -> None:
        """Give the slot back."""
        self._in_use.pop(ticket, None)
        self._slots.leave(ticket)
        if not self._slots and not self._idle.is_set():
            self._idle_since = time.monotonic()
            self._idle.set()

    async def quiet(self, seconds: float) -> None:
        """Wait until no turn has wanted the endpoint for so long; the start counts as one."""
        while True:
            await self._idle.wait()
            left = self._idle_since + seconds - time.monotonic()
            if left <= 0:
                return
            await asyncio.sleep(left)

    async def aside(self, work: Callable[[], Coroutine[None, None, None]]) -> bool:
        """Do `work` once no turn wants the endpoint, and tell whether it came to its end: the
        first turn that wants a slot puts an end to it."""
        while True:
            await self._idle.wait()
            if self._aside is None:
                break
            await asyncio.wait({self._aside})
        task = self._aside = asyncio.create_task(work())
        try:
            await asyncio.wait({task})
        finally:
            self._aside = None
            task.cancel()
        if task.cancelled():
            return False
        task.result()
        return True

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """A slot for one request outside of any turn, in line with them all."""
        ticket = Ticket((0, 0), moved=lambda _: None)
        await self.enter(ticket, returning=False)
        try:
            yield
        finally:
            self.leave(ticket)

    def keep(self, ticket: Ticket) -> asyncio.TimerHandle:
        """Give the slot back in a moment, unless the timer is cancelled before."""
        return asyncio.get_running_loop().call_later(self._kept, self.leave, ticket)

    def holds(self, ticket: Ticket) -> bool:
        """Whether the ticket has a slot."""
        return ticket in self._slots.held

    def server_slot(self, ticket: Ticket, channel_id: int) -> int | None:
        """The server's slot for a channel, always the same while the server stays as it is.

        None where the server has not told of slots, and where another request of ours is in that
        slot: the server would let this one wait although others are free.
        """
        if self._server_slots is None:
            return None
        home = self._home(channel_id, self._server_slots)
        if any(slot == home for other, slot in self._in_use.items() if other is not ticket):
            return None
        self._in_use[ticket] = home
        return home

    def _home(self, channel_id: int, slots: int) -> int:
        home = self._homes.pop(channel_id, None)
        if home is None:
            home, self._next_home = self._next_home, (self._next_home + 1) % slots
        self._homes[channel_id] = home
        if len(self._homes) > MOST_HOMES:
            del self._homes[next(iter(self._homes))]
        return home

    @property
    def is_forgettable(self) -> bool:
        """Whether nothing would be lost with it: nobody uses it, and the endpoint is well."""
        return not self._slots and self._aside is None and not self.breaker.resting

    def doubt(self) -> None:
        """The server was away: it may come back with other slots, so it is asked again. A request
        that named a slot which is no more would wait for it in vain."""
        self._asked = False
        self._server_slots = None
        self._homes.clear()
        self._next_home = 0

    async def _learn(self, ask: Ask) -> None:
        try:
            told = await ask()
        except EndpointError as error:
            log.debug("the endpoint did not tell its slots: %s", error.detail or error.member)
            self._asked = False
            return
        if told is not None:
            log.info("the endpoint has %d slots", told)
        self._server_slots = told
        self._slots.limit = told or self._assumed


class Lease:
    """One turn's use of an endpoint."""

    def __init__(
        self,
        scheduler: Scheduler,
        place: Place,
        parallelism: Parallelism,
        moved: Callable[[int], None],
    ) -> None:
        self._scheduler = scheduler
        self._place = place
        self._slot_hint = parallelism.slot_hint
        lane = (place.guild_id or 0, place.channel_id)
        self._ticket = Ticket(lane, moved=moved, most=parallelism.most, raises=parallelism.raises)
        self._begun = False
        self._leaving: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def request(self) -> AsyncGenerator[int | None]:
        """Around one request. Entering waits for a slot and yields the server's slot to ask for,
        None for any. Raises Resting where the endpoint is left alone for now, before any wait."""
        self._scheduler.breaker.check()
        self._stop_leaving()
        if not self._scheduler.holds(self._ticket):
            await self._scheduler.enter(self._ticket, returning=self._begun)
        self._begun = True
        try:
            hint = self._slot_hint
            with self._scheduler.breaker.request():
                yield (
                    self._scheduler.server_slot(self._ticket, self._place.channel_id)
                    if hint
                    else None
                )
        except Resting:
            raise
        except Unavailable:
            self._scheduler.doubt()
            raise
        finally:
            self._leaving = self._scheduler.keep(self._ticket)

    def end(self) -> None:
        """Give the slot back now."""
        self._stop_leaving()
        self._scheduler.leave(self._ticket)

    def _stop_leaving(self) -> None:
        if self._leaving is not None:
            self._leaving.cancel()
            self._leaving = None


class Schedulers:
    """One scheduler an endpoint, at least for as long as it is used."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._by_endpoint: dict[tuple[str, int], Scheduler] = {}

    def of(self, endpoint: str, *, owner: int = 0) -> Scheduler:
        """The scheduler of the endpoint at a URL. `owner` is the guild that brought it, 0 the
        operator: two accounts with one host do not wait for each other."""
        key = (endpoint, owner)
        found = self._by_endpoint.pop(key, None)
        if found is None:
            found = Scheduler(assumed=assumed_slots(endpoint), clock=self._clock)
            self._forget_some()
        self._by_endpoint[key] = found
        return found

    def _forget_some(self) -> None:
        """Guilds change their endpoints; what was not asked for longest goes first."""
        if len(self._by_endpoint) >= MOST_IDLE:
            idle = (key for key, each in self._by_endpoint.items() if each.is_forgettable)
            if (oldest := next(idle, None)) is not None:
                del self._by_endpoint[oldest]


def assumed_slots(endpoint: str) -> int:
    """How many requests an endpoint probably takes at once, judged by its address alone."""
    return _NEAR if is_near(endpoint) else _FAR


def is_near(endpoint: str) -> bool:
    """Whether an endpoint is on this machine or in a private network, judged by its address."""
    host = urlsplit(endpoint).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith(_HOUSE_NAMES)
