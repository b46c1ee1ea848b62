"""The bot in this process, on a loopback Discord over real sockets."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from discord.gateway import KeepAliveHandler

from chat.desk import Desk, open_desk
from cogs.client import VerbatimBot
from cogs.queueing import TELL_AFTER
from cogs.shards import IDENTIFY_PAUSE
from data.keys import open_keys
from data.store import Store, open_store
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.guilds import guilds_provider
from tests.cogs.scripted import MemoryMeta, ScriptedService
from tests.loopback.discord_server import (
    Bucket,
    Channel,
    Guild,
    Interaction,
    LoopbackDiscord,
    Message,
    User,
)
from tests.loopback.discord_server.pointing import pointed_at

CADENCE = 0.15
"""Fast, where a test does not mean the rate limits; those are lifted then."""


@dataclass(kw_only=True)
class Scene:
    """A guild with a channel, two members, and the bot that serves them."""

    server: LoopbackDiscord
    service: ScriptedService
    meta: MemoryMeta
    desk: Desk
    guild: Guild
    channel: Channel
    alice: User
    bob: User
    bot: VerbatimBot | None = None

    def ask(self, text: str, *, user: User | None = None) -> Message:
        """A message that mentions the bot."""
        mention = self.server.bot.mention
        return self.server.driver.say(self.channel, user or self.alice, f"{mention} {text}")

    def answers(self, channel: Channel | None = None) -> list[Message]:
        """The bot's messages in a channel."""
        messages = self.server.messages(channel or self.channel)
        return [message for message in messages if message.author is self.server.bot]

    async def turns_done(self, count: int = 1, *, within: float = 10.0) -> None:
        """Wait until so many turns were finished."""
        async with asyncio.timeout(within):
            while len(self.service.shown) < count:
                await asyncio.sleep(0.01)

    async def slash(
        self, path: str, user: User | None = None, **options: str | Channel
    ) -> Interaction:
        """Run a command and wait for what it shows."""
        used = self.server.driver.slash(self.channel, user or self.guild.owner, path, options)
        return await self.server.driver.answered(used)

    async def start(
        self,
        *,
        cadence: float = CADENCE,
        tell_after: float = TELL_AFTER,
        answer_within: float = 10.0,
        reads_all: bool = True,
        identify_pause: float = IDENTIFY_PAUSE,
    ) -> VerbatimBot:
        """Connect the bot."""
        position = len(self.server.journal)
        self.bot = VerbatimBot(
            self.service,
            self.meta,
            self.desk,
            reads_all=reads_all,
            cadence=cadence,
            tell_after=tell_after,
            answer_within=answer_within,
            guild_ready_timeout=0.1,
            identify_pause=identify_pause,
        )
        self._running = asyncio.create_task(self.bot.start(self.server.token))
        await self.server.wait_for(lambda record: record.kind == "identify", since=position)
        await self.bot.wait_until_ready()
        await self.server.wait_for(lambda record: record.kind == "commands")
        return self.bot

    async def stop(self) -> None:
        """Disconnect it."""
        if self.bot is not None:
            await self.bot.close()
            await asyncio.wait([self._running])


def heart(bot: VerbatimBot, shard: int = 0) -> KeepAliveHandler:
    """What sends a session's heartbeats, and gives up where none is answered."""
    beats = bot.shards[shard]._parent.ws._keep_alive  # pyright: ignore[reportPrivateUsage]
    assert beats is not None
    return beats


@pytest.fixture
async def store(tmp_path: Path) -> AsyncGenerator[Store]:
    async with open_store(tmp_path) as opened:
        yield opened


@pytest.fixture
async def desk(store: Store, tmp_path: Path) -> AsyncGenerator[Desk]:
    """Everyone may write direct messages; the operator is asked about guilds."""
    provider = OpenAIProvider(base_url="http://127.0.0.1:9/v1", model="operators")
    opened = open_desk(
        store,
        open_keys(tmp_path, None),
        operators=provider,
        with_model=lambda model: OpenAIProvider(base_url=provider.endpoint, model=model),
        connect=partial(guilds_provider, limits=Limits()),
        approved_guilds="ask",
        dms="on",
    )
    yield opened
    await opened.endpoints.close()
    await provider.close()


@pytest.fixture
async def quiet_scene(desk: Desk) -> AsyncGenerator[Scene]:
    """A scene whose bot is not connected yet, with Discord's usual rate limits."""
    async with LoopbackDiscord() as server:
        guild = server.build.guild()
        scene = Scene(
            server=server,
            service=ScriptedService(),
            meta=MemoryMeta(),
            desk=desk,
            guild=guild,
            channel=server.build.channel(guild, "general"),
            alice=server.build.user("alice", guild),
            bob=server.build.user("bob", guild),
        )
        with pointed_at(server):
            yield scene
            await scene.stop()
        assert server.violations() == []


@pytest.fixture
async def scene(quiet_scene: Scene) -> Scene:
    """A scene with the bot connected and rate limits out of the way."""
    buckets = quiet_scene.server.limits.buckets
    buckets.update(dict.fromkeys(buckets, Bucket(requests=40, seconds=1.0)))
    await quiet_scene.start()
    return quiet_scene
