"""Has the texts of a prompt counted by the tokenizer of its endpoint, where that has one.

Invariant: a turn waits for counts no longer than PATIENCE, each text is counted once as long as it
is remembered, and of texts no more than a digest is kept. What was not counted is estimated. A
tokenizer that was missing, slow or wrong is left alone for a while.

The chat template around messages is not among those texts. What it adds is learnt from the tokens
that the endpoint reports of whole requests, and with it whether the endpoint shows the `tools`
field to the model at all.
"""

import asyncio
import logging
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from chat.counting import Count
from chat.endpoints import Route
from chat.planning import Plan
from chat.ports import Place
from prompt.assemble import texts
from prompt.pricing import MOST_OVERHEAD, Pricing, digest
from providers.base import EndpointError, Exchange, Provider
from providers.tokenizers import SAMPLE, TOKENIZERS, Tokenizer

log = logging.getLogger(__name__)

PATIENCE = 0.5
"""Seconds that one turn may wait for counts."""

REST = 300.0
"""Seconds for which a tokenizer that was slow or failed is left alone."""

ABSENT = 6 * 3600.0
"""Seconds after which a server that had none is asked for one again."""

MOST_TEXTS = 4096
"""Texts remembered of each endpoint and model."""

MOST_ENDPOINTS = 64

BRISK = 25
"""Texts that are counted at least in that time; fewer are slow."""

_AT_ONCE = 4
_FALL = 0.25
"""How far one lower report draws the overhead down towards itself."""


@dataclass(slots=True, kw_only=True)
class _Known:
    """What is known of one endpoint and model. `free_at` is when it may be asked again."""

    tokenizer: Tokenizer | None = None
    free_at: float = 0.0
    counted: OrderedDict[bytes, int] = field(default_factory=OrderedDict[bytes, int])
    overhead: float | None = None
    shows_field: bool | None = None
    latest: dict[int | None, Count] = field(default_factory=dict[int | None, Count])

    def learn(self, count: Count) -> None:
        """Take over what a whole request cost beside its texts."""
        if count.texts is None:
            return
        beside = count.reported - count.texts
        if count.field:
            # Templates write the array in their own words: half of its tokens tell it from none.
            self.shows_field = beside > MOST_OVERHEAD * count.messages + count.field // 2
            beside -= count.field if self.shows_field else 0
        seen = min(max(beside / count.messages, 0.0), MOST_OVERHEAD)
        if self.overhead is None or seen > self.overhead:
            self.overhead = seen
        else:
            self.overhead += (seen - self.overhead) * _FALL


class Tokenizers:
    """The counts of all endpoints. `clock` tells seconds."""

    def __init__(
        self, *, patience: float = PATIENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._patience = patience
        self._clock = clock
        self._known: OrderedDict[tuple[str, str], _Known] = OrderedDict()

    async def priced(self, plan: Plan) -> Plan:
        """The plan with the prices of its endpoint."""
        said = texts(plan.gathered.snapshot)
        known = self._of(plan.route)
        if known.free_at <= self._clock():
            await self._ask(known, plan.route.provider, said)
        if known.tokenizer is not None:
            names = [name for name in map(digest, said) if name in known.counted]
            plan.pricing = Pricing(
                counted={name: known.counted[name] for name in names},
                ratio=plan.gathered.snapshot.verdict.token_ratio or 1.0,
                overhead=MOST_OVERHEAD if known.overhead is None else math.ceil(known.overhead),
                counts_field=known.shows_field is not False,
            )
        return plan

    def learn(self, route: Route, place: Place, counts: Iterable[Count]) -> None:
        """Take over what the endpoint reported of whole requests of a turn in `place`."""
        known = self._of(route)
        for count in counts:
            known.learn(count)
            known.latest[place.guild_id] = count

    def latest(self, route: Route, place: Place) -> Count | None:
        """What the endpoint reported last of a request of the same server."""
        return self._of(route).latest.get(place.guild_id)

    def _of(self, route: Route) -> _Known:
        key = route.key, route.provider.model
        known = self._known.setdefault(key, _Known())
        self._known.move_to_end(key)
        while len(self._known) > MOST_ENDPOINTS:
            self._known.popitem(last=False)
        return known

    async def _ask(self, known: _Known, provider: Provider, texts: Sequence[str]) -> None:
        """Count what was not yet counted, as far as time allows."""
        before = len(known.counted)
        try:
            async with asyncio.timeout(self._patience):
                if known.tokenizer is None:
                    await self._find(known, provider)
                if known.tokenizer is not None:
                    await self._count(known, known.tokenizer, provider, texts)
        except TimeoutError:
            if len(known.counted) - before < BRISK:
                known.free_at = self._clock() + REST
        for name in map(digest, texts):
            if name in known.counted:
                known.counted.move_to_end(name)
        while len(known.counted) > MOST_TEXTS:
            known.counted.popitem(last=False)

    async def _find(self, known: _Known, provider: Provider) -> None:
        for tokenizer in TOKENIZERS:
            answer = await self._asked(tokenizer, provider, SAMPLE)
            if answer is None:
                known.free_at = self._clock() + REST
                return
            if tokenizer.is_sound(answer):
                log.info("%s counts tokens at %s", provider.endpoint, tokenizer.path)
                known.tokenizer = tokenizer
                return
        known.free_at = self._clock() + ABSENT

    async def _count(
        self, known: _Known, tokenizer: Tokenizer, provider: Provider, texts: Sequence[str]
    ) -> None:
        """Count texts, a few at once."""
        waiting = iter([text for text in texts if digest(text) not in known.counted])

        async def work() -> None:
            for text in waiting:
                answer = await self._asked(tokenizer, provider, text)
                tokens = answer and tokenizer.count(answer)
                if tokens is None:
                    known.free_at = self._clock() + REST
                    return
                known.counted[digest(text)] = tokens

        async with asyncio.TaskGroup() as group:
            for _ in range(_AT_ONCE):
                group.create_task(work())

    async def _asked(self, tokenizer: Tokenizer, provider: Provider, text: str) -> Exchange | None:
        """The answer about a text; None where none came."""
        body = tokenizer.body(text, provider.model)
        try:
            return await provider.exchange(
                tokenizer.path, body, seconds=self._patience, aside=tokenizer.aside
            )
        except EndpointError:
            return None
