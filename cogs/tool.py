"""/tool: which tools there are, and the prompts that are sent.

Invariant: a snapshot shows nothing of a channel that the member who asks cannot read there, and
only that member sees it.
"""

import io
import logging
import re
from typing import Literal, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.overview import ToolListing
from chat.ports import History, Member
from chat.warming import Unread
from cogs.addressing import Addressing
from cogs.aside import NETWORK_ERRORS
from cogs.choices import choices
from cogs.places import place_of
from cogs.ports import Service
from cogs.rights import may_read
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import MANAGE_GUILD, answer_privately, require_manage_guild, say_privately
from prompt.snapshot import PromptTooLarge

log = logging.getLogger(__name__)

_Readable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.Thread

SENT = "What was sent for this reply"
"""The command in the menu of a message."""

_MESSAGE = re.compile(
    r"(?:https://(?:\w+\.)?discord(?:app)?\.com/channels/\d{1,20}/(\d{1,20})/)?(\d{1,20})"
)
_NO_MESSAGE = "Name a message by its link (Copy Message Link) or its id."
_NOT_KEPT = (
    "I know nothing about that message there: only for my own answers is kept what was sent, for "
    "24 hours and until I am restarted."
)

_LONGEST_DESCRIPTION = 200


class Tool(commands.Cog):
    """The /tool family."""

    tool = app_commands.Group(
        name="tool",
        description="The tools that the model may use on this server",
        guild_only=True,
        default_permissions=MANAGE_GUILD,
    )
    prompt = app_commands.Group(name="prompt", description="What the model is sent", parent=tool)

    def __init__(
        self,
        service: Service,
        tree: "app_commands.CommandTree[discord.Client]",
        addressing: Addressing,
    ) -> None:
        self._service = service
        self._addressing = addressing
        self._tree = tree
        self._menu = app_commands.ContextMenu(name=SENT, callback=self._show_sent)
        self._menu.guild_only = True
        self._menu.default_permissions = MANAGE_GUILD

    async def cog_load(self) -> None:
        """Offer the command in the menu of messages."""
        self._tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take it back."""
        self._tree.remove_command(self._menu.name, type=self._menu.type)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @tool.command(name="list", description="Every tool, and whether it is on")
    async def list_tools(self, interaction: discord.Interaction) -> None:
        """List the tools."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        tools = await self._service.tools(interaction.guild_id)
        locale = interaction.locale
        lines = [_line(tool, locale) for tool in tools] or [tr(locale, "There are no tools.")]
        await say_privately(interaction, "\n".join(lines))

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
        await interaction.followup.send(_line(listing, interaction.locale), ephemeral=True)

    @toggle.autocomplete("name")
    async def _names(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        tools = await self._service.tools(interaction.guild_id)
        return choices([tool.name for tool in tools], current)

    @prompt.command(
        name="snapshot", description="The prompt as it is sent, as a file for you alone"
    )
    @app_commands.describe(
        format="Text for reading, JSON for replaying, or what is new since the request before",
        channel="Another channel that you can read",
        message="Link or id: what was sent for that answer of mine, or a reply to it would send",
        mask="Leave out members' names and words, for sharing",
    )
    async def snapshot(
        self,
        interaction: discord.Interaction,
        format: Literal["text", "json", "diff"] = "text",  # noqa: A002  # the option's name
        channel: _Readable | None = None,
        message: str | None = None,
        *,
        mask: bool = False,
    ) -> None:
        """Attach the prompt of the next turn in a channel, or of a turn that was."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        where, message_id = channel or interaction.channel, None
        if message is not None:
            channel_id, message_id = _named(message)
            if channel_id is not None and interaction.guild is not None:
                where = interaction.guild.get_channel_or_thread(channel_id)
            if message_id is None:
                await answer_privately(interaction, _NO_MESSAGE)
                return
        await self._show(interaction, where, format, message_id, masks=mask)

    async def _show_sent(self, interaction: discord.Interaction, message: discord.Message) -> None:
        # Integration settings may open a command to anyone; the permission is needed still.
        require_manage_guild(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._show(interaction, interaction.channel, "text", message.id, masks=False)

    async def _show(
        self,
        interaction: discord.Interaction,
        where: object,
        form: Literal["text", "json", "diff"],
        message_id: int | None,
        *,
        masks: bool,
    ) -> None:
        asker = interaction.user
        if not isinstance(where, _Readable) or not isinstance(asker, discord.Member):
            await answer_privately(interaction, "There is no conversation in this channel.")
            return
        if not await may_read(asker, where):
            await answer_privately(interaction, "You cannot read that channel.")
            return
        place = place_of(where.guild.id, where, where.id)
        made, chain = None, False
        if message_id is not None:
            made = await self._service.sent(place, message_id, masks=masks)
        if made is None:
            history = await self._addressing.whole_history(where, where.guild.id)
            chain = history is None
            if message_id is not None:
                history = await self._chain(where, message_id) if chain else None
                if history is None:
                    await answer_privately(interaction, _NOT_KEPT)
                    return
            try:
                made = await self._service.snapshot(
                    place,
                    Member(id=asker.id, name=asker.display_name),
                    history or Unread(),
                    interaction.id,
                    masks=masks,
                )
            except PromptTooLarge as error:
                await answer_privately(interaction, str(error))
                return
        text, name = {
            "text": (made.text, "prompt.txt"),
            "json": (made.json, "prompt.json"),
            "diff": (made.diff, "diff.txt"),
        }[form]
        locale = interaction.locale
        parts = [
            tr(
                locale,
                "The prompt in {channel}, {length} characters.",
                channel=where.mention,
                length=f"{len(text):,}",
            )
        ]
        if chain:
            parts.append(
                tr(locale, "Of what was said it has the chain of replies up to that message.")
                if message_id is not None
                else tr(
                    locale,
                    "Nothing that was said is in it: here I read only what a question replies to. "
                    "Name a `message` to see what a reply to it would send.",
                )
            )
        if made.prefix_hash:
            parts.append(tr(locale, "Stable part: `{hash}`", hash=made.prefix_hash))
        await interaction.followup.send(
            " ".join(parts),
            file=discord.File(io.BytesIO(text.encode("utf-8", "replace")), filename=name),
            ephemeral=True,
        )

    async def _chain(self, where: _Readable, message_id: int) -> History | None:
        """What a reply to a message would be read with; None if it is not there."""
        try:
            message = await where.fetch_message(message_id)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.info("A message was named that cannot be read: %s", error)
            return None
        return await self._addressing.history(message, included=True)


def _named(message: str) -> tuple[int | None, int | None]:
    """Channel and message that a link or an id names."""
    found = _MESSAGE.fullmatch(message.strip())
    if found is None:
        return None, None
    return (int(found[1]) if found[1] else None), int(found[2])


def _line(tool: ToolListing, locale: Speaks) -> str:
    description = " ".join(tool.description.split())
    if len(description) > _LONGEST_DESCRIPTION:
        description = f"{description[: _LONGEST_DESCRIPTION - 1]}…"
    state = tr(locale, "on") if tool.enabled else tr(locale, "off")
    kind = tr(locale, "only reads") if tool.read_only else tr(locale, "changes something")
    why = retold(locale, tool.why)
    return f"- `{tool.name}` **{state}** ({why}; {kind}): {description}"
