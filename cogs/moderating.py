"""/config moderation: words that are not shown, the log, where images may be made, and who may read
the thinking.

Invariant: each control needs Manage Server at that moment and works after a restart too. The words
themselves are shown in the form alone, to the admin who opens it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.moderation import MOST_IDS, ON_WORD, Moderation, ModerationSettings, OnWord
from chat.screening import LONGEST_LIST, checked_words
from cogs.controls import component_of, managed_guild
from cogs.forms import Form, clipped
from cogs.permissions import lacking_to_log
from cogs.translations.saying import Speaks, retold, tr, tr_count
from cogs.tree import BROKEN, answer_privately, require_manage_guild

log = logging.getLogger(__name__)

_LOG_ID = "moderation:log"
_IMAGES_ID = "moderation:images"
_THINKERS_ID = "moderation:thinkers"
_ON_WORD_ID = "moderation:on_word"
_WORDS_ID = "moderation:words"
_IDS = (_LOG_ID, _IMAGES_ID, _THINKERS_ID, _ON_WORD_ID, _WORDS_ID)

_ON_WORD: Mapping[OnWord, str] = {
    "mask": "Mask listed words",
    "end": "End the answer before a listed word",
}
_LOGS = [discord.ChannelType.text, discord.ChannelType.news, discord.ChannelType.voice]
_IMAGES = [*_LOGS, discord.ChannelType.forum]

_Field: TypeAlias = "ui.TextInput[ui.Modal]"


class ModerationPanel(commands.Cog):
    """Adds its command to `family`, the /config group."""

    def __init__(self, settings: ModerationSettings, family: app_commands.Group) -> None:
        self._settings = settings
        command: app_commands.Command[ModerationPanel, ..., None] = app_commands.Command(
            name="moderation",
            description="Words I do not show, a log, where images are made, who reads my thinking",
            callback=self._show,  # pyright: ignore[reportArgumentType]
        )
        family.add_command(command)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    async def _show(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._draw(interaction, await self._settings.of(interaction.guild_id or 0))

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve the panel, also one from before a restart."""
        component = component_of(interaction)
        if component is None or component.custom_id not in _IDS:
            return
        custom_id, values = component.custom_id, component.values
        guild_id = await managed_guild(interaction)
        if guild_id is None:
            return
        try:
            if custom_id == _WORDS_ID:
                present = await self._settings.of(guild_id)
                form = WordsForm(self._settings, present, interaction.locale)
                await interaction.response.send_modal(form)
                return
            await interaction.response.defer()
            changed = await self._settings.change(
                guild_id, lambda present: _chosen(present, custom_id, values)
            )
            await self._draw(interaction, changed)
        except Exception:
            log.exception("A control of /config moderation could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _draw(self, interaction: discord.Interaction, settings: Moderation) -> None:
        locale = interaction.locale
        await interaction.edit_original_response(
            content=panel_text(settings, interaction.guild, locale),
            view=_controls(settings, interaction.guild, locale),
            allowed_mentions=discord.AllowedMentions.none(),
        )


class WordsForm(Form):
    """The words that are not shown."""

    def __init__(self, settings: ModerationSettings, present: Moderation, locale: Speaks) -> None:
        super().__init__(title=tr(locale, "Words that I do not show"))
        self._settings = settings
        self._words: _Field = ui.TextInput(
            custom_id="words",
            style=discord.TextStyle.paragraph,
            default=", ".join(present.words) or None,
            required=False,
            max_length=LONGEST_LIST,
        )
        self.add_item(
            ui.Label(
                text=tr(locale, "Words and phrases"),
                description=tr(locale, "Whole words, in any case, commas between them"),
                component=self._words,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is None:
            return
        locale = interaction.locale
        try:
            words = checked_words(self._words.value)
        except ValueError as error:
            content = tr(locale, "Nothing was changed. {why}", why=retold(locale, str(error)))
        else:
            changed = await self._settings.change(
                interaction.guild_id, lambda present: replace(present, words=words)
            )
            content = panel_text(changed, interaction.guild, locale)
        await interaction.edit_original_response(
            content=clipped(content, 2000), allowed_mentions=discord.AllowedMentions.none()
        )


def panel_text(settings: Moderation, guild: discord.Guild | None, locale: Speaks) -> str:
    """The settings in words, and what stands in the way of the log."""
    words = len(settings.words)
    listed = tr_count(locale, "{count} word or phrase", "{count} words and phrases", count=words)
    found = {
        tr(locale, "Words that I do not show"): listed if words else tr(locale, "none"),
        tr(locale, "When I write one"): retold(locale, _ON_WORD[settings.on_word]),
        tr(locale, "Log of changes, approvals and refusals"): f"<#{settings.log}>"
        if settings.log
        else tr(locale, "none"),
        tr(locale, "Images are made in"): _listed("<#{}>", settings.images)
        or tr(locale, "every channel, where they are on"),
        tr(locale, "My thinking is shown to"): _listed("<@&{}>", settings.thinkers)
        or tr(locale, "everyone, where it is on"),
    }
    lines = [f"**{what}** {how}" for what, how in found.items()]
    if settings.log and guild and (missing := _closed_to_log(guild, settings.log)):
        lacks = tr(
            locale,
            "I cannot write into {channel}: I lack {permissions}.",
            channel=f"<#{settings.log}>",
            permissions=", ".join(retold(locale, each) for each in missing),
        )
        lines.append(f"\N{WARNING SIGN} {lacks}")
    return clipped("\n".join(lines), 2000)


def _closed_to_log(guild: discord.Guild, channel_id: int) -> Sequence[str]:
    channel = guild.get_channel_or_thread(channel_id)
    if isinstance(channel, discord.TextChannel | discord.VoiceChannel | discord.Thread):
        return lacking_to_log(channel)
    return ["View Channel"]


def _listed(form: str, ids: Sequence[int]) -> str:
    return ", ".join(form.format(one) for one in ids)


def _controls(settings: Moderation, guild: discord.Guild | None, locale: Speaks) -> ui.View:
    """The menus; `ModerationPanel.on_interaction` serves them."""
    channel, role = discord.SelectDefaultValueType.channel, discord.SelectDefaultValueType.role
    view = ui.View(timeout=None)
    view.add_item(
        ui.Select(
            custom_id=_ON_WORD_ID,
            placeholder=tr(locale, "When I write one"),
            options=[
                discord.SelectOption(
                    label=retold(locale, told), value=name, default=name == settings.on_word
                )
                for name, told in _ON_WORD.items()
            ],
        )
    )
    view.add_item(
        ui.ChannelSelect(
            custom_id=_LOG_ID,
            placeholder=tr(locale, "Log of changes, approvals and refusals"),
            channel_types=_LOGS,
            min_values=0,
            max_values=1,
            default_values=_defaults([settings.log] if settings.log else [], channel),
        )
    )
    view.add_item(
        ui.ChannelSelect(
            custom_id=_IMAGES_ID,
            placeholder=tr(locale, "The only channels in which images are made"),
            channel_types=_IMAGES,
            min_values=0,
            max_values=MOST_IDS,
            default_values=_defaults(settings.images, channel),
        )
    )
    known = [one for one in settings.thinkers if guild is None or guild.get_role(one)]
    view.add_item(
        ui.RoleSelect(
            custom_id=_THINKERS_ID,
            placeholder=tr(locale, "The only roles that may read my thinking"),
            min_values=0,
            max_values=MOST_IDS,
            default_values=_defaults(known, role),
        )
    )
    view.add_item(ui.Button(label=tr(locale, "Words that I do not show"), custom_id=_WORDS_ID))
    view.stop()
    return view


def _defaults(
    ids: Sequence[int], kind: discord.SelectDefaultValueType
) -> list[discord.SelectDefaultValue]:
    return [discord.SelectDefaultValue(id=one, type=kind) for one in ids[:MOST_IDS]]


def _chosen(present: Moderation, custom_id: str, values: Sequence[str]) -> Moderation:
    """The settings with what was chosen in a menu."""
    if custom_id == _ON_WORD_ID:
        picked = [mode for mode in ON_WORD if mode in values]
        return replace(present, on_word=picked[0]) if picked else present
    ids = tuple(sorted({int(value) for value in values}))
    if custom_id == _LOG_ID:
        return replace(present, log=ids[0] if ids else None)
    return replace(present, **{"images" if custom_id == _IMAGES_ID else "thinkers": ids})
