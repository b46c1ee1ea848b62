"""A small guild on a loopback Discord, and real discord.py clients in this process for it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeAlias

import discord
from discord import app_commands

from tests.loopback.discord_server import (
    PRIVILEGED_INTENTS,
    Channel,
    Guild,
    Limits,
    LoopbackDiscord,
    User,
)
from tests.loopback.discord_server.pointing import pointed_at

ALL_INTENTS = discord.Intents(guilds=True, messages=True, message_content=True)
Handler: TypeAlias = Callable[[discord.Message], Awaitable[None]]


class Client(discord.Client):
    """Answers messages of people as a test says."""

    def __init__(self, on_human_message: Handler | None, intents: discord.Intents) -> None:
        super().__init__(intents=intents, guild_ready_timeout=0.1)
        self.tree = app_commands.CommandTree(self)
        self.received: list[str] = []
        self._on_human_message = on_human_message

    async def on_message(self, message: discord.Message) -> None:
        if message.author.bot:
            return
        self.received.append(message.content)
        if self._on_human_message is not None:
            await self._on_human_message(message)


class House:
    """A server with a guild, a channel and a member."""

    def __init__(self, server: LoopbackDiscord) -> None:
        self.server = server
        self.guild: Guild = server.build.guild()
        self.channel: Channel = server.build.channel(self.guild, "general")
        self.alice: User = server.build.user("alice", self.guild)

    @asynccontextmanager
    async def client(
        self, on_human_message: Handler | None = None, *, intents: discord.Intents = ALL_INTENTS
    ) -> AsyncGenerator[Client]:
        """A client that is logged in and ready."""
        client = Client(on_human_message, intents)
        async with client:
            running = asyncio.create_task(client.start(self.server.token))
            await self.server.wait_for(lambda record: record.kind == "identify")
            await client.wait_until_ready()
            yield client
            await client.close()
            await running

    def channel_of(self, client: discord.Client) -> discord.TextChannel:
        channel = client.get_channel(self.channel.id)
        assert isinstance(channel, discord.TextChannel)
        return channel


@asynccontextmanager
async def house(
    limits: Limits | None = None, *, granted_intents: int = PRIVILEGED_INTENTS
) -> AsyncGenerator[House]:
    async with LoopbackDiscord(limits=limits, granted_intents=granted_intents) as server:
        with pointed_at(server):
            yield House(server)
