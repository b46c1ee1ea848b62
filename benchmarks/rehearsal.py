"""Conversations whose prompts a real server reads, while the answers stand in a script.

Invariant: what is measured is the server's own count. Each request is the one that the chat service
makes, but for its length: the server writes one token of an answer that is then taken from the
script, so that every run says the same and costs only the reading.
"""

import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import cast

from chat.ports import Member, Place
from data.knowledge import NewDocument
from data.knowledge.values import Context
from data.store import Store, open_store
from prompt.events import StreamEvent, Usage
from prompt.prompt import Prompt
from prompt.values import Json, JsonObject
from providers.base import Exchange, Provider, RequestOptions
from tests.chat.house import House
from tests.chat.scripted import GUILD, NOW, Channel, ScriptedModel, Step
from tools.registry import Tool
from tools.toolset import FixedTools, Offered, Toolset, offering

SPARE = 16
"""Tokens of what has to be reused that may be read again: where two texts part, so may tokens."""

_USER = "<|im_start|>user\n"
"""Begins a member's message in the templates of the models that are run here."""

_SIGNED = "\n[from "
"""Ends a member's words; nothing behind the question holds it here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """How one prompt was read: its tokens, how many of them were cached, how many of the prompt
    before it in its channel have to be, and the seconds until the first token. `before` are the
    tokens of that prompt, None where there is none."""

    tokens: int
    cached: int
    due: int
    before: int | None
    seconds: float

    @property
    def share(self) -> float:
        """Part of the prompt before that did not have to be read again."""
        return min(self.cached / self.before, 1.0) if self.before else 0.0


class Rehearsed:
    """providers.base.Provider: a server that reads and a script that speaks."""

    def __init__(self, server: Provider) -> None:
        self._server = server
        self.script = ScriptedModel()
        self.channel = 0
        """Whose prompts come next."""
        self.reads: list[Read] = []
        self._latest: dict[int, tuple[int, int]] = {}

    @property
    def endpoint(self) -> str:
        """See Provider."""
        return self._server.endpoint

    @property
    def model(self) -> str:
        """See Provider."""
        return self._server.model

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject:
        """See Provider."""
        return self._server.body(prompt, options)

    @asynccontextmanager
    async def stream(
        self, prompt: Prompt, options: RequestOptions
    ) -> AsyncGenerator[AsyncIterator[StreamEvent]]:
        """See Provider."""
        usage, seconds = await self._read(prompt, options)
        if options.max_tokens == 1:  # a warm-up
            yield _nothing()
            return
        tokens, cached = usage.prompt_tokens or 0, usage.cached_tokens or 0
        before, due = self._latest.get(self.channel, (None, 0))
        self.reads.append(
            Read(tokens=tokens, cached=cached, due=due, before=before, seconds=seconds)
        )
        self._latest[self.channel] = tokens, await self._due(self.body(prompt, options))
        async with self.script.stream(prompt, options) as events:
            yield events

    async def list_models(self) -> Sequence[str]:
        """See Provider."""
        return await self._server.list_models()

    async def resolve_model(self) -> str:
        """See Provider."""
        return await self._server.resolve_model()

    async def slots(self) -> int | None:
        """See Provider."""
        return await self._server.slots()

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        """See Provider."""
        return await self._server.exchange(path, body, seconds=seconds, aside=aside)

    async def close(self) -> None:
        """See Provider."""
        await self._server.close()

    async def _read(self, prompt: Prompt, options: RequestOptions) -> tuple[Usage, float]:
        began = time.monotonic()
        usage = Usage()
        async with self._server.stream(prompt, replace(options, max_tokens=1)) as events:
            async for event in events:
                if isinstance(event, Usage):
                    usage = event
        return usage, time.monotonic() - began

    async def _due(self, body: JsonObject) -> int:
        """How many tokens of this prompt the next one has to begin with, but for SPARE of them:
        those before the question. Calls and results stand behind the tail, which goes."""
        asked = {name: body[name] for name in ("messages", "tools") if name in body}
        text = str((await self._told("/apply-template", asked))["prompt"])
        begin = text[: text.rindex(_USER, 0, text.rindex(_SIGNED))]
        asked = {"content": begin, "parse_special": True}
        return len(cast("list[int]", (await self._told("/tokenize", asked))["tokens"]))

    async def _told(self, path: str, body: JsonObject) -> dict[str, Json]:
        answer = await self._server.exchange(path, body, seconds=60, aside=True)
        found: dict[str, Json] = json.loads(answer.text)
        return found


async def _nothing() -> AsyncIterator[StreamEvent]:
    for event in ():
        yield event


class Growing:
    """A toolset as a bot has it that sends a tool's definition from the turn on that loads it."""

    def __init__(self, tools: Sequence[Tool], first: int) -> None:
        self._tools = tools
        self._loaded = first

    def load(self) -> None:
        """One more."""
        self._loaded = min(self._loaded + 1, len(self._tools))

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset."""
        return offering(self._tools[: self._loaded])


class Rehearsal:
    """One run: a guild of its own with settings of its own, over a fresh database."""

    def __init__(
        self, server: Provider, store: Store, name: str, toolset: Toolset, window: int
    ) -> None:
        self.store = store
        self.name = name
        """Stands in what members say, so that runs have nothing but the head in common."""
        self.provider = Rehearsed(server)
        self.turns = 0
        self._channels: dict[int, Channel] = {}
        self.house = House(
            store,
            provider=self.provider,
            toolsets=[toolset],
            window=window,
            clock=lambda: NOW + timedelta(minutes=self.turns),
        )

    async def set(self, **values: str) -> None:
        """Set switches as an admin does."""
        for name, value in values.items():
            await self.house.service.configure(GUILD, name, value)

    async def persona(self, text: str) -> None:
        """Set who the bot is, which gives its prompts another head."""
        await self.store.settings.put(GUILD, "", "persona", text)

    async def ground_in(self, *texts: str) -> None:
        """Have every channel use these documents."""
        contexts, documents = self.store.knowledge.contexts, self.store.knowledge.documents
        made = await contexts.create(GUILD, "handbook", 1)
        if not isinstance(made, Context):
            raise TypeError(f"no context was made: {made}")
        for number, text in enumerate(texts):
            name, size = f"part {number}", len(text.encode())
            await documents.add(
                made,
                NewDocument(name=name, content=text, kind="link", url="", size=size, added_by=1),
            )
        await contexts.use(await contexts.authorise(GUILD, [made.id]))

    async def ask(self, author: Member, text: str, *steps: Step, channel: int = 1) -> None:
        """One whole turn."""
        self.provider.channel = channel
        self.provider.script.add(*steps)
        self.house.place = Place(guild_id=GUILD, channel_id=channel)
        self.house.channel = self._channels.setdefault(channel, Channel(channel * 100_000))
        shown = await self.house.ask(text, author=author)
        if shown.reply.notices:
            raise RuntimeError(f"turn {self.turns} failed: {shown.reply.notices}")
        self.turns += 1

    def report(self) -> dict[str, Json]:
        """What the server told, as JSON. Raises AssertionError if the script was not kept to."""
        self.provider.script.check()
        return summary(self.provider.reads, self.turns)


def summary(reads: Sequence[Read], turns: int) -> dict[str, Json]:
    """The figures of a run. Shares are of the prompt before, in percent; the first prompt of a
    channel has none."""
    later = [read for read in reads if read.before is not None]
    spare = [read.cached - (read.due - SPARE) for read in later]
    prompts, cached = sum(read.tokens for read in reads), sum(read.cached for read in reads)
    before = sum(read.before or 0 for read in later)
    reused = sum(min(read.cached, read.before or 0) for read in later)
    return {
        "turns": turns,
        "requests": len(reads),
        "prompt_tokens": prompts,
        "cached_tokens": cached,
        "reused_percent": round(100 * reused / max(before, 1), 1),
        "worst_percent": round(100 * min((read.share for read in later), default=0.0), 1),
        "fell_short": sum(each < 0 for each in spare),
        "read_again_a_request": round(mean(r.tokens - r.cached for r in later)) if later else 0,
        "cached_by_request": [read.cached for read in reads],
        "tokens_by_request": [read.tokens for read in reads],
    }


@asynccontextmanager
async def rehearsal(
    server: Provider,
    name: str,
    *,
    tools: Sequence[Tool] = (),
    toolset: Callable[[], Toolset] | None = None,
    window: int = 8192,
) -> AsyncGenerator[Rehearsal]:
    """A run by that name, with these tools."""
    with TemporaryDirectory() as home:
        async with open_store(Path(home)) as store:
            made = toolset() if toolset is not None else FixedTools(offering(tools))
            yield Rehearsal(server, store, name, made, window)
