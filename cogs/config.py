"""/config: what a guild's admins see of the endpoint, and the switches that they may turn.

Invariant: whoever presses a control needs Manage Server at that moment, and what a control sends
is checked by the service as if it were typed; its custom id carries a name and no rights.
"""

import logging
from dataclasses import replace
from typing import Literal, TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.admission import Admission
from chat.endpoints import FIRST_SPOT, Endpoints, NoFurther, Spot
from chat.overview import Exposure, ExposureChange, Overview
from cogs.controls import component_of, managed_guild
from cogs.forms import clipped
from cogs.permissions import lacking, within
from cogs.ports import Service
from cogs.spots import NO_SUCH_ENDPOINT, spot_labels
from cogs.translations.figures import number
from cogs.translations.saying import retold, tr
from cogs.tree import BROKEN, MANAGE_GUILD, answer_privately, require_manage_guild
from cogs.workarounds import (
    ENDPOINT,
    FIRST,
    PAGE,
    Control,
    read_custom_id,
    tool_calling,
    workarounds_panel,
)
from providers.base import EndpointError

log = logging.getLogger(__name__)

_State: TypeAlias = Literal["on", "off"]

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

    def __init__(
        self, service: Service, admission: Admission, endpoints: Endpoints, *, reads_all: bool
    ) -> None:
        self._service = service
        self._admission = admission
        self._endpoints = endpoints
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
        await self._show_panel(interaction)

    @config.command(name="show", description="Endpoint, model, and what is missing here")
    async def show(self, interaction: discord.Interaction) -> None:
        """Show the state of things in this channel."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        overview = await self._overview(interaction)
        channel = interaction.channel
        missing = lacking(channel) if isinstance(channel, discord.abc.Messageable) else []
        window = overview.context_window
        locale = interaction.locale
        tokens = tr(locale, "{number} tokens", number=number(locale, window)) if window else None
        here = await self._answers_in(interaction)
        intent = tr(locale, "granted") if self._reads_all else retold(locale, INTENT_LOST)
        found = {
            tr(locale, "Endpoint"): retold(locale, overview.endpoint),
            tr(locale, "Model"): overview.model or tr(locale, "not known yet"),
            tr(locale, "Tool calling"): tool_calling(overview, locale),
            tr(locale, "Tools"): retold(locale, overview.exposure),
            tr(locale, "Context window"): tokens or tr(locale, "not known yet"),
            tr(locale, "Permissions missing in this channel"): ", ".join(
                retold(locale, each) for each in missing
            )
            or tr(locale, "none"),
            tr(locale, "Answers in this channel"): retold(locale, here),
            tr(locale, "Message content intent"): intent,
        }
        lines = [f"**{what}** {how}" for what, how in found.items()]
        notes = [f"\N{WARNING SIGN} {retold(locale, note)}" for note in overview.notes]
        lines[2:2] = notes  # below the model that they are about
        await interaction.edit_original_response(content=clipped("\n".join(lines), 2000))

    @config.command(
        name="exposure", description="Which tools the model is shown, and in which form"
    )
    @app_commands.describe(
        mode="All tools in every request, or a few and a search for the rest",
        read_only="Only tools that read",
        web="web_search and web_fetch",
        images="generate_image; needs an image endpoint too",
        dispatch="Models with the stable dispatcher: names with commas between, * for all, or off",
    )
    async def exposure(
        self,
        interaction: discord.Interaction,
        *,
        mode: Literal["upfront", "search"] | None = None,
        read_only: _State | None = None,
        web: _State | None = None,
        images: _State | None = None,
        dispatch: str | None = None,
    ) -> None:
        """Set what is given, and show how it is."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        change = ExposureChange(
            mode=mode,
            read_only=_as_bool(read_only),
            web=_as_bool(web),
            images=_as_bool(images),
            dispatch=None if dispatch is None else _models(dispatch),
        )
        try:
            state = await self._service.expose(interaction.guild_id, change)
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        await self._show_exposure(interaction, state)

    @config.command(name="allowlist", description="The only tools that may be used here")
    @app_commands.describe(
        tools="Names of tools with commas between, any for all tools, or none for no tool"
    )
    async def allowlist(self, interaction: discord.Interaction, tools: str | None = None) -> None:
        """Set the list if one is given, and show it."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild_id = interaction.guild_id
        try:
            if tools is None:
                state = await self._service.exposure(guild_id)
            else:
                state = await self._service.allow(guild_id, _allowed(tools))
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        await self._show_exposure(interaction, state)

    async def _show_exposure(self, interaction: discord.Interaction, state: Exposure) -> None:
        locale = interaction.locale
        on_off = tr(locale, "off"), tr(locale, "on")
        allowed = tr(locale, "any tool")
        if state.allowlist is not None:
            allowed = ", ".join(state.allowlist) or tr(locale, "none")
            if state.web or state.images:
                allowed = tr(
                    locale,
                    "{tools}; web_search and generate_image ask only Web and Images",
                    tools=allowed,
                )
        found = {
            tr(locale, "Now"): retold(locale, state.now),
            tr(locale, "Mode"): state.mode,
            tr(locale, "Stable dispatcher with"): ", ".join(state.dispatch)
            or tr(locale, "no model"),
            tr(locale, "Read-only"): on_off[state.read_only],
            tr(locale, "Web"): on_off[state.web],
            tr(locale, "Images"): on_off[state.images],
            tr(locale, "Allowlist"): allowed,
        }
        lines = [f"**{what}** {how}" for what, how in found.items()]
        text = discord.utils.escape_mentions("\n".join(lines))
        await interaction.edit_original_response(content=clipped(text, 2000))

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Turn the switch whose menu was used, also on a panel from before a restart."""
        component = component_of(interaction)
        if component is None or (control := read_custom_id(component.custom_id)) is None:
            return
        if await managed_guild(interaction) is None:
            return
        try:
            await interaction.response.defer()
            (value,) = component.values
            if control.name == PAGE:
                await self._show_panel(interaction, value, control.of)
            elif control.name == ENDPOINT:
                await self._show_panel(interaction, FIRST, value)
            else:
                await self._turn(interaction, control, value)
        except NoFurther:
            await answer_privately(interaction, NO_SUCH_ENDPOINT)
        except EndpointError as error:
            await answer_privately(interaction, error.member)
        except Exception:
            log.exception("A switch could not be turned.")
            await answer_privately(interaction, BROKEN)

    async def _turn(self, interaction: discord.Interaction, control: Control, value: str) -> None:
        try:
            await self._service.configure(
                interaction.guild_id,
                control.name,
                value,
                by=interaction.user.id,
                spot=await self._endpoints.spot(interaction.guild_id or 0, control.of),
            )
        except ValueError as error:
            await answer_privately(interaction, str(error))
            return
        log.info("Guild %s: %s is now %s.", interaction.guild_id, control.name, value)
        await self._show_panel(interaction, control.page, control.of)

    async def _show_panel(
        self, interaction: discord.Interaction, page: str = FIRST, of: str = ""
    ) -> None:
        """Show a page for the endpoint and model of that name, or the first."""
        guild_id = interaction.guild_id or 0
        overview = await self._overview(interaction, await self._endpoints.spot(guild_id, of))
        labels = spot_labels(
            await self._endpoints.listed(guild_id), interaction.guild, interaction.locale
        )
        panel = workarounds_panel(overview, page, interaction.locale, of=of, choices=labels)
        await interaction.edit_original_response(view=panel)

    async def _answers_in(self, interaction: discord.Interaction) -> str:
        guild_id, channel = interaction.guild_id, interaction.channel
        if guild_id is None or not isinstance(channel, discord.abc.Messageable):
            return "no: nobody converses here"
        if await self._admission.takes_channel(guild_id, within(channel)):
            return "yes"
        return "no: `/config channels` or `/config answering` has me silent here"

    async def _overview(
        self, interaction: discord.Interaction, spot: Spot = FIRST_SPOT
    ) -> Overview:
        """What this member may see: the operator's address is the operator's to know."""
        overview = await self._service.overview(interaction.guild_id, spot)
        if overview.brought or interaction.user.id in self._admission.operators:
            return overview
        return replace(overview, endpoint="the operator's")


def _models(written: str) -> list[str]:
    """Names of models as an admin writes them; `off` for none."""
    return [] if written.strip().lower() == "off" else _listed(written)


def _allowed(written: str) -> list[str] | None:
    """Names of tools as an admin writes them; None for all."""
    word = written.strip().lower()
    if word == "any":
        return None
    return [] if word == "none" else _listed(written)


def _listed(written: str) -> list[str]:
    return [name.strip(" `") for name in written.split(",") if name.strip(" `")]


def _as_bool(state: _State | None) -> bool | None:
    return None if state is None else state == "on"
