"""Turns over real sockets in which the model alone is played: it tells a fact only if it saw it."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from chat.knowledge import Grounder
from chat.ports import Place
from data.knowledge import AuthorisedContexts, Context, Document, NewDocument, Passage
from data.store import Store
from prompt.events import StreamEvent
from prompt.knowledge import Snippet
from prompt.prompt import Prompt
from prompt.values import Json
from providers.base import RequestOptions
from providers.openai.adapter import Limits, OpenAIProvider
from tests.chat.house import House
from tests.chat.scripted import CHANNEL, Recorder
from tests.loopback.endpoint import LoopbackEndpoint, Received, Step
from tools.toolset import Toolset

OWNER, STRANGER = 42, 7
"""Guilds: the one that has the documents, and another."""
FACT = "4417 kilohertz"
QUESTION = "On which frequency does the beacon transmit?"
DOCUMENT = f"The beacon on Gull Rock transmits on {FACT}, day and night."
IGNORANT = "I have not been told."


class Witness(LoopbackEndpoint):
    """Scripted steps come first. After them it tells the fact if that stands in the messages, and
    else that it does not know; it never calls a tool."""

    def __init__(self, *steps: Step, whole: bool = False) -> None:
        super().__init__(steps)
        self._whole = whole

    def _step_for(self, received: Received) -> Step | None:
        if (step := super()._step_for(received)) is not None:
            return step
        text = f"It is {FACT}." if FACT in words(received) else IGNORANT
        return Step(text=text, whole=self._whole)


def words(received: Received) -> str:
    return json.dumps(received.messages, ensure_ascii=False)


class Attentive(OpenAIProvider):
    """The real provider; keeps the prompts that it sends."""

    def __init__(self, endpoint: LoopbackEndpoint, model: str = "witness") -> None:
        super().__init__(
            base_url=endpoint.base_url, model=model, limits=Limits(first_token=5, idle=5)
        )
        self.prompts: list[Prompt] = []

    @asynccontextmanager
    async def stream(
        self, prompt: Prompt, options: RequestOptions
    ) -> AsyncGenerator[AsyncIterator[StreamEvent], None]:
        self.prompts.append(prompt)
        async with super().stream(prompt, options) as events:
            yield events


@dataclass(slots=True)
class Counting:
    """The real search, counted."""

    store: Store
    asked: list[str] = field(default_factory=list[str])

    async def search(self, authorised: AuthorisedContexts, question: str) -> Sequence[Passage]:
        self.asked.append(question)
        return await self.store.knowledge.retriever().search(authorised, question)


class Station:
    """A guild's channel with the real service over `endpoint`, and another endpoint behind it if
    there is one."""

    def __init__(
        self,
        store: Store,
        endpoint: LoopbackEndpoint,
        *further: LoopbackEndpoint,
        guild_id: int = OWNER,
        toolsets: Sequence[Toolset] | None = None,
        parent_id: int | None = None,
    ) -> None:
        self.store = store
        self.guild_id = guild_id
        self.endpoint = endpoint
        self.searcher = Counting(store)
        self.grounder = Grounder(store.knowledge, searcher=self.searcher)
        self.provider = Attentive(endpoint)
        self.fallbacks = [Attentive(each, "second") for each in further]
        self.house = House(
            store,
            provider=self.provider,
            fallbacks=self.fallbacks,
            toolsets=[self.grounder, *(toolsets or ())],
            place=Place(guild_id=guild_id, channel_id=CHANNEL, parent_id=parent_id),
            grounder=self.grounder,
        )

    async def set(self, **values: Json) -> None:
        for name, value in values.items():
            await self.store.settings.put(self.guild_id, "", name, value)

    async def switch(self, name: str, value: str) -> None:
        await self.house.service.configure(self.guild_id, name, value)

    async def ask(self, text: str = QUESTION) -> Recorder:
        return await self.house.ask(text)

    @property
    def snippets(self) -> tuple[Snippet, ...]:
        """What the last prompt reports."""
        prompts = [*self.provider.prompts, *(p for each in self.fallbacks for p in each.prompts)]
        return prompts[-1].report.context_snippets

    @property
    def offered(self) -> list[str]:
        """Tools of the last request."""
        body = self.endpoint.received[-1].body
        return [tool["function"]["name"] for tool in body.get("tools", [])]

    async def close(self) -> None:
        for each in (self.provider, *self.fallbacks):
            await each.close()


@asynccontextmanager
async def station(
    store: Store,
    endpoint: LoopbackEndpoint | None = None,
    *further: LoopbackEndpoint,
    guild_id: int = OWNER,
    toolsets: Sequence[Toolset] | None = None,
    parent_id: int | None = None,
) -> AsyncGenerator[Station]:
    async with endpoint or Witness() as first:
        made = Station(
            store, first, *further, guild_id=guild_id, toolsets=toolsets, parent_id=parent_id
        )
        try:
            yield made
        finally:
            await made.close()


async def keep(
    store: Store,
    *texts: str,
    guild_id: int = OWNER,
    name: str = "K",
    url: str = "",
    used: bool = True,
) -> Context:
    """A context that holds these texts as documents; the guild uses it in every channel."""
    context = await store.knowledge.contexts.create(guild_id, name, 1)
    assert isinstance(context, Context)
    for number, text in enumerate(texts):
        document = NewDocument(
            name=f"{name.lower()}{number}.txt",
            content=text,
            kind="attachment",
            url=url,
            size=len(text),
            added_by=1,
        )
        assert isinstance(await store.knowledge.documents.add(context, document), Document)
    if used:
        await use(store, context, guild_id)
    return context


async def use(store: Store, context: Context, guild_id: int = OWNER, channel_id: int = 0) -> None:
    contexts = store.knowledge.contexts
    await contexts.use(await contexts.authorise(guild_id, [context.id]), channel_id)
