"""What stands behind a reply: the Details of its tool calls, and the model's thinking.

Invariant: only a member who can read the channel sees it, alone, and nothing in it takes effect.
The button outlives its record and then says so.
"""

import io
import logging
from collections.abc import Sequence

import discord
from discord.ext import commands

from chat.moderation import ModerationSettings
from chat.ports import Place
from chat.recording import RecordedRun
from cogs.aside import NETWORK_ERRORS
from cogs.buttons import DETAILS, THINKING
from cogs.controls import component_of
from cogs.forms import clipped
from cogs.ports import Service
from cogs.quoting import code
from cogs.rendering import OUTCOMES
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold
from cogs.tree import BROKEN, answer_privately
from data.errors import StoreError

log = logging.getLogger(__name__)

GONE = (
    "The details of this reply are not kept any more: they stay for 24 hours, and until the bot is "
    "restarted."
)
UNREADABLE = "You cannot read this channel."

NOT_SHOWN = (
    "The thinking behind this reply is not kept any more, or admins no longer show it: it stays "
    "for 24 hours, and until the bot is restarted."
)

NOT_FOR_YOU = "Admins show the thinking to other roles than yours."

_MOST = 2000
_THOUGHT_SHOWN = 1700
_ARGUMENTS_SHOWN = 300
_RESULT_SHOWN = 500


class Details(commands.Cog):
    """Serves the buttons of all replies."""

    def __init__(self, service: Service, moderation: ModerationSettings) -> None:
        self._service = service
        self._moderation = moderation

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Show what the tools of a reply did, or what the model thought."""
        component = component_of(interaction)
        if component is None or interaction.message is None:
            return
        custom_id = component.custom_id
        if custom_id not in (DETAILS, THINKING):
            return
        may = interaction.permissions
        if not (may.view_channel and may.read_message_history):
            await answer_privately(interaction, UNREADABLE)
            return
        try:
            if custom_id == DETAILS:
                await self._show(interaction, interaction.message.id)
            else:
                await self._show_thinking(interaction, interaction.message.id)
        except (discord.HTTPException, *NETWORK_ERRORS, StoreError) as error:
            log.warning("The details of a reply were not sent: %s", error)
            await answer_privately(interaction, BROKEN)

    async def _show_thinking(self, interaction: discord.Interaction, message_id: int) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        thought = None
        if (place := _place(interaction)) is not None:
            user = interaction.user
            roles = [role.id for role in user.roles] if isinstance(user, discord.Member) else []
            if not (await self._moderation.of(place.guild_id or 0)).shows_thinking(roles):
                await answer_privately(interaction, NOT_FOR_YOU)
                return
            thought = await self._service.thinking(place, message_id)
        if thought is None:
            await answer_privately(interaction, NOT_SHOWN)
            return
        files: list[discord.File] = []
        if len(thought) > _THOUGHT_SHOWN:
            files.append(discord.File(io.BytesIO(thought.encode()), filename="thinking.txt"))
        await interaction.followup.send(
            "\n".join(f"> {line}" for line in clipped(thought, _THOUGHT_SHOWN).splitlines()[:60]),
            files=files,
            ephemeral=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )

    async def _show(self, interaction: discord.Interaction, message_id: int) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        runs = None
        if (place := _place(interaction)) is not None:
            runs = await self._service.details(place, message_id)
        if runs is None:
            await answer_privately(interaction, GONE)
            return
        short = "\n".join(_in_short(run, interaction.locale) for run in runs)
        files: list[discord.File] = []
        if len(short) > _MOST or any(_is_cut(run) for run in runs):
            whole = io.BytesIO(_in_full(runs, interaction.locale).encode())
            files.append(discord.File(whole, filename="details.txt"))
        await interaction.followup.send(
            clipped(short, _MOST),
            files=files,
            ephemeral=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )


def _place(interaction: discord.Interaction) -> Place | None:
    if interaction.guild_id is None or interaction.channel_id is None:
        return None
    return Place(guild_id=interaction.guild_id, channel_id=interaction.channel_id)


def _is_cut(run: RecordedRun) -> bool:
    return len(run.arguments) > _ARGUMENTS_SHOWN or len(run.text) > _RESULT_SHOWN


def _in_short(run: RecordedRun, locale: Speaks) -> str:
    outcome = retold(locale, OUTCOMES[run.outcome])
    head = f"{code(run.name)} **{outcome}**, {number(locale, run.seconds, 1)} s"
    return f"{head}\n-# {code(run.arguments, _ARGUMENTS_SHOWN)}\n> {code(run.text, _RESULT_SHOWN)}"


def _in_full(runs: Sequence[RecordedRun], locale: Speaks) -> str:
    return "\n\n".join(
        f"{run.name}: {retold(locale, OUTCOMES[run.outcome])}, {number(locale, run.seconds, 1)} s\n"
        f"{run.arguments}\n\n{run.text}"
        for run in runs
    )
