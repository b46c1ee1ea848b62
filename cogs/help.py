"""/help: what works for the member who asks, where they ask.

Invariant: nothing is told that the member could not find out by trying: no address, no key, no
command that they may not use.
"""

from typing import Any, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.desk import Desk
from cogs.forms import clipped
from cogs.permissions import lacking, lacking_to_speak, within
from cogs.ports import Service
from cogs.translations.saying import Speaks, named, retold, tr
from providers.base import EndpointError

_Command: TypeAlias = (
    app_commands.Command[Any, ..., Any] | app_commands.Group | app_commands.ContextMenu
)

_MOST_TOOLS = 12
_MOST = 2000


class Help(commands.Cog):
    """The command. `reads_all` tells whether the bot may read messages that do not mention it."""

    def __init__(
        self,
        bot: commands.AutoShardedBot,
        service: Service,
        desk: Desk,
        *,
        reads_all: bool,
    ) -> None:
        self._bot = bot
        self._service = service
        self._desk = desk
        self._admission = desk.admission
        self._reads_all = reads_all

    @app_commands.command(name="help", description="What works for you here, and how to ask")
    async def help(self, interaction: discord.Interaction) -> None:
        """Tell the member."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        locale = interaction.locale
        heads = {
            tr(locale, "Here"): await self._here(interaction),
            tr(locale, "How to ask"): self._how(interaction),
            tr(locale, "Model"): await self._model(interaction),
            tr(locale, "Tools"): await self._tools(interaction),
        }
        lines = [f"**{head}** {text}" for head, text in heads.items() if text]
        lines.append(f"**{tr(locale, 'Commands for you')}**")
        lines += self._commands(interaction)
        await interaction.edit_original_response(content=clipped("\n".join(lines), _MOST))

    async def _here(self, interaction: discord.Interaction) -> str:
        """Whether the bot answers in this channel, and what is in the way."""
        locale, channel, guild_id = interaction.locale, interaction.channel, interaction.guild_id
        if guild_id is None:
            if await self._admission.takes_dms_of(interaction.user.id):
                return tr(locale, "I answer you in direct messages.")
            return tr(locale, "I do not chat in direct messages; ask me on a server that we share.")
        if not isinstance(channel, discord.abc.Messageable):
            return tr(locale, "Nobody converses here.")
        if missing := lacking_to_speak(channel):
            return tr(
                locale,
                "I cannot answer here: I lack {permissions}.",
                permissions=_and(missing, locale),
            )
        if not await self._admission.takes_channel(guild_id, within(channel)):
            return tr(locale, "I do not answer in this channel: admins chose others.")
        if missing := lacking(channel):
            return tr(
                locale,
                "I answer in this channel, and would do it better with {permissions}.",
                permissions=_and(missing, locale),
            )
        return tr(locale, "I read and answer in this channel.")

    def _how(self, interaction: discord.Interaction) -> str:
        locale = interaction.locale
        if interaction.guild_id is None:
            return tr(locale, "Just write.")
        me = self._bot.user.mention if self._bot.user else "@"
        if self._reads_all:
            return tr(locale, "Mention {me} in your message, or reply to one of mine.", me=me)
        return tr(locale, "Mention {me} in your message, also where you reply to me.", me=me)

    async def _model(self, interaction: discord.Interaction) -> str:
        locale = interaction.locale
        try:
            overview = await self._service.overview(interaction.guild_id)
        except EndpointError as error:
            return retold(locale, error.member)
        model = overview.model or tr(locale, "not known yet")
        if overview.brought:
            return tr(locale, "{model}, by an endpoint of this server", model=model)
        return tr(locale, "{model}, by the endpoint of my operator", model=model)

    async def _tools(self, interaction: discord.Interaction) -> str:
        locale = interaction.locale
        try:
            tools = await self._service.tools(interaction.guild_id)
        except EndpointError:
            return ""  # said of the model already
        names = [_plain(tool.name) for tool in tools if tool.enabled]
        if not names:
            return tr(locale, "none are on")
        text = ", ".join(names[:_MOST_TOOLS])
        if more := len(names) - _MOST_TOOLS:
            return (
                text if more < 0 else tr(locale, "{tools} and {more} more", tools=text, more=more)
            )
        return text

    def _commands(self, interaction: discord.Interaction) -> list[str]:
        """Those that the member may use here, in their language."""
        found: list[str] = []
        for command in self._bot.tree.get_commands():
            needed = command.default_permissions
            if needed is not None and not interaction.permissions >= needed:
                continue
            if command.guild_only and interaction.guild_id is None:
                continue
            found.append(_line(interaction.locale, command))
        return sorted(found)


def _line(
    locale: Speaks,
    command: _Command,
) -> str:
    if isinstance(command, app_commands.ContextMenu):
        name, _ = named(locale, command.qualified_name, "")
        return tr(locale, "- {name}: in the menu of a message, under Apps", name=name)
    name, description = named(locale, command.qualified_name, command.description)
    return f"- `/{name}` {description}"


def _plain(tool: str) -> str:
    """A tool's name for people: `roll dice`, or `look up (docs)` for `mcp__docs__look_up`."""
    match tool.split("__", 2):
        case ["mcp", server, name]:
            tool = f"{name} ({server})"
        case _:
            pass
    return tool.replace("_", " ").strip()


def _and(titles: list[str], locale: Speaks) -> str:
    return ", ".join(retold(locale, title) for title in titles)
