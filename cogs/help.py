"""/help: what works for the member who asks, where they ask.

Invariant: nothing is told that the member could not find out by trying: no address, no key, no
command that they may not use.
"""

from typing import Any, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.desk import Desk
from cogs.addressing import IGNORED
from cogs.admitting import OPTED_OUT, SILENT_HERE
from cogs.asking import NAME as ASK
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
        here, answers = await self._here(interaction)
        heads = {
            tr(locale, "Here"): here,
            tr(locale, "How to ask"): await self._how(interaction) if answers else "",
            tr(locale, "Model"): await self._model(interaction),
            tr(locale, "Tools"): await self._tools(interaction),
        }
        lines = [f"**{head}** {text}" for head, text in heads.items() if text]
        lines.append(f"**{tr(locale, 'Commands for you')}**")
        lines += await self._commands(interaction, answers=answers)
        await interaction.edit_original_response(content=clipped("\n".join(lines), _MOST))

    async def _here(self, interaction: discord.Interaction) -> tuple[str, bool]:
        """Whether the bot answers this member in this channel, what is in the way, and in short
        whether they can ask at all."""
        locale, channel, guild_id = interaction.locale, interaction.channel, interaction.guild_id
        if await self._desk.privacy.has_opted_out(guild_id, interaction.user.id):
            return retold(locale, OPTED_OUT), False
        if guild_id is None:
            if await self._admission.takes_dms_of(interaction.user.id):
                return tr(locale, "I answer you in direct messages."), True
            closed = "I do not chat in direct messages; ask me on a server that we share."
            return retold(locale, closed), False
        if not isinstance(channel, discord.abc.Messageable):
            return tr(locale, "Nobody converses here."), False
        settings = await self._desk.answering.of(guild_id)
        if interaction.user.id in settings.members or not _roles(interaction).isdisjoint(
            settings.roles
        ):
            return retold(locale, IGNORED), False
        if not await self._admission.takes_channel(guild_id, within(channel)):
            return retold(locale, SILENT_HERE), False
        if missing := lacking_to_speak(channel):
            permissions = _and(missing, locale)
            return tr(
                locale, "I cannot answer here: I lack {permissions}.", permissions=permissions
            ), (False)
        if missing := lacking(channel):
            return (
                tr(
                    locale,
                    "I answer in this channel, and would do it better with {permissions}.",
                    permissions=_and(missing, locale),
                ),
                True,
            )
        return tr(locale, "I read and answer in this channel."), True

    async def _how(self, interaction: discord.Interaction) -> str:
        """What has the bot answer this member here, as the server has set it."""
        locale, channel, guild_id = interaction.locale, interaction.channel, interaction.guild_id
        if guild_id is None:
            return tr(locale, "Just write.")
        may, is_thread = interaction.permissions, isinstance(channel, discord.Thread)
        menu, _ = named(locale, ASK, "")
        if not (may.send_messages_in_threads if is_thread else may.send_messages):
            return tr(locale, "You may not write here. “{menu}” answers you alone.", menu=menu)
        settings = await self._desk.answering.of(guild_id)
        me = self._bot.user
        mention = me.mention if me else "@"
        places = within(channel) if isinstance(channel, discord.abc.Messageable) else set[int]()
        own = isinstance(channel, discord.Thread) and me is not None and channel.owner_id == me.id
        ways: list[str] = []
        if self._reads_all and (
            not places.isdisjoint(settings.channels) or (own and settings.threads)
        ):
            ways.append(tr(locale, "Just write: I answer every message here."))
        if settings.mention:
            ways.append(tr(locale, "Mention {me} in your message.", me=mention))
        if settings.reply and self._reads_all:
            ways.append(tr(locale, "Reply to one of my messages."))
        elif settings.reply:
            ways.append(tr(locale, "Reply to one of my messages, and mention {me}.", me=mention))
        if settings.words and self._reads_all:
            words = ", ".join(discord.utils.escape_markdown(word) for word in settings.words)
            ways.append(tr(locale, "Use one of these words: {words}.", words=words))
        if not ways:
            return tr(locale, "Only with “{menu}”, in the menu of a message.", menu=menu)
        return " ".join(ways)

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

    async def _commands(self, interaction: discord.Interaction, *, answers: bool) -> list[str]:
        """Those that the member may use here, in their language."""
        found: list[str] = []
        guild_id, manages = interaction.guild_id, interaction.permissions.manage_guild
        for command in self._bot.tree.get_commands():
            needed = command.default_permissions
            if needed is not None and not interaction.permissions >= needed:
                continue
            if command.guild_only and guild_id is None:
                continue
            if command.name == "knowledge" and not (
                manages or (guild_id and await self._desk.knowledge.members_search(guild_id))
            ):
                continue
            if command.name == ASK and not answers:
                continue
            found.append(_line(interaction.locale, command))
        return sorted(found)


def _roles(interaction: discord.Interaction) -> set[int]:
    user = interaction.user
    return {role.id for role in user.roles} if isinstance(user, discord.Member) else set()


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
