"""/config: what a guild's admins see of the endpoint, and the switches that they may turn.

Invariant: whoever presses a control needs Manage Server at that moment, and what a control sends
is checked by the service as if it were typed; its custom id carries a name and no rights.
"""

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import discord
from discord import app_commands
from discord.ext import commands

from chat.admission import Admission
from chat.overview import Overview
from cogs.forms import clipped
from cogs.permissions import lacking, within
from cogs.ports import Service
from cogs.tree import BROKEN, MANAGE_GUILD, NOT_ALLOWED, answer_privately, require_manage_guild
from cogs.workarounds import (
    FIRST,
    PAGE,
    Control,
    read_custom_id,
    tool_calling,
    workarounds_panel,
)
from providers.base import EndpointError

if TYPE_CHECKING:
    # Circular at run time: discord.py itself imports it for type checkers alone.
    from discord.types.interactions import SelectMessageComponentInteractionData

log = logging.getLogger(__name__)

INTENT_LOST = (
    "not granted. I read only direct messages, messages that mention me and replies that ping me, "
    "and know nothing of what else is written. To change that, switch on Message Content Intent "
    "in the Developer Portal (Bot, Privileged Gateway Intents) and restart me."
)
"""What is lost without the intent, and where it is granted."""


class Config(commands.Cog):
    """The /config family."""

    config = app_commands.Group(
        name="config",
        description="How this server's assistant is set up",
        guild_only=True,
        default_permissions=MANAGE_GUILD,
    )

    def __init__(self, service: Service, admission: Admission, *, reads_all: bool) -> None:
        self._service = service
        self._admission = admission
        self._reads_all = reads_all

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @config.command(
        name="workarounds",
        description="How tool calling works with this endpoint, and what you can change about it",
    )
    async def workarounds(self, interaction: discord.Interaction) -> None:
        """Show the panel."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._show_panel(interaction, FIRST)

    @config.command(name="show", description="Endpoint, model, and what is missing here")
    async def show(self, interaction: discord.Interaction) -> None:
        """Show the state of things in this channel."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        overview = await self._overview(interaction)
        channel = interaction.channel
        missing = lacking(channel) if isinstance(channel, discord.abc.Messageable) else []
        window = overview.context_window
        lines = [
            f"**Endpoint** {overview.endpoint}",
            f"**Model** {overview.model}",
            f"**Tool calling** {tool_calling(overview)}",
            f"**Context window** {f'{window:,} tokens' if window else 'not known yet'}",
            f"**Permissions missing in this channel** {', '.join(missing) or 'none'}",
            f"**Answers in this channel** {await self._answers_in(interaction)}",
            f"**Message content intent** {'granted' if self._reads_all else INTENT_LOST}",
        ]
        await interaction.edit_original_response(content=clipped("\n".join(lines), 2000))

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Turn the switch whose menu was used, also on a panel from before a restart."""
        if interaction.type is not discord.InteractionType.component:
            return
        data = cast("SelectMessageComponentInteractionData", interaction.data)
        control = read_custom_id(data["custom_id"])
        if control is None:
            return
        if not interaction.permissions.manage_guild:
            await answer_privately(interaction, NOT_ALLOWED)
            return
        try:
            await interaction.response.defer()
            (value,) = data["values"]
            if control.name == PAGE:
                await self._show_panel(interaction, value)
            else:
                await self._turn(interaction, control, value)
        except Exception:
            log.exception("A switch could not be turned.")
            await answer_privately(interaction, BROKEN)

    async def _turn(self, interaction: discord.Interaction, control: Control, value: str) -> None:
        try:
            user_id = interaction.user.id
            await self._service.configure(interaction.guild_id, control.name, value, by=user_id)
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        except EndpointError as error:
            await answer_privately(interaction, error.member)
            return
        log.info("Guild %s: %s is now %s.", interaction.guild_id, control.name, value)
        await self._show_panel(interaction, control.page)

    async def _show_panel(self, interaction: discord.Interaction, page: str) -> None:
        overview = await self._overview(interaction)
        await interaction.edit_original_response(view=workarounds_panel(overview, page))

    async def _answers_in(self, interaction: discord.Interaction) -> str:
        guild_id, channel = interaction.guild_id, interaction.channel
        if guild_id is None or not isinstance(channel, discord.abc.Messageable):
            return "no: nobody converses here"
        if await self._admission.takes_channel(guild_id, within(channel)):
            return "yes"
        return "no: it is not among those of `/config channels`"

    async def _overview(self, interaction: discord.Interaction) -> Overview:
        """What this member may see: the operator's address is the operator's to know."""
        overview = await self._service.overview(interaction.guild_id)
        if overview.brought or interaction.user.id in self._admission.operators:
            return overview
        return replace(overview, endpoint="the operator's")
