"""Runs work in the background of which only the latest for a guild matters.

Invariant: what new work takes the place of is given up, and nothing runs on after `close`.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any


class LatestWork:
    """Tasks by guild, None for what belongs to none."""

    def __init__(self) -> None:
        self._latest: dict[int | None, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def start(self, guild_id: int | None, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` instead of what runs for the guild."""
        if (outdated := self._latest.get(guild_id)) is not None:
            outdated.cancel()
        task = self._latest[guild_id] = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(lambda done: self._forget(guild_id, done))

    async def close(self) -> None:
        """Give up what is under way."""
        running = list(self._running)
        for task in running:
            if not task.cancelling():  # else it is being given up, and may end in order
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _forget(self, guild_id: int | None, done: "asyncio.Task[None]") -> None:
        self._running.discard(done)
        if self._latest.get(guild_id) is done:
            del self._latest[guild_id]
