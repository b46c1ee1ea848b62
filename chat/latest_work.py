"""Runs work in the background of which only the latest for a thing matters.

Invariant: what new work takes the place of is given up, and nothing runs on after `close`.
"""

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any


class LatestWork:
    """Tasks by what they are for."""

    def __init__(self) -> None:
        self._latest: dict[Hashable, asyncio.Task[None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def start(self, what: Hashable, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` instead of what runs for the same."""
        if (outdated := self._latest.get(what)) is not None:
            outdated.cancel()
        task = self._latest[what] = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(lambda done: self._forget(what, done))

    async def close(self) -> None:
        """Give up what is under way."""
        running = list(self._running)
        for task in running:
            if not task.cancelling():  # else it is being given up, and may end in order
                task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _forget(self, what: Hashable, done: "asyncio.Task[None]") -> None:
        self._running.discard(done)
        if self._latest.get(what) is done:
            del self._latest[what]
