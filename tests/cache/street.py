"""Conversations of a house whose requests go over real sockets, recorded by turn and channel."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from chat.ports import ChannelMessage, Member, Place
from data.store import Store, open_store
from providers.openai.adapter import Limits, OpenAIProvider
from tests.cache.contract import CacheContract, Sent
from tests.chat.house import House
from tests.chat.scripted import ADA, BOB, GUILD, NOW, Channel, Recorder
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tools.toolset import Toolset

CLEO = Member(id=12, name="Cleo")
MEMBERS = (ADA, BOB, CLEO)

Answer: TypeAlias = str | Step

ROLL = 'roll_dice({"dice":"2d6"})'
TIME = "current_time({})"
RECALL = "recall({})"


def remember(fact: str) -> str:
    """A call that keeps a fact."""
    return f'remember({{"fact":"{fact}"}})'


class Street:
    """A guild with several channels. Every turn is a minute after the one before."""

    def __init__(
        self,
        home: Path,
        endpoints: Sequence[LoopbackEndpoint],
        stack: AsyncExitStack,
        build: Callable[[Store], House],
    ) -> None:
        self.endpoints = endpoints
        self.sent: list[Sent] = []
        self.turns = 0
        self._home = home
        self._stack = stack
        self._build = build
        self._channels: dict[int, Channel] = {}
        self.store: Store
        self.house: House

    @property
    def now(self) -> datetime:
        """The time of the next turn."""
        return NOW + timedelta(minutes=self.turns)

    @property
    def contract(self) -> CacheContract:
        """The judge of what was sent so far."""
        return CacheContract(self.sent)

    async def open(self) -> None:
        """Start, or start again, over the same database."""
        await self._stack.aclose()
        self.store = await self._stack.enter_async_context(open_store(self._home))
        self.house = self._build(self.store)
        self._enter(1)

    async def switch(self, **values: str) -> None:
        """Settings of `/config`, as an admin sets them."""
        for name, value in values.items():
            await self.house.service.configure(GUILD, name, value)

    def channel(self, number: int = 1) -> Channel:
        """A channel's messages."""
        return self._channels.setdefault(number, Channel(first_id=number * 100_000))

    def says(self, text: str, author: Member = ADA, *, channel: int = 1) -> ChannelMessage:
        """A message that nobody answers yet."""
        return self.channel(channel).add(author, text)

    async def ask(
        self,
        text: str,
        *answers: Answer,
        author: Member = ADA,
        channel: int = 1,
        files: Mapping[str, bytes] | None = None,
        limit: int = 2000,
    ) -> Recorder:
        """One whole turn."""
        message = self.channel(channel).add(author, text, files=files)
        return await self.answer(message, *answers, channel=channel, limit=limit)

    async def answer(
        self, message: ChannelMessage, *answers: Answer, channel: int = 1, limit: int = 2000
    ) -> Recorder:
        """The turn of a message that was said before."""
        endpoint, at = self.endpoints[-1], len(self.endpoints[-1].received)
        endpoint.add(*(_step(answer) for answer in answers))
        shown = await self._respond(message, channel, limit)
        for received in endpoint.received[at:]:
            self._record(message, channel, received.body)
        self.turns += 1
        return shown

    async def ask_at_once(self, *asked: tuple[Member, str, str]) -> None:
        """Turns of one request each, for questions that come together: who, what, the answer."""
        endpoint = self.endpoints[-1]
        at = len(endpoint.received)
        messages = [self.says(text, author) for author, text, _ in asked]
        # A request may show the questions before its own too, so it is known by the newest in it.
        endpoint.add(*(Step(when=text, text=answer) for _, text, answer in reversed(asked)))
        await asyncio.gather(*(self._respond(message, 1, 2000) for message in messages))
        for received in endpoint.received[at:]:
            last = str(received.messages[-1]["content"])
            self._record(next(m for m in reversed(messages) if m.text in last), 1, received.body)
            self.turns += 1

    async def _respond(self, message: ChannelMessage, channel: int, limit: int) -> Recorder:
        self._enter(channel)
        shown = self.house.presenter(limit=limit)
        await self.house.service.respond(self.house.about(message), self.house.channel, shown)
        return shown

    def _enter(self, channel: int) -> None:
        self.house.channel = self.channel(channel)
        self.house.place = Place(guild_id=GUILD, channel_id=channel)

    def _record(self, message: ChannelMessage, channel: int, body: dict[str, object]) -> None:
        question = f"{message.text}\n[from {message.author.name}]"
        self.sent.append(Sent(turn=self.turns, channel=channel, question=question, body=body))


def _step(answer: Answer) -> Step:
    return Step(text=answer, split=0) if isinstance(answer, str) else answer


@asynccontextmanager
async def street(
    home: Path,
    *,
    window: int | None = None,
    toolsets: Sequence[Toolset] | None = None,
    fallback: bool = False,
    models: Sequence[str | None] = ("loopback-model", "fallback-model"),
) -> AsyncGenerator[Street]:
    """A street with one endpoint, or with a first one and its fallback."""
    async with AsyncExitStack() as outer, AsyncExitStack() as inner:
        endpoints: list[LoopbackEndpoint] = []
        providers: list[OpenAIProvider] = []
        for model in models[: 2 if fallback else 1]:
            endpoint = await outer.enter_async_context(LoopbackEndpoint())
            limits = Limits(first_token=5, idle=5)
            provider = OpenAIProvider(base_url=endpoint.base_url, model=model, limits=limits)
            outer.push_async_callback(provider.close)
            endpoints.append(endpoint)
            providers.append(provider)

        def build(store: Store) -> House:
            return House(
                store,
                provider=providers[0],
                fallbacks=providers[1:],
                window=window,
                toolsets=toolsets,
                clock=lambda: made.now,
            )

        made = Street(home, endpoints, inner, build)
        await made.open()
        yield made
