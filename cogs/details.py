"""The Details button under a reply that used tools: what was called, with what, to what end.

Invariant: only a member who can read the channel sees it, alone, and nothing in it takes effect.
The button outlives its record and then says so.
"""

import io
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import discord
from discord import ui
from discord.ext import commands

from chat.ports import Place
from chat.recording import RecordedRun
from cogs.aside import NETWORK_ERRORS
from cogs.forms import clipped
from cogs.ports import Service
from cogs.quoting import code
from cogs.tree import BROKEN, answer_privately

if TYPE_CHECKING:
    # Circular at run time: discord.py itself imports it for type checkers alone.
    from discord.types.interactions import ButtonMessageComponentInteractionData

log = logging.getLogger(__name__)

GONE = (
    "The details of this reply are not kept any more: they stay for 24 hours, and until the bot is "
    "restarted."
)
UNREADABLE = "You cannot read this channel."

_CUSTOM_ID = "details"
_MOST = 2000
_ARGUMENTS_SHOWN = 300
_RESULT_SHOWN = 500


def details_button() -> ui.View:
    """The button. Not kept in memory: `Details.on_interaction` serves it."""
    view = ui.View(timeout=None)
    style = discord.ButtonStyle.secondary
    view.add_item(ui.Button(label="Details", style=style, custom_id=_CUSTOM_ID))
    view.stop()
    return view


class Details(commands.Cog):
    """Serves the buttons of all replies."""

    def __init__(self, service: Service) -> None:
        self._service = service

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Show what the tools of a reply did."""
        if interaction.type is not discord.InteractionType.component:
            return
        data = cast("ButtonMessageComponentInteractionData", interaction.data)
        if data["custom_id"] != _CUSTOM_ID or interaction.message is None:
            return
        may = interaction.permissions
        if not (may.view_channel and may.read_message_history):
            await answer_privately(interaction, UNREADABLE)
            return
        try:
            await self._show(interaction, interaction.message.id)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("The details of a reply were not sent: %s", error)
            await answer_privately(interaction, BROKEN)

    async def _show(self, interaction: discord.Interaction, message_id: int) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        runs = None
        if interaction.guild_id is not None and interaction.channel_id is not None:
            place = Place(guild_id=interaction.guild_id, channel_id=interaction.channel_id)
            runs = await self._service.details(place, message_id)
        if runs is None:
            await answer_privately(interaction, GONE)
            return
        short = "\n".join(_in_short(run) for run in runs)
        files: list[discord.File] = []
        if len(short) > _MOST or any(_is_cut(run) for run in runs):
            whole = io.BytesIO(_in_full(runs).encode())
            files.append(discord.File(whole, filename="details.txt"))
        await interaction.followup.send(
            clipped(short, _MOST),
            files=files,
            ephemeral=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )


def _is_cut(run: RecordedRun) -> bool:
    return len(run.arguments) > _ARGUMENTS_SHOWN or len(run.text) > _RESULT_SHOWN


def _in_short(run: RecordedRun) -> str:
    head = f"{code(run.name)} **{run.outcome}**, {run.seconds:.1f} s"
    return f"{head}\n-# {code(run.arguments, _ARGUMENTS_SHOWN)}\n> {code(run.text, _RESULT_SHOWN)}"


def _in_full(runs: Sequence[RecordedRun]) -> str:
    return "\n\n".join(
        f"{run.name}: {run.outcome}, {run.seconds:.1f} s\n{run.arguments}\n\n{run.text}"
        for run in runs
    )
