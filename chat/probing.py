"""Has an endpoint that serves a guild tested, and remembers what follows.

Invariant: one test at a time, outside of turns, each of its requests in line with theirs, or behind
them all where nobody waits for the test. What follows is kept as learnt of the endpoint and model,
so what an admin set wins, and only values that a switch has are kept.
"""

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from itertools import count

from chat.config import spec_of
from chat.endpoints import FIRST_SPOT, NoFurther, Route, Routes, Spot
from chat.latest_work import LatestWork
from chat.learning import Learning
from chat.scheduler import Scheduler, Schedulers
from data.errors import StoreError
from data.store import Store
from prompt.prompt import Prompt
from prompt.values import JsonObject
from prompt.verbatim import Verdict
from providers.base import EndpointError, Exchange, Provider, RequestOptions
from providers.probe import (
    Findings,
    probe,
    sentence,
    settings_that_follow,
    verdict_that_follows,
)
from providers.probe.asking import SECONDS

log = logging.getLogger(__name__)

QUIET = 3.0
"""Seconds without a turn before a test in the background begins: whoever has just started the bot,
or changed its endpoint, mostly tries it at once."""


class Outdated(Exception):
    """Another endpoint or model serves now than the one that was tested."""


class _Requests(ABC):
    """The part of a provider that a test needs, each request when the scheduler lets it."""

    def __init__(self, provider: Provider, scheduler: Scheduler) -> None:
        self._provider = provider
        self._scheduler = scheduler

    @property
    def endpoint(self) -> str:
        return self._provider.endpoint

    async def resolve_model(self) -> str:
        return await self._provider.resolve_model()

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject:
        return self._provider.body(prompt, options)

    @abstractmethod
    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange: ...


class _InLine(_Requests):
    """For a test that somebody waits for: each request waits for a slot like a turn."""

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        async with self._scheduler.slot():
            return await self._provider.exchange(path, body, seconds=seconds, aside=aside)


class _Behind(_Requests):
    """For a test that nobody waits for: a turn puts an end to the request that is under way, which
    is sent again once no turn wants the endpoint."""

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        got: list[Exchange] = []

        async def ask() -> None:
            got.append(await self._provider.exchange(path, body, seconds=seconds, aside=aside))

        while not await self._scheduler.aside(ask):
            pass
        return got[0]


class Prober:
    """Tests endpoints as `routes` gives them to guilds, in line with the turns of `schedulers`.

    `spot` tells which of them is meant; where the guild has no such, NoFurther is raised.
    """

    def __init__(
        self,
        *,
        store: Store,
        routes: Routes,
        schedulers: Schedulers | None = None,
        seconds: float = SECONDS,
        quiet: float = QUIET,
    ) -> None:
        self._store = store
        self._routes = routes
        self._schedulers = schedulers or Schedulers()
        self._seconds = seconds
        self._quiet = quiet
        self._one = asyncio.Lock()
        self._work = LatestWork()

    async def probe(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> Findings:
        """Send the test requests. Raises EndpointError where no endpoint serves the guild, or no
        model is named."""
        async with self._one, self._at(guild_id, spot) as route:
            requests = _InLine(route.provider, self._scheduler(route))
            return await probe(requests, seconds=self._seconds)

    async def _probe_behind(self, guild_id: int | None, spot: Spot) -> Findings:
        """Like `probe`, but turns go first."""
        async with self._one, self._at(guild_id, spot) as route:
            scheduler = self._scheduler(route)
            await scheduler.quiet(self._quiet)
            return await probe(_Behind(route.provider, scheduler), seconds=self._seconds)

    def _at(self, guild_id: int | None, spot: Spot) -> AbstractAsyncContextManager[Route]:
        return self._routes.serving(guild_id, spot.rank, channel_id=spot.channel_id)

    def _scheduler(self, route: Route) -> Scheduler:
        return self._schedulers.of(route.provider.endpoint, owner=route.owner)

    async def probe_unknown(self) -> None:
        """Test those of the operator's endpoints, one after the other, of which and whose model
        nothing is known yet, and apply what follows. What goes wrong is logged."""
        for rank in count():
            spot = Spot(rank=rank)
            try:
                async with self._at(None, spot) as route:
                    await route.provider.resolve_model()
                    verdict = await Learning(store=self._store, route=route).verdict()
            except NoFurther:
                return
            except (EndpointError, StoreError) as error:
                log.info("The operator's endpoint could not be tested: %s", error)
                continue
            if verdict.reason == Verdict().reason and not verdict.learnt:
                await self._test(None, spot)

    async def apply(
        self, guild_id: int | None, findings: Findings, spot: Spot = FIRST_SPOT
    ) -> Mapping[str, str]:
        """Remember what follows from `findings`, and return the switches among it. Raises Outdated,
        and EndpointError where no endpoint serves the guild."""
        async with self._at(guild_id, spot) as route:
            provider = route.provider
            if (provider.endpoint, provider.model) != (findings.endpoint, findings.model):
                raise Outdated("Another endpoint or model serves by now. Test that one.")
            learning = Learning(store=self._store, route=route)
            if (verdict := verdict_that_follows(findings)) is not None:
                await learning.tested(verdict)
            values = applicable(findings)
            await learning.learn(values)
            await learning.try_tools_again()
        return values

    def later(self, guild_id: int, spot: Spot = FIRST_SPOT) -> None:
        """Test what serves a guild from now on and apply what follows, in the background; a test
        of the same place that is under way is given up."""
        self._work.start((guild_id, spot), self._test(guild_id, spot))

    async def close(self) -> None:
        """Give up the tests that are under way."""
        await self._work.close()

    async def _test(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> None:
        whose = "The operator" if guild_id is None else f"Server {guild_id}"
        try:
            findings = await self._probe_behind(guild_id, spot)
            values = await self.apply(guild_id, findings, spot)
        except NoFurther:
            log.info("%s: the endpoint was removed before it was tested.", whose)
        except (EndpointError, Outdated, StoreError) as error:
            log.info("%s: the endpoint could not be tested: %s", whose, error)
        except Exception:
            log.exception("%s: the test of the endpoint failed.", whose)
        else:
            found = ", ".join(f"{name} {value}" for name, value in values.items())
            log.info("%s: %s%s", whose, sentence(findings), found and f" Set: {found}.")
            if guild_id is not None:
                self._store.settings.tell(guild_id)


def applicable(findings: Findings) -> Mapping[str, str]:
    """The switches that follow, without values that a switch does not take."""
    return {
        name: value
        for name, value in settings_that_follow(findings).items()
        if (spec := spec_of(name)) is not None and spec.read(value) is not None
    }
