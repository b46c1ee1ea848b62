"""The bot in a SimCord with a member, a moderator and an admin."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import discord
import pytest
from discord import app_commands
from simcord import ChannelHandle, Env, GuildHandle, InteractionResult, MemberActor, SetupError

from chat.desk import Desk
from chat.knowledge_admin import KnowledgeAdmin
from cogs.client import VerbatimBot
from cogs.reminders import Reminders
from cogs.tree import NOT_ALLOWED
from tests.cogs.scripted import MemoryMeta, ScriptedService


@dataclass(kw_only=True)
class Sim:
    """A server with `alice`, who may nothing special, `mod`, who may manage messages, and `boss`,
    who may manage the server."""

    env: Env
    service: ScriptedService
    desk: Desk
    guild: GuildHandle
    channel: ChannelHandle
    alice: MemberActor
    mod: MemberActor
    boss: MemberActor

    async def ask(self, text: str, *, who: MemberActor | None = None) -> discord.Message:
        """Mention the bot, and wait until it has nothing more to do."""
        assert self.env.bot.user is not None
        return await (who or self.alice).send(self.channel, f"{self.env.bot.user.mention} {text}")

    def answers(self) -> list[discord.Message]:
        """What the bot has written in the channel, oldest first."""
        return [m for m in self.channel.history() if m.author == self.env.bot.user]

    def said(self) -> list[str]:
        """The words of it."""
        return [message.content for message in self.answers()]

    async def privately(self, who: MemberActor, path: str, **options: object) -> str:
        """Run a command; returns what it answered, to whoever ran it alone."""
        return private(await who.slash(self.channel, path, **options))

    async def for_managers_alone(self, path: str, **options: object) -> InteractionResult:
        """Nobody but admins is offered the command, and the bot refuses it where the server's
        integration settings offer it to everyone; returns what the admin gets."""
        with pytest.raises(SetupError, match="default-member-permissions"):
            await self.alice.slash(self.channel, path, **options)
        await self.offer_to_all(path)
        assert await self.privately(self.alice, path, **options) == NOT_ALLOWED
        return await self.boss.slash(self.channel, path, **options)

    async def offer_to_all(self, path: str) -> None:
        """As an admin may do in the server's integration settings."""
        bot = self.env.bot
        assert isinstance(bot, VerbatimBot)
        registered = await bot.tree.fetch_commands()
        command = next(c for c in registered if c.name in {path, path.partition(" ")[0]})
        self.guild.set_command_permissions(command, {self.guild.default_role: True})


def private(result: InteractionResult) -> str:
    """The words of an answer that only one member sees."""
    assert result.acknowledged
    assert result.ephemeral
    shown = result.response or result.followups[-1]
    assert shown.ephemeral
    return shown.content or str(shown.components)


@pytest.fixture
async def sim(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Sim]:
    async def rests(_: object) -> None:
        """What waits for work for ever: SimCord takes it for an answer that never comes."""

    monkeypatch.setattr(Reminders, "_send", rests)
    monkeypatch.setattr(KnowledgeAdmin, "run_embedding", rests)
    service = ScriptedService()
    bot = VerbatimBot(
        service, MemoryMeta(), desk, cadence=0.05, guild_ready_timeout=0.01, identify_pause=0.0
    )
    env = Env(bot, shard_count=1)
    await env.start()
    try:
        guild = env.create_guild()
        moderators = guild.create_role(
            "mods", permissions=discord.Permissions(manage_messages=True)
        )
        admins = guild.create_role("admins", permissions=discord.Permissions(manage_guild=True))
        yield Sim(
            env=env,
            service=service,
            desk=desk,
            guild=guild,
            channel=guild.create_text_channel("general"),
            alice=guild.add_member(env.create_user("alice")),
            mod=guild.add_member(env.create_user("mod"), roles=[moderators]),
            boss=guild.add_member(env.create_user("boss"), roles=[admins]),
        )
    finally:
        await env.shutdown()
    assert [e for e in env.errors if not isinstance(e, app_commands.MissingPermissions)] == []
