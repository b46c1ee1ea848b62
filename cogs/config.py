"""/config: what a guild's admins see of the endpoint, and the switches that they may turn.

Invariant: whoever presses a control needs Manage Server at that moment, and what a control sends
is checked by the service as if it were typed; its custom id carries a name and no rights.
"""

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.admission import Admission
from chat.config import Switch
from chat.overview import Overview
from cogs.permissions import lacking, within
from cogs.ports import Service
from cogs.tree import BROKEN, MANAGE_GUILD, NOT_ALLOWED, answer_privately, require_manage_guild
from providers.base import EndpointError

if TYPE_CHECKING:
    # Circular at run time: discord.py itself imports it for type checkers alone.
    from discord.types.interactions import SelectMessageComponentInteractionData

log = logging.getLogger(__name__)

_CUSTOM_ID = "workarounds:"

_MODES = {
    "native": "tool calls go through the endpoint's `tools` field alone",
    "verbatim": "tools are also written into the prompt, and calls are read from the text",
    "verbatim_only": "tools are written into the prompt alone, and calls are read from the text",
}

INTENT_LOST = (
    "not granted. I read only direct messages, messages that mention me and replies that ping me, "
    "and know nothing of what else is written. To change that, switch on Message Content Intent "
    "in the Developer Portal (Bot, Privileged Gateway Intents) and restart me."
)
"""What is lost without the intent, and where it is granted."""

_MOST_SWITCHES = 12
"""A panel holds 40 components: three for each switch, and two texts."""


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
        overview = await self._overview(interaction)
        await interaction.edit_original_response(view=workarounds_panel(overview))

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
            f"**Tool calling** {_tool_calling(overview)}",
            f"**Context window** {f'{window:,} tokens' if window else 'not known yet'}",
            f"**Permissions missing in this channel** {', '.join(missing) or 'none'}",
            f"**Answers in this channel** {await self._answers_in(interaction)}",
            f"**Message content intent** {'granted' if self._reads_all else INTENT_LOST}",
        ]
        await interaction.edit_original_response(content=_clipped("\n".join(lines), 2000))

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Turn the switch whose menu was used, also on a panel from before a restart."""
        if interaction.type is not discord.InteractionType.component:
            return
        data = cast("SelectMessageComponentInteractionData", interaction.data)
        custom_id = data["custom_id"]
        if not custom_id.startswith(_CUSTOM_ID):
            return
        if not interaction.permissions.manage_guild:
            await answer_privately(interaction, NOT_ALLOWED)
            return
        try:
            await interaction.response.defer()
            name, (value,) = custom_id.removeprefix(_CUSTOM_ID), data["values"]
            await self._turn(interaction, name, value)
        except Exception:
            log.exception("A switch could not be turned.")
            await answer_privately(interaction, BROKEN)

    async def _turn(self, interaction: discord.Interaction, name: str, value: str) -> None:
        try:
            user_id = interaction.user.id
            await self._service.configure(interaction.guild_id, name, value, by=user_id)
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        except EndpointError as error:
            await answer_privately(interaction, error.member)
            return
        log.info("Guild %s: %s is now %s.", interaction.guild_id, name, value)
        overview = await self._overview(interaction)
        await interaction.edit_original_response(view=workarounds_panel(overview))

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


def workarounds_panel(overview: Overview) -> ui.LayoutView:
    """The panel. It is not kept in memory: `Config.on_interaction` serves its menus."""
    panel = ui.LayoutView(timeout=None)
    panel.add_item(
        ui.TextDisplay(
            f"## Workarounds for {_clipped(overview.model, 100)}\n"
            f"{_clipped(overview.endpoint, 200)}\n"
            f"**In use:** {_tool_calling(overview)}"
        )
    )
    for switch in overview.switches[:_MOST_SWITCHES]:
        panel.add_item(ui.TextDisplay(f"**{switch.name}**: {_clipped(switch.help, 300)}"))
        if switch.choices:
            panel.add_item(ui.ActionRow(_menu(switch)))
    changed = [
        f"`{switch.name}` is {switch.value} (default {switch.default})"
        for switch in overview.switches
        if switch.value != switch.default
    ]
    summary = "; ".join(changed) or "everything"
    label = "Not at its default" if changed else "At its default"
    panel.add_item(ui.TextDisplay(f"-# {label}: {_clipped(summary, 300)}"))
    panel.stop()
    return panel


def _menu(switch: Switch) -> ui.Select[ui.LayoutView]:
    return ui.Select(
        custom_id=f"{_CUSTOM_ID}{switch.name}",
        options=[
            discord.SelectOption(
                label=choice,
                value=choice,
                description="default" if choice == switch.default else None,
                default=choice == switch.value,
            )
            for choice in switch.choices
        ],
    )


def _tool_calling(overview: Overview) -> str:
    reason = _clipped(overview.verdict.reason, 300).rstrip(".")
    if overview.mode == "off":
        return f"off: the model is offered no tools. What is known of the endpoint: {reason}."
    chosen = "chosen by itself" if overview.tool_mode == "auto" else "set by an admin"
    mode = f"{overview.mode} ({chosen}): {_MODES[overview.mode]}"
    return f"{mode}. What is known of the endpoint: {reason}."


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
