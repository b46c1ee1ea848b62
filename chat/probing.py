"""Has the endpoint that serves a guild tested, and remembers what follows.

Invariant: one test at a time, outside of turns. What follows is kept as learnt of the endpoint
and model, so what an admin set wins, and only values that a switch has are kept.
"""

import asyncio
from collections.abc import Mapping

from chat.config import spec_of
from chat.endpoints import Routes
from chat.learning import Learning
from data.store import Store
from providers.probe import Findings, probe, settings_that_follow, verdict_that_follows
from providers.probe.asking import SECONDS


class Outdated(Exception):
    """Another endpoint or model serves now than the one that was tested."""


class Prober:
    """Tests endpoints as `routes` gives them to guilds."""

    def __init__(self, *, store: Store, routes: Routes, seconds: float = SECONDS) -> None:
        self._store = store
        self._routes = routes
        self._seconds = seconds
        self._one = asyncio.Lock()

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


def applicable(findings: Findings) -> Mapping[str, str]:
    """The switches that follow, without values that a switch does not take."""
    return {
        name: value
        for name, value in settings_that_follow(findings).items()
        if (spec := spec_of(name)) is not None and spec.read(value) is not None
    }
