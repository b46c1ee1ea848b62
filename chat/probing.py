"""Has the endpoint that serves a guild tested, and remembers what follows.

Invariant: one test at a time, outside of turns. What follows is kept as learnt of the endpoint
and model, so what an admin set wins, and only values that a switch has are kept.
"""

import asyncio
import logging
from collections.abc import Mapping

from chat.config import spec_of
from chat.endpoints import Routes
from chat.learning import Learning
from data.errors import StoreError
from data.store import Store
from providers.base import EndpointError
from providers.probe import (
    Findings,
    probe,
    sentence,
    settings_that_follow,
    verdict_that_follows,
)
from providers.probe.asking import SECONDS

log = logging.getLogger(__name__)


class Outdated(Exception):
    """Another endpoint or model serves now than the one that was tested."""


class Prober:
    """Tests endpoints as `routes` gives them to guilds."""

    def __init__(self, *, store: Store, routes: Routes, seconds: float = SECONDS) -> None:
        self._store = store
        self._routes = routes
        self._seconds = seconds
        self._one = asyncio.Lock()
        self._waiting: dict[int, asyncio.Task[None]] = {}

    async def probe(self, guild_id: int | None) -> Findings:
        """Send the test requests. Raises EndpointError where no endpoint serves the guild, or no
        model is named."""
        async with self._one, self._routes.serving(guild_id) as route:
            return await probe(route.provider, seconds=self._seconds)

    async def apply(self, guild_id: int | None, findings: Findings) -> Mapping[str, str]:
        """Remember what follows from `findings`, and return the switches among it. Raises Outdated,
        and EndpointError where no endpoint serves the guild."""
        async with self._routes.serving(guild_id) as route:
            provider = route.provider
            if (provider.endpoint, provider.model) != (findings.endpoint, findings.model):
                raise Outdated("Another endpoint or model serves by now. Test that one.")
            learning = Learning(store=self._store, route=route)
            if (verdict := verdict_that_follows(findings)) is not None:
                await learning.tested(verdict)
            values = applicable(findings)
            await learning.learn(values)
        return values

    def later(self, guild_id: int) -> None:
        """Test what serves a guild from now on and apply what follows, in the background; a test
        for the guild that is under way is given up."""
        if (outdated := self._waiting.pop(guild_id, None)) is not None:
            outdated.cancel()
        task = asyncio.create_task(self._test(guild_id))
        self._waiting[guild_id] = task
        task.add_done_callback(lambda done: self._forget(guild_id, done))

    async def close(self) -> None:
        """Give up the tests that are under way."""
        tasks = list(self._waiting.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, guild_id: int, done: "asyncio.Task[None]") -> None:
        if self._waiting.get(guild_id) is done:
            del self._waiting[guild_id]

    async def _test(self, guild_id: int) -> None:
        try:
            findings = await self.probe(guild_id)
            values = await self.apply(guild_id, findings)
        except (EndpointError, Outdated, StoreError) as error:
            log.info("The endpoint of server %s could not be tested: %s", guild_id, error)
        except Exception:
            log.exception("The test of the endpoint of server %s failed.", guild_id)
        else:
            log.info("Server %s: %s %s", guild_id, sentence(findings), dict(values))


def applicable(findings: Findings) -> Mapping[str, str]:
    """The switches that follow, without values that a switch does not take."""
    return {
        name: value
        for name, value in settings_that_follow(findings).items()
        if (spec := spec_of(name)) is not None and spec.read(value) is not None
    }
