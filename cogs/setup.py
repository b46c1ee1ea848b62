"""The part of /config with which a server's admins set it up.

Invariant: each command and each control needs Manage Server at that moment, answers the member
alone, and is acknowledged before any work that may take long.
"""

import io
import logging
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.config import DEFAULT
from chat.desk import Desk
from chat.endpoints import NoFurther
from chat.entries import SetupRefused
from chat.portability import LARGEST_FILE, Imported
from cogs.choices import choices, labelled
from cogs.controls import (
    CHOOSABLE,
    MOST_CHOICES,
    component_of,
    guild_of_manager,
    managed_guild,
)
from cogs.forms import EndpointForm, clipped
from cogs.probing import probe_offer
from cogs.spots import NO_SUCH_ENDPOINT, spot_labels
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, answer_privately, guild_of, require_manage_guild

log = logging.getLogger(__name__)

_Conversing: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.ForumChannel

_CHANNELS_ID = "setup:channels"
_EVERYWHERE_ID = "setup:everywhere"
_RESET_ID = "setup:reset"
_IDS = (_CHANNELS_ID, _EVERYWHERE_ID, _RESET_ID)


class Setup(commands.Cog):
    """Adds its commands to `family`, the /config group."""

    def __init__(self, desk: Desk, family: app_commands.Group) -> None:
        self._desk = desk
        model = _command(
            "model", "Choose a model of the endpoint that serves this server", self._model
        )
        test = _command("test", "Send one short request and say what came of it", self._test)
        test.autocomplete("endpoint")(self._suggest_places)
        model.autocomplete("name")(self._suggest_models)
        model.autocomplete("endpoint")(self._suggest_endpoints)
        for command in (
            _command("setup", "Bring an endpoint of your own for this server", self._setup),
            model,
            _command("channels", "The channels in which I answer", self._channels),
            test,
            _command("reset", "Forget everything that was configured here", self._reset),
            _command("export", "This server's configuration as a file, without keys", self._export),
            _command("import", "Put a configuration in the place of the present one", self._import),
            _command("dms", "For the bot's operator: who may chat in direct messages", self._dms),
        ):
            family.add_command(command)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve the controls, also those from before a restart."""
        component = component_of(interaction)
        if component is None or component.custom_id not in _IDS:
            return
        if (guild_id := await managed_guild(interaction)) is None:
            return
        try:
            await interaction.response.defer()
            if component.custom_id == _RESET_ID:
                await self._desk.setup.reset(guild_id)
                await interaction.edit_original_response(
                    content=tr(interaction.locale, "Done. Nothing is configured here any more."),
                    view=None,
                )
                return
            chosen = component.values  # none with the button: everywhere
            here = _channels_of(interaction)
            await self._desk.admission.limit_channels(guild_id, {int(one) for one in chosen} & here)
            await self._show_channels(interaction, guild_id)
        except Exception:
            log.exception("A control of /config could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _setup(self, interaction: discord.Interaction) -> None:
        present = await self._desk.setup.endpoint(guild_of(interaction))
        await interaction.response.send_modal(
            EndpointForm(self._desk.setup, present, interaction.locale)
        )

    @app_commands.describe(
        name="As the endpoint lists it; default, with a channel, for the server's",
        channel="For this channel and its threads alone",
        endpoint="With a channel: the URL of another one of this server's endpoints",
    )
    async def _model(
        self,
        interaction: discord.Interaction,
        name: app_commands.Range[str, 1, 200],
        channel: _Conversing | None = None,
        endpoint: app_commands.Range[str, 1, 500] | None = None,
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        setup, guild_id, by = self._desk.setup, guild_of(interaction), interaction.user.id
        if channel is None and endpoint is not None:
            await answer_privately(
                interaction, "An endpoint is chosen for a channel. Name the channel too."
            )
            return
        try:
            if channel is None:
                doubt = await setup.set_model(guild_id, name, by=by)
            else:
                model = "" if name == DEFAULT else name
                doubt = await setup.set_channel_model(
                    guild_id, channel.id, model, by=by, url=(endpoint or "").strip()
                )
        except SetupRefused as error:
            content = retold(interaction.locale, str(error))
        else:
            locale = interaction.locale
            inherits = channel and name == DEFAULT
            who = tr(locale, "The server's model") if inherits else f"`{name}`"
            lines = [
                tr(
                    locale,
                    "{model} answers from now on in {channel}. `/config test` tries it.",
                    model=who,
                    channel=channel.mention,
                )
                if channel
                else tr(locale, "{model} answers from now on. `/config test` tries it.", model=who),
                retold(locale, doubt or ""),
            ]
            content = clipped("\n".join(filter(None, lines)), 2000)
        await interaction.edit_original_response(content=content)

    async def _suggest_models(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        names = await self._desk.setup.models(guild_id, by=interaction.user.id)
        return choices(names, typed)

    async def _suggest_endpoints(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        own = await self._desk.setup.endpoints(guild_id)
        return choices(dict.fromkeys(each.base_url for each in own), typed)

    async def _channels(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._show_channels(interaction, guild_of(interaction))

    async def _suggest_places(
        self, interaction: discord.Interaction, typed: str
    ) -> list[app_commands.Choice[str]]:
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        tried = await self._desk.endpoints.listed(guild_id)
        return labelled(spot_labels(tried, interaction.guild, interaction.locale), typed)

    @app_commands.describe(endpoint="One of those that are tried for this server; else the first")
    async def _test(
        self,
        interaction: discord.Interaction,
        endpoint: app_commands.Range[str, 1, 500] | None = None,
    ) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild_id, locale, by = guild_of(interaction), interaction.locale, interaction.user.id
        wanted = (endpoint or "").strip()
        try:
            spot = await self._desk.endpoints.spot(guild_id, wanted)
            tried = await self._desk.endpoints.listed(guild_id)
            said = await self._desk.setup.test(guild_id, by=by, spot=spot)
        except NoFurther:
            await answer_privately(interaction, NO_SUCH_ENDPOINT)
            return
        name = next((each.name for each in tried if wanted and each.spot == spot), "")
        await interaction.edit_original_response(
            content=clipped(retold(locale, said), 2000), view=probe_offer(locale, name)
        )

    async def _reset(self, interaction: discord.Interaction) -> None:
        view = ui.View(timeout=None)
        view.add_item(
            ui.Button(
                label=tr(interaction.locale, "Reset"),
                style=discord.ButtonStyle.danger,
                custom_id=_RESET_ID,
            )
        )
        view.stop()
        await interaction.response.send_message(
            tr(
                interaction.locale,
                "This forgets the server's own endpoints with their keys, persona, rules, channels "
                "and switches. What members had remembered stays. `/config export` saves the rest "
                "before.",
            ),
            view=view,
            ephemeral=True,
        )

    async def _export(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        text = await self._desk.portability.export(guild_of(interaction))
        await interaction.edit_original_response(
            content=tr(
                interaction.locale,
                "The configuration, without any key. `/config import` reads it. Not in it: MCP "
                "servers, the models of `dispatch`, documents, and what members had remembered.",
            ),
            attachments=[discord.File(io.BytesIO(text.encode()), filename="verbatim-config.json")],
        )

    @app_commands.describe(file="A file from /config export")
    async def _import(self, interaction: discord.Interaction, file: discord.Attachment) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        if file.size > LARGEST_FILE:
            await answer_privately(
                interaction, f"The file is larger than {LARGEST_FILE // 1024} KB."
            )
            return
        imported = await self._desk.portability.read_in(
            guild_of(interaction),
            await file.read(),
            by=interaction.user.id,
            channels=_channels_of(interaction),
        )
        if imported.done:
            self._desk.knowledge.embeddings_changed()
        await interaction.edit_original_response(content=_report(imported, interaction.locale))

    @app_commands.describe(switch="Whether others than you may")
    async def _dms(self, interaction: discord.Interaction, switch: Literal["on", "off"]) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            await self._desk.admission.switch_dms(on=switch == "on", by=interaction.user.id)
        except (PermissionError, ValueError) as error:
            content = retold(interaction.locale, str(error))
        else:
            locale = interaction.locale
            content = (
                tr(locale, "Everyone may chat with me in direct messages, on your endpoint.")
                if switch == "on"
                else tr(locale, "Nobody but you may chat with me in direct messages.")
            )
        await interaction.edit_original_response(content=content)

    async def _show_channels(self, interaction: discord.Interaction, guild_id: int) -> None:
        allowed = await self._desk.admission.channels(guild_id)
        content, view = _channels_panel(allowed, interaction.locale)
        await interaction.edit_original_response(content=content, view=view)


def _command(
    name: str, description: str, callback: Any
) -> "app_commands.Command[Setup, ..., None]":
    return app_commands.Command(name=name, description=description, callback=callback)


def _channels_of(interaction: discord.Interaction) -> set[int]:
    guild = interaction.guild
    return {channel.id for channel in guild.channels} if guild else set()


def _channels_panel(allowed: Sequence[int], locale: Speaks) -> tuple[str, ui.View]:
    """The list and the menu that changes it; `Setup.on_interaction` serves that."""
    view = ui.View(timeout=None)
    view.add_item(
        ui.ChannelSelect(
            custom_id=_CHANNELS_ID,
            placeholder=tr(locale, "Channels and categories in which I answer"),
            channel_types=CHOOSABLE,
            min_values=0,
            max_values=MOST_CHOICES,
            default_values=[
                discord.SelectDefaultValue(id=one, type=discord.SelectDefaultValueType.channel)
                for one in allowed[:MOST_CHOICES]
            ],
        )
    )
    view.add_item(ui.Button(label=tr(locale, "Answer everywhere"), custom_id=_EVERYWHERE_ID))
    view.stop()
    if not allowed:
        return tr(locale, "I answer in every channel that I can see."), view
    named = ", ".join(f"<#{one}>" for one in allowed[:MOST_CHOICES])
    more = len(allowed) - MOST_CHOICES
    if more > 0:
        named = tr(
            locale,
            "{channels} and {more} more; choosing here replaces them all",
            channels=named,
            more=more,
        )
    return tr(
        locale,
        "I answer in {channels}, and in their threads. Elsewhere I stay silent.",
        channels=named,
    ), view


def _report(imported: Imported, locale: Speaks) -> str:
    head = (
        tr(locale, "Imported. It holds from the next answer on.")
        if imported.done
        else tr(locale, "Nothing was imported. Mend what is marked and try again.")
    )
    marks = {True: "\N{WHITE HEAVY CHECK MARK}", False: "\N{CROSS MARK}"}
    # What is wrong comes first: it is what has to fit.
    lines = sorted(imported.lines, key=lambda line: line.fine)
    told = [f"{marks[line.fine]} {clipped(retold(locale, line.what), 300)}" for line in lines]
    return clipped("\n".join([head, *told]), 2000)
