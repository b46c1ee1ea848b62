"""/config persona: who the assistant is on a server and in a channel, its rules and pinned notes.

Invariant: whoever opens or submits a form needs Manage Server at that moment, nothing is kept that
could not be filled in, and what was entered comes back as a file where it is not kept.
"""

import io
import logging
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.personas import (
    LONGEST_TEXT,
    ChannelTexts,
    Personas,
    Surroundings,
    TextRefused,
    Texts,
    Whereabouts,
)
from chat.ports import Place
from cogs.controls import component_of, managed_guild
from cogs.forms import Form, clipped
from cogs.ports import Service
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold, tr, tr_count
from cogs.tree import BROKEN, answer_privately, require_manage_guild
from prompt.templates import VARIABLES
from providers.base import EndpointError

log = logging.getLogger(__name__)

_SERVER_ID = "persona:server"
_CHANNEL_ID = "persona:channel"
_HOW_ID = "persona:how"
_PREVIEW_ID = "persona:preview"
_IDS = (_SERVER_ID, _CHANNEL_ID, _HOW_ID, _PREVIEW_ID)

_MOST = 2000

_Field: TypeAlias = "ui.TextInput[ui.Modal]"


class PersonaCommands(commands.Cog):
    """Adds its command to `family`, the /config group. What `client` sees of servers and channels
    is told to `whereabouts`."""

    def __init__(
        self,
        client: discord.Client,
        personas: Personas,
        whereabouts: Whereabouts,
        service: Service,
        family: app_commands.Group,
    ) -> None:
        self._personas = personas
        self._service = service
        whereabouts.told_by(lambda place: surroundings(client, place))
        family.add_command(
            app_commands.Command(
                name="persona",
                description="Who the assistant is, on this server and in this channel",
                callback=self._persona,
            )
        )

    async def _persona(self, interaction: discord.Interaction) -> None:
        require_manage_guild(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._show(interaction)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve the buttons, also those from before a restart."""
        component = component_of(interaction)
        if component is None or component.custom_id not in _IDS:
            return
        custom_id = component.custom_id
        guild_id, channel_id = await managed_guild(interaction), _channel_id(interaction)
        if guild_id is None or channel_id is None:
            return
        try:
            if custom_id == _SERVER_ID:
                texts = await self._personas.server(guild_id)
                await interaction.response.send_modal(
                    ServerTextsForm(self._personas, texts, interaction.locale)
                )
            elif custom_id == _CHANNEL_ID:
                own = await self._personas.channel(guild_id, channel_id)
                await interaction.response.send_modal(
                    ChannelTextsForm(self._personas, channel_id, own, interaction.locale)
                )
            elif custom_id == _HOW_ID:
                await interaction.response.defer()
                await self._personas.switch_how(guild_id, channel_id)
                await self._show(interaction)
            else:
                await interaction.response.defer(ephemeral=True, thinking=True)
                await self._preview(interaction, Place(guild_id=guild_id, channel_id=channel_id))
        except Exception:
            log.exception("A button of /config persona could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _show(self, interaction: discord.Interaction) -> None:
        guild_id, channel_id = interaction.guild_id, _channel_id(interaction)
        if guild_id is None or channel_id is None:
            return
        texts = await self._personas.server(guild_id)
        own = await self._personas.channel(guild_id, channel_id)
        await interaction.edit_original_response(
            content=_panel_text(texts, own, channel_id, interaction.locale),
            view=_panel(own, interaction.locale),
        )

    async def _preview(self, interaction: discord.Interaction, place: Place) -> None:
        try:
            model = (await self._service.overview(place.guild_id)).model
        except EndpointError:
            model = ""
        locale = interaction.locale
        own = tr(locale, "(the bot's own persona)")
        texts = await self._personas.preview(place, default=own, model=model)
        parts = [
            (tr(locale, "Persona"), texts.persona),
            (tr(locale, "Server rules"), texts.rules),
            (tr(locale, "Pinned notes"), texts.notes),
        ]
        told = tr(locale, "What {channel} is told.", channel=f"<#{place.channel_id}>")
        named = [each.partition(": ") for each in texts.remarks]
        remarks = [f"{name}: {retold(locale, remark)}" for name, _, remark in named]
        whole = "\n\n".join(f"{name}:\n{text}" for name, text in parts if text)
        await interaction.followup.send(
            clipped("\n".join([told, *remarks]), _MOST),
            file=discord.File(io.BytesIO(whole.encode()), filename="preview.txt"),
            ephemeral=True,
        )


class _TextsForm(Form, ABC):
    """A form whose texts come back where they are not kept."""

    @abstractmethod
    async def _keep(self, guild_id: int) -> tuple[str, ...]:
        """Keep what was entered, and return what is doubtful about it. Raises TextRefused."""

    @abstractmethod
    def _fields(self) -> dict[str, str]:
        """What was entered, by name."""

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is None:
            return
        try:
            doubts = await self._keep(interaction.guild_id)
        except TextRefused as error:
            whole = "\n\n".join(f"{name}:\n{text}" for name, text in self._fields().items())
            await interaction.edit_original_response(
                content=clipped(
                    tr(
                        interaction.locale,
                        "Nothing was saved. {why}\nYour texts are in the file.",
                        why="\n".join(
                            retold(interaction.locale, each) for each in str(error).splitlines()
                        ),
                    ),
                    _MOST,
                ),
                attachments=[discord.File(io.BytesIO(whole.encode()), filename="not-saved.txt")],
            )
            return
        locale = interaction.locale
        saved = tr(
            locale, "Saved. It holds from the next answer on. Preview shows what the model is told."
        )
        content = clipped("\n".join([saved, *(retold(locale, one) for one in doubts)]), _MOST)
        await interaction.edit_original_response(content=content)


class ServerTextsForm(_TextsForm):
    """Persona, rules and notes of a server."""

    def __init__(self, personas: Personas, texts: Texts, locale: Speaks) -> None:
        super().__init__(title=tr(locale, "This server's texts"))
        self._personas = personas
        self._persona = _long_field(
            "persona", texts.persona, tr(locale, "The bot's own, if left empty")
        )
        self._rules = _long_field(
            "rules", texts.rules, tr(locale, "What it should heed on this server")
        )
        self._notes = _long_field("notes", texts.notes, tr(locale, "What it should always know"))
        self.add_item(ui.Label(text=tr(locale, "Who the assistant is"), component=self._persona))
        self.add_item(ui.Label(text=tr(locale, "Rules of this server"), component=self._rules))
        self.add_item(ui.Label(text=tr(locale, "Pinned notes"), component=self._notes))

    def _fields(self) -> dict[str, str]:
        return {
            "persona": self._persona.value,
            "rules": self._rules.value,
            "notes": self._notes.value,
        }

    async def _keep(self, guild_id: int) -> tuple[str, ...]:
        texts = Texts(persona=self._persona.value, rules=self._rules.value, notes=self._notes.value)
        return await self._personas.set_server(guild_id, texts)


class ChannelTextsForm(_TextsForm):
    """Persona and notes of a channel."""

    def __init__(
        self, personas: Personas, channel_id: int, texts: ChannelTexts, locale: Speaks
    ) -> None:
        super().__init__(title=tr(locale, "This channel's texts"))
        self._personas = personas
        self._channel_id = channel_id
        self._texts = texts
        behind = tr(locale, "Added behind the server's")
        replaces = texts.how == "replace"
        where = tr(locale, "In the place of the server's") if replaces else behind
        self._persona = _long_field("persona", texts.persona, where)
        self._notes = _long_field("notes", texts.notes, behind)
        self.add_item(
            ui.Label(text=tr(locale, "Who the assistant is here"), component=self._persona)
        )
        self.add_item(
            ui.Label(text=tr(locale, "Pinned notes of this channel"), component=self._notes)
        )

    def _fields(self) -> dict[str, str]:
        return {"persona": self._persona.value, "notes": self._notes.value}

    async def _keep(self, guild_id: int) -> tuple[str, ...]:
        texts = replace(self._texts, persona=self._persona.value, notes=self._notes.value)
        return await self._personas.set_channel(guild_id, self._channel_id, texts)


def surroundings(client: discord.Client, place: Place) -> Surroundings:
    """What `client` sees of a place; empty before it has heard of it."""
    guild = client.get_guild(place.guild_id) if place.guild_id is not None else None
    if guild is None:
        return Surroundings(bot_name=client.user.name if client.user else "")
    channel = guild.get_channel_or_thread(place.channel_id)
    thread = channel if isinstance(channel, discord.Thread) else None
    named = thread.parent if thread is not None else channel
    return Surroundings(
        bot_name=guild.me.display_name,
        server_name=guild.name,
        channel_name=named.name if named is not None else "",
        channel_topic=getattr(named, "topic", None) or "",
        parent_id=thread.parent_id if thread is not None else None,
    )


def _channel_id(interaction: discord.Interaction) -> int | None:
    """The channel whose texts hold where a command is used; for a thread the one that it is in."""
    channel = interaction.channel
    return channel.parent_id if isinstance(channel, discord.Thread) else interaction.channel_id


def _panel_text(texts: Texts, own: ChannelTexts, channel_id: int, locale: Speaks) -> str:
    def length(text: str) -> str:
        if not text:
            return tr(locale, "none")
        return tr_count(
            locale, "{number} character", "{number} characters",
            count=len(text), number=number(locale, len(text)),
        )  # fmt: skip

    persona = length(own.persona)
    if own.persona:
        how = (
            tr(locale, "in the place of the server's")
            if own.how == "replace"
            else tr(locale, "added behind the server's")
        )
        persona = f"{persona}, {how}"
    lines = [
        tr(
            locale,
            "**This server** persona {persona}, rules {rules}, pinned notes {notes}",
            persona=length(texts.persona) if texts.persona else tr(locale, "the bot’s own"),
            rules=length(texts.rules),
            notes=length(texts.notes),
        ),
        tr(
            locale,
            "**{channel}** persona {persona}, pinned notes {notes}",
            channel=f"<#{channel_id}>",
            persona=persona,
            notes=length(own.notes),
        ),
        tr(
            locale,
            "Texts may hold variables, such as `{{{{ server_name }}}}`, and "
            "`{{% if channel_topic %}} ... {{% endif %}}`:",
        ),
        *(f"- `{name}`: {retold(locale, what)}" for name, what in VARIABLES.items()),
    ]
    return "\n".join(lines)


def _panel(own: ChannelTexts, locale: Speaks) -> ui.View:
    """The buttons; `PersonaCommands.on_interaction` serves them."""
    how = (
        tr(locale, "Add to the server's")
        if own.how == "replace"
        else tr(locale, "Replace the server's")
    )
    view = ui.View(timeout=None)
    view.add_item(ui.Button(label=tr(locale, "Edit server"), custom_id=_SERVER_ID))
    view.add_item(ui.Button(label=tr(locale, "Edit channel"), custom_id=_CHANNEL_ID))
    if own.persona:
        view.add_item(ui.Button(label=how, custom_id=_HOW_ID))
    view.add_item(ui.Button(label=tr(locale, "Preview"), custom_id=_PREVIEW_ID))
    view.stop()
    return view


def _long_field(custom_id: str, text: str, placeholder: str) -> _Field:
    return ui.TextInput(
        custom_id=custom_id,
        style=discord.TextStyle.paragraph,
        placeholder=placeholder,
        default=text[:LONGEST_TEXT] or None,
        required=False,
        max_length=LONGEST_TEXT,
    )
