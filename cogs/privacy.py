"""/privacy: what is kept of a member, and what they decide about it.

Invariant: a member reaches their own data alone, sees it alone, and loses none of it without a
second yes; a server's data go only after someone with Manage Server has typed the server's name.
"""

import io
import logging
from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.desk import Desk
from cogs.controls import component_of
from cogs.disclosing import where_words_go
from cogs.forms import Form, clipped
from cogs.ports import Service
from cogs.translations.saying import Speaks, tr
from cogs.tree import BROKEN, answer_privately, require_manage_guild

log = logging.getLogger(__name__)

_ERASE_ID = "privacy:erase"
_LONGEST_NAME = 100

_Field: TypeAlias = "ui.TextInput[ui.Modal]"


class Privacy(commands.Cog):
    """The /privacy family."""

    privacy = app_commands.Group(
        name="privacy", description="What is kept of you here, and what happens to it"
    )

    def __init__(self, desk: Desk, service: Service) -> None:
        self._desk = desk
        self._service = service

    @privacy.command(name="info", description="What is kept, where it goes, and for how long")
    async def info(self, interaction: discord.Interaction) -> None:
        """Tell what is kept."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        locale = interaction.locale
        out = await self._desk.privacy.has_opted_out(interaction.guild_id, interaction.user.id)
        wish = (
            tr(locale, "You have opted out: your messages are read to no model.")
            if out
            else tr(locale, "You have not opted out. `/privacy opt-out` does.")
        )
        lines = [
            *await where_words_go(interaction, self._desk),
            tr(
                locale,
                "**What I keep until it is erased** The answers to you with what tools did for "
                "them, facts that you had me remember, your messages in this server's knowledge, "
                "your time zone, and reminders until they are told.",
            ),
            tr(
                locale,
                "**What goes by itself** Numbers of what you used, after 400 days; what the model "
                "sent for an answer, after 24 hours.",
            ),
            wish,
        ]
        await interaction.edit_original_response(content=clipped("\n".join(lines), 2000))

    @privacy.command(name="export", description="All that is kept of you here, as a file")
    async def export(self, interaction: discord.Interaction) -> None:
        """Attach the member's data."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        kept = await self._desk.privacy.export(interaction.guild_id, interaction.user.id)
        packed, limit = kept.encode(), interaction.filesize_limit
        files = [
            discord.File(io.BytesIO(packed[start : start + limit]), filename=name)
            for name, start in _parts(len(packed), limit)
        ]
        for number, file in enumerate(files):
            content = (
                _what_is_exported(interaction)
                if number == 0
                else tr(interaction.locale, "The file goes on here: put the parts together.")
            )
            await interaction.followup.send(content, file=file, ephemeral=True)

    @privacy.command(name="erase", description="Forget all that is kept of you here")
    async def erase(self, interaction: discord.Interaction) -> None:
        """Say what goes and what stays, and ask once more."""
        locale = interaction.locale
        await interaction.response.send_message(
            "\n".join(
                [
                    tr(
                        locale,
                        "**This goes** The answers to you with what tools did for them, facts that "
                        "you had me remember, your messages in knowledge, your reminders and "
                        "time zone, numbers of what you used.",
                    ),
                    tr(
                        locale,
                        "**This stays** Messages on Discord, which you can delete there; backups "
                        "of my operator, until they are replaced; an opt-out.",
                    ),
                    tr(locale, "It cannot be undone."),
                ]
            ),
            view=_erase_button(locale),
            ephemeral=True,
        )

    @privacy.command(name="opt-out", description="Keep your messages away from the model")
    async def opt_out(self, interaction: discord.Interaction) -> None:
        """Note the wish."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._desk.privacy.opt_out(interaction.guild_id, interaction.user.id)
        self._service.forget(interaction.guild_id, interaction.user.id)
        await interaction.edit_original_response(
            content=tr(
                interaction.locale,
                "Done. From now on your messages are read to no model here, earlier ones included, "
                "and I do not answer you. `/privacy opt-in` takes that back.",
            )
        )

    @privacy.command(name="opt-in", description="Let me answer you again")
    async def opt_in(self, interaction: discord.Interaction) -> None:
        """Take the wish back."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._desk.privacy.opt_in(interaction.guild_id, interaction.user.id)
        await interaction.edit_original_response(
            content=tr(interaction.locale, "Done. I answer you again, and read your messages.")
        )

    @privacy.command(
        name="erase-server", description="For admins: forget all that is kept of this server"
    )
    @app_commands.guild_only
    async def erase_server(self, interaction: discord.Interaction) -> None:
        """Open the form in which the server's name is typed."""
        require_manage_guild(interaction)
        if interaction.guild is None:
            raise app_commands.NoPrivateMessage
        await interaction.response.send_modal(
            EraseServerForm(self._desk, self._service, interaction.guild, interaction.locale)
        )

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Erase at the second yes, also after a restart. The message with the button is seen by
        one member alone, and it is the pressing member's data that go."""
        component = component_of(interaction)
        if component is None or component.custom_id != _ERASE_ID:
            return
        try:
            await interaction.response.defer()
            self._service.forget(interaction.guild_id, interaction.user.id)
            await self._desk.privacy.erase(interaction.guild_id, interaction.user.id)
            done = tr(interaction.locale, "Done. Nothing of you is kept here any more.")
            await interaction.edit_original_response(content=done, view=None)
        except Exception:
            log.exception("A member's data could not be erased.")
            await answer_privately(interaction, BROKEN)


class EraseServerForm(Form):
    """Takes the name of the server as a yes."""

    def __init__(
        self, desk: Desk, service: Service, guild: discord.Guild, locale: discord.Locale
    ) -> None:
        super().__init__(title=tr(locale, "Erase all of this server?"))
        self._desk = desk
        self._service = service
        self._guild = guild
        self._name: _Field = ui.TextInput(custom_id="name", max_length=_LONGEST_NAME)
        self.add_item(
            ui.Label(
                text=tr(locale, "The name of this server"),
                description=tr(
                    locale,
                    "Configuration, keys, knowledge and members' data go; it cannot be undone",
                ),
                component=self._name,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Erase if the name is right."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        locale = interaction.locale
        if self._name.value.strip() != self._guild.name.strip():
            content = tr(locale, "That is not this server's name. Nothing was erased.")
        else:
            self._service.forget(self._guild.id, None)
            await self._desk.privacy.erase_guild(self._guild.id)
            await self._desk.mcp.toolset.view(self._guild.id)  # those it had are let go
            content = tr(
                locale,
                "Done. Nothing of this server is kept any more, but for its members' opt-outs and "
                "my operator's backups. My operator may be asked anew whether I may serve here.",
            )
        await interaction.edit_original_response(content=content)


def _parts(size: int, most: int) -> list[tuple[str, int]]:
    """Names and starts of the files that `size` bytes need."""
    if size <= most:
        return [("privacy.json", 0)]
    return [
        (f"privacy.json.{number:03}", start) for number, start in enumerate(range(0, size, most), 1)
    ]


def _what_is_exported(interaction: discord.Interaction) -> str:
    if interaction.guild_id is None:
        return tr(interaction.locale, "This is all that I keep of you in direct messages.")
    return tr(
        interaction.locale,
        "This is all that I keep of you on this server. Other servers and direct messages have "
        "files of their own: ask there.",
    )


def _erase_button(locale: Speaks) -> ui.View:
    view = ui.View(timeout=None)
    style = discord.ButtonStyle.danger
    view.add_item(ui.Button(label=tr(locale, "Erase it"), style=style, custom_id=_ERASE_ID))
    view.stop()
    return view
