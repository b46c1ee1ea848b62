"""Has an endpoint read the part of a prompt that stays, before anyone asks.

Invariant: off the reply path. It runs only while no turn wants the endpoint, is given up as soon as
one does, and asks for one token. Nothing is warmed unless `begin` was called.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Protocol

from chat.config import warms_up
from chat.latest_work import LatestWork
from chat.planning import Plan
from chat.ports import ChannelMessage, Place
from chat.scheduler import Scheduler, is_near
from data.errors import StoreError
from data.store import Store
from prompt.snapshot import PromptTooLarge
from prompt.values import TextPart, Turn
from providers.base import EndpointError
from tools.registry import Attachment, FileGone

log = logging.getLogger(__name__)

SETTLES_IN = 2.0
"""Seconds after a change: whoever turns one switch often turns another."""

_ASKED = Turn(role="user", parts=(TextPart(text="Hello"),))
"""Templates insist on a question; what is read before it is what counts."""


class Unread:
    """The history of a channel that nobody reads: a guild's stable part has none of it."""

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """No messages."""
        return []

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """Raises FileGone."""
        raise FileGone


async def warm_up(plan: Plan, scheduler: Scheduler) -> None:
    """Send the stable part of `plan` with a short question, when no turn wants the endpoint.

    Does nothing where the switch warm_up forbids it. Raises EndpointError and PromptTooLarge.
    """
    provider = plan.route.provider
    if not warms_up(plan.gathered.stored, near=is_near(provider.endpoint)):
        return
    snapshot = replace(plan.gathered.snapshot, dialogue=(_ASKED,), images=(), unseen=())
    plan.gathered = replace(plan.gathered, snapshot=snapshot)
    prompt = plan.prompt()
    options = replace(plan.generation.options("warm-up"), wire=plan.config.wire, max_tokens=1)

    async def send() -> None:
        async with provider.stream(prompt, options) as events:
            async for _ in events:
                pass

    log.info("warm-up of %s: about %d tokens", provider.model, prompt.report.tokens)
    started = time.monotonic()
    done = await scheduler.aside(send)
    seconds = time.monotonic() - started
    outcome = "done" if done else "given up for a turn"
    log.info("warm-up of %s %s after %.1f s", provider.model, outcome, seconds)


class Warms(Protocol):
    """Warms up what serves a place; see ChatService."""

    def __call__(self, place: Place, /) -> Awaitable[None]:
        """Raises what a plan and an endpoint raise."""
        ...


class Warmer:
    """Warms up in the background: at the start, and after each change of a guild's settings."""

    def __init__(self, *, store: Store, warm: Warms, settles_in: float = SETTLES_IN) -> None:
        self._store = store
        self._warm = warm
        self._settles_in = settles_in
        self._work = LatestWork()

    async def begin(self, first: Callable[[], Awaitable[None]] | None = None) -> None:
        """Warm up the place that was last active, after `first` is done, and from now on what
        changes."""
        self._store.settings.watched_by(self.later)
        latest = await self._store.turns.latest_place()
        if latest is not None:
            guild_id, channel_id = latest
            self._start(Place(guild_id=guild_id or None, channel_id=channel_id), 0.0, first)
        elif first is not None:
            self._start(None, 0.0, first)

    def later(self, guild_id: int) -> None:
        """Warm up what serves a guild (0: direct messages) in a moment."""
        self._start(Place(guild_id=guild_id or None, channel_id=0), self._settles_in)

    async def close(self) -> None:
        """Give up what is under way."""
        await self._work.close()

    def _start(
        self,
        place: Place | None,
        seconds: float,
        first: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._work.start(place and place.guild_id, self._run(place, seconds, first))

    async def _run(
        self,
        place: Place | None,
        seconds: float,
        first: Callable[[], Awaitable[None]] | None,
    ) -> None:
        try:
            await asyncio.sleep(seconds)
            if first is not None:
                await first()
            if place is not None:
                await self._warm(place)
        except (EndpointError, PromptTooLarge, StoreError) as error:
            log.info("nothing was warmed up: %s", error)
        except Exception:
            log.exception("a warm-up failed")


@asynccontextmanager
async def warming(
    store: Store, warm: Warms, *, first: Callable[[], Awaitable[None]] | None = None
) -> AsyncGenerator[None]:
    """Warm up in the background, beginning after `first` if given, as long as the context is
    open."""
    warmer = Warmer(store=store, warm=warm)
    await warmer.begin(first)
    try:
        yield
    finally:
        await warmer.close()
