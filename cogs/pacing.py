"""Keeps the process under Discord's limit on all its requests together.

Discord allows a bot 50 requests a second over all channels and servers, and shuts out for a while
whoever goes over it again and again. discord.py minds the limits of single routes ahead of time,
this one only once it is hit.

Invariant: within any window no more requests begin than are allowed, counted by when they really
began, and they begin in the order in which they came, but for those who are let ahead.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from types import CoroutineType, SimpleNamespace
from typing import Any

import aiohttp

ALL_REQUESTS = 45
"""A second. Some of the 50 are left for what arrives closer together than it was sent."""

ALL_EDITS = 35
"""A second, by replies that grow. Where more of them do, each is shown less often, and what
begins a turn still finds room."""

_UNCOUNTED = ("/interactions/", "/webhooks/")
"""Discord does not count these, and interactions wait for no longer than three seconds."""


_LONG = 0.2
"""Seconds; who waits for longer stands in a crowd."""


class Pace:
    """Lets at most so many begin in a window of some seconds. What begins here may wait again
    `within` another one."""

    def __init__(self, most: int, *, seconds: float = 1.0, within: Pace | None = None) -> None:
        self._begun = deque[float](maxlen=most)
        self._most, self._seconds = most, seconds
        self._within = within
        self._line, self._head = asyncio.Lock(), asyncio.Lock()
        self._waiting = 0

    @property
    def is_crowded(self) -> bool:
        """Whether who comes now has to wait for long."""
        if self._waiting * self._seconds >= _LONG * self._most:
            return True
        return self._within is not None and self._within.is_crowded

    async def turn(self, *, ahead: bool = False) -> None:
        """Wait until one more may begin; it counts from the return of this. Who goes `ahead` waits
        for one of the line at most."""
        self._waiting += 1
        try:
            if ahead:
                await self._begin()
            else:
                async with self._line:
                    await self._begin()
        finally:
            self._waiting -= 1

    async def _begin(self) -> None:
        clock = asyncio.get_running_loop().time
        async with self._head:
            while len(self._begun) == self._most:
                wait = self._begun[0] + self._seconds - clock()
                if wait <= 0:
                    break
                await asyncio.sleep(wait)
            self._begun.append(clock())


def smoothly(most: int, *, within: Pace | None = None) -> Pace:
    """At most so many a second, in bursts of a fifth of them: one by one they would fall behind
    with every delay of the event loop, and of all at once the last arrive with the next first."""
    return Pace(most // 5, seconds=0.2, within=within)


def outlasting(
    request: Callable[..., CoroutineType[Any, Any, Any]],
) -> Callable[..., CoroutineType[Any, Any, Any]]:
    """`request` of discord.py's HTTP client, which goes on to its end although who waits for it is
    cancelled.

    Where Discord has all requests wait, the client holds them back until the one that was told so
    has waited; cancelled meanwhile, it would never let go, and the bot would be silent for good.
    """

    async def through(*arguments: Any, **options: Any) -> Any:
        task = asyncio.create_task(request(*arguments, **options))
        task.add_done_callback(_looked_at)
        return await asyncio.shield(task)

    return through


def _looked_at(task: asyncio.Task[Any]) -> None:
    """Whoever still waits is told of an error; where nobody does, there is nobody to tell."""
    if not task.cancelled():
        task.exception()


def paced(pace: Pace) -> aiohttp.TraceConfig:
    """For a client's `http_trace`: every request that Discord counts, repeated ones too, waits."""

    async def begin(
        session: aiohttp.ClientSession,
        context: SimpleNamespace,
        request: aiohttp.TraceRequestStartParams,
    ) -> None:
        path = request.url.path
        if path.startswith("/api/") and not any(part in path for part in _UNCOUNTED):
            await pace.turn()

    trace = aiohttp.TraceConfig()
    trace.on_request_start.append(begin)
    return trace
