"""Explain this reply: what was made of the model's output, for the admin who asks.

Invariant: only a member with Manage Server who can read the channel learns anything, that member
alone sees it, and a reply explains itself nowhere but in the channel where it stands.
"""

import io

import discord
from discord import app_commands
from discord.ext import commands

from chat.ports import Place
from cogs.forms import clipped
from cogs.ports import Service
from cogs.translations.saying import retold
from cogs.tree import MANAGE_GUILD, answer_privately, require_manage_guild

NAME = "Explain this reply"

_MOST = 2000
_UNKNOWN = (
    "I know nothing about that message: only my own answers can be explained, for 24 hours and "
    "until I am restarted."
)
_UNREADABLE = "You cannot read this channel."
_REPLAY = "Replay the file with `bot.py parse --batch --explain`."
_TOO_LARGE = "The model's output is larger than a file may be here."


class Explain(commands.Cog):
    """The command in the menu of a message."""

    def __init__(self, bot: commands.AutoShardedBot, service: Service) -> None:
        self._bot = bot
        self._service = service
        self._menu = app_commands.ContextMenu(name=NAME, callback=self._explain)
        self._menu.guild_only = True
        self._menu.default_permissions = MANAGE_GUILD

    async def cog_load(self) -> None:
        """Offer the command."""
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take it back."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    async def _explain(self, interaction: discord.Interaction, message: discord.Message) -> None:
        # Integration settings may open a command to anyone; the permissions are needed still.
        require_manage_guild(interaction)
        may = interaction.permissions
        if not (may.view_channel and may.read_message_history):
            await answer_privately(interaction, _UNREADABLE)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild, channel_id = interaction.guild, interaction.channel_id
        made = None
        if guild is not None and channel_id is not None:
            place = Place(guild_id=guild.id, channel_id=channel_id)
            made = await self._service.explain(place, message.id)
        if guild is None or made is None:
            await answer_privately(interaction, _UNKNOWN)
            return
        files: list[discord.File] = []
        note = _TOO_LARGE
        if len(replay := made.replay.encode()) <= guild.filesize_limit:
            files.append(discord.File(io.BytesIO(replay), filename="replay.jsonl"))
            note = _REPLAY
        note = retold(interaction.locale, note)
        room = _MOST - len(note) - 1
        if len(made.text) > room:
            whole = io.BytesIO(made.text.encode())
            files.append(discord.File(whole, filename="explanation.txt"))
        await interaction.followup.send(
            f"{clipped(made.text, room)}\n{note}", files=files, ephemeral=True
        )
