"""/tool: which tools there are, and the prompt that the next turn would send.

Invariant: a snapshot shows nothing of a channel that the member who asks cannot read there, and
only that member sees it.
"""

import io
from typing import Literal, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.overview import ToolListing
from chat.ports import Member, Place
from cogs.history import ChannelHistory
from cogs.ports import Service
from cogs.splitting import split
from cogs.tree import MANAGE_GUILD, answer_privately, require_manage_guild
from prompt.snapshot import PromptTooLarge

_Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread

_LONGEST_DESCRIPTION = 200
_LONGEST_CHOICE = 100
_MOST_CHOICES = 25


class Tool(commands.Cog):
    """The /tool family."""

    tool = app_commands.Group(
        name="tool",
        description="The tools that the model may use on this server",
        guild_only=True,
        default_permissions=MANAGE_GUILD,
    )
    prompt = app_commands.Group(name="prompt", description="What the model is sent", parent=tool)

    def __init__(self, me: discord.abc.User, service: Service) -> None:
        self._me = me
        self._service = service

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @tool.command(name="list", description="Every tool, and whether it is on")
    async def list_tools(self, interaction: discord.Interaction) -> None:
        """List the tools."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        tools = await self._service.tools(interaction.guild_id)
        lines = [_line(tool) for tool in tools] or ["There are no tools."]
        for content in split("\n".join(lines)):
            await interaction.followup.send(content, ephemeral=True)

    @tool.command(name="toggle", description="Switch one tool on or off on this server")
    @app_commands.describe(name="The tool", state="On, off, or as it is without a setting")
    async def toggle(
        self,
        interaction: discord.Interaction,
        name: str,
        state: Literal["on", "off", "default"],
    ) -> None:
        """Set it, and show how the tool stands."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        on = None if state == "default" else state == "on"
        try:
            listing = await self._service.toggle(interaction.guild_id, name.strip(), on)
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        await interaction.followup.send(_line(listing), ephemeral=True)

    @toggle.autocomplete("name")
    async def _names(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        tools = await self._service.tools(interaction.guild_id)
        names = [tool.name for tool in tools if current.strip().lower() in tool.name.lower()]
        short = [name for name in names if len(name) <= _LONGEST_CHOICE]
        return [app_commands.Choice(name=name, value=name) for name in short[:_MOST_CHOICES]]

    @prompt.command(
        name="snapshot", description="The prompt as it would be sent now, as a file for you alone"
    )
    @app_commands.describe(
        format="Text for reading, or JSON", channel="Another channel that you can read"
    )
    async def snapshot(
        self,
        interaction: discord.Interaction,
        format: Literal["text", "json"] = "text",  # noqa: A002  # the option's name
        channel: _Readable | None = None,
    ) -> None:
        """Attach the prompt of the next turn in a channel."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        where, asker = channel or interaction.channel, interaction.user
        if not isinstance(where, _Readable) or not isinstance(asker, discord.Member):
            await answer_privately(interaction, "There is no conversation in this channel.")
            return
        if not await _may_read(asker, where):
            await answer_privately(interaction, "You cannot read that channel.")
            return
        try:
            made = await self._service.snapshot(
                Place(guild_id=interaction.guild_id, channel_id=where.id),
                Member(id=asker.id, name=asker.display_name),
                ChannelHistory(where, self._me),
                interaction.id,
            )
        except PromptTooLarge as error:
            await answer_privately(interaction, str(error))
            return
        text, ending = (made.json, "json") if format == "json" else (made.text, "txt")
        await interaction.followup.send(
            f"The prompt in {where.mention}, {len(text):,} characters. "
            f"Stable part: `{made.prefix_hash}`",
            file=discord.File(io.BytesIO(text.encode()), filename=f"prompt.{ending}"),
            ephemeral=True,
        )


def _line(tool: ToolListing) -> str:
    description = " ".join(tool.description.split())
    if len(description) > _LONGEST_DESCRIPTION:
        description = f"{description[: _LONGEST_DESCRIPTION - 1]}…"
    state = "on" if tool.enabled else "off"
    kind = "only reads" if tool.read_only else "changes something"
    return f"- `{tool.name}` **{state}** ({tool.why}; {kind}): {description}"


async def _may_read(member: discord.Member, channel: _Readable) -> bool:
    allowed = channel.permissions_for(member)
    if not (allowed.view_channel and allowed.read_message_history):
        return False
    if not isinstance(channel, discord.Thread) or not channel.is_private():
        return True
    if allowed.manage_threads:
        return True
    try:
        await channel.fetch_member(member.id)
    except discord.NotFound:
        return False
    return True
