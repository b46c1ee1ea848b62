"""The real chat service over a real store, with a scripted model behind it."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from chat.endpoints import NoFurther, Route
from chat.knowledge import Grounder
from chat.ports import ChannelMessage, Member, Place, TurnRequest
from chat.service import Generation
from chat.watched import WatchedService
from data.store import Store
from prompt.prompt import Prompt
from prompt.values import Turn
from prompt.verbatim import Verdict
from providers.base import Provider
from tests.chat.scripted import (
    ADA,
    NOW,
    PLACE,
    Channel,
    Recorder,
    Request,
    ScriptedModel,
    Step,
)
from tools.builtin import builtin_tools
from tools.registry import Registry
from tools.toolset import FixedTools, Toolset, offering


class SoleEndpoint:
    """Every guild's turns go to one provider, or the fallbacks behind it."""

    def __init__(self, provider: Provider, *fallbacks: Provider) -> None:
        self._routes = [
            Route(
                provider=each,
                key=each.endpoint,
                id=f"operator:{rank}",
                rank=rank,
                settings_hold=not rank,
            )
            for rank, each in enumerate((provider, *fallbacks))
        ]

    @asynccontextmanager
    async def serving(
        self, guild_id: int | None, rank: int = 0, *, channel_id: int | None = None
    ) -> AsyncGenerator[Route]:
        if rank >= len(self._routes):
            raise NoFurther
        yield self._routes[rank]


class House:
    """One channel and everything behind it."""

    def __init__(
        self,
        store: Store,
        *,
        registry: Registry | None = None,
        toolsets: Sequence[Toolset] | None = None,
        window: int | None = None,
        secrets: Sequence[str] = (),
        place: Place = PLACE,
        provider: Provider | None = None,
        fallbacks: Sequence[Provider] = (),
        reserve: int = 200,
        grounder: Grounder | None = None,
        clock: Callable[[], datetime] = lambda: NOW,
    ) -> None:
        self.store = store
        self.model = ScriptedModel()
        self.channel = Channel()
        self.place = place
        self.provider: Provider = provider or self.model
        self.fallbacks = fallbacks
        tools = [builtin_tools()] if registry is None else [FixedTools(offering(registry))]
        self._toolsets = tools if toolsets is None else toolsets
        self._generation = Generation(
            max_reply_tokens=reserve, temperature=0.5, context_window=window
        )
        self._secrets = secrets
        self._grounder = grounder
        self._clock = clock
        self.service = self.restarted()

    def restarted(self) -> WatchedService:
        """A new service over the same store, as after a restart."""
        self.service = WatchedService(
            store=self.store,
            routes=SoleEndpoint(self.provider, *self.fallbacks),
            toolsets=self._toolsets,
            generation=self._generation,
            persona="You are Fern.",
            secrets=self._secrets,
            grounder=self._grounder,
            clock=self._clock,
        )
        return self.service

    @property
    def requests(self) -> list[Request]:
        return self.model.requests

    @property
    def prompts(self) -> list[Prompt]:
        return [request.prompt for request in self.model.requests]

    def presenter(self, *, limit: int = 2000) -> Recorder:
        return Recorder(self.channel, limit)

    def request(self, text: str, author: Member = ADA) -> TurnRequest:
        message = self.channel.add(author, text)
        return self.about(message)

    def about(self, message: ChannelMessage) -> TurnRequest:
        return TurnRequest(place=self.place, member=message.author, message=message)

    async def ask(
        self, text: str, *steps: Step, author: Member = ADA, limit: int = 2000
    ) -> Recorder:
        """One whole turn; `steps` are the model's answers, round by round."""
        self.model.add(*steps)
        presenter = self.presenter(limit=limit)
        await self.service.respond(self.request(text, author), self.channel, presenter)
        assert presenter.finishes == 1
        return presenter

    async def stored(self, presenter: Recorder) -> tuple[Turn, ...]:
        """What is kept of the turn that `presenter` showed; empty if nothing is."""
        found = await self.store.turns.by_messages(presenter.ids)
        assert len({turn.id for turn in found.values()}) <= 1
        return next(iter(found.values())).turns if found else ()

    async def verdict(self) -> Verdict:
        return await self.store.verdicts.get(self.provider.endpoint, self.provider.model)
