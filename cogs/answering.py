"""/config answering: who is answered on a server, where, and with how much of the past.

Invariant: each control needs Manage Server at that moment and works after a restart too; what was
chosen is checked as if it were typed.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.answering import (
    HISTORY_MODES,
    LARGEST_WINDOW,
    LEAST_WINDOW,
    MOST_IDS,
    MOST_WORDS,
    Answering,
    AnsweringSettings,
    HistoryMode,
    checked_window,
    checked_words,
)
from chat.written_words import LONGEST_WORD
from cogs.controls import CHOOSABLE, MOST_CHOICES, component_of, managed_guild
from cogs.forms import Form, clipped
from cogs.sending import SUBTEXT
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, answer_privately, require_manage_guild

log = logging.getLogger(__name__)

_TRIGGERS_ID = "answering:triggers"
_CHANNELS_ID = "answering:channels"
_DENIED_ID = "answering:denied"
_IGNORED_ID = "answering:ignored"
_MORE_ID = "answering:more"
_IDS = (_TRIGGERS_ID, _CHANNELS_ID, _DENIED_ID, _IGNORED_ID, _MORE_ID)

_FLAGS = {
    "mention": ("Mentions of me", "In the text itself; a reply's ping is no mention"),
    "reply": ("Replies to me", "A reply to somebody else is left alone"),
    "threads": ("Threads that I opened", "Every message there is answered"),
    "in_thread": ("Open a thread for each conversation", "The answer then stands in the thread"),
}
_MODES: dict[HistoryMode, str] = {
    "auto": "Channel for a model in your own network, else replies",
    "channel": "Everything that is said in the channel",
    "replies": "Only the chain of replies that leads to the question",
}

_Field: TypeAlias = "ui.TextInput[ui.Modal]"


class AnsweringPanel(commands.Cog):
    """Adds its command to `family`, the /config group. `reads_all` tells whether the bot has the
    message content intent."""

    def __init__(
        self, settings: AnsweringSettings, family: app_commands.Group, *, reads_all: bool
    ) -> None:
        self._settings = settings
        self._reads_all = reads_all
        command: app_commands.Command[AnsweringPanel, ..., None] = app_commands.Command(
            name="answering",
            description="Whom I answer and where, and how much of the past I read",
            callback=self._show,  # pyright: ignore[reportArgumentType]
        )
        family.add_command(command)

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    async def _show(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        settings = await self._settings.of(interaction.guild_id or 0)
        await self._draw(interaction, settings)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve the panel, also one from before a restart."""
        component = component_of(interaction)
        if component is None or component.custom_id not in _IDS:
            return
        custom_id, chosen = component.custom_id, component.values
        guild = interaction.guild
        if await managed_guild(interaction) is None or guild is None:
            return
        try:
            if custom_id == _MORE_ID:
                settings = await self._settings.of(guild.id)
                form = MoreForm(
                    self._settings, settings, interaction.locale, reads_all=self._reads_all
                )
                await interaction.response.send_modal(form)
                return
            await interaction.response.defer()
            changed = await self._settings.change(
                guild.id, lambda present: _chosen(present, custom_id, chosen, guild)
            )
            await self._draw(interaction, changed)
        except Exception:
            log.exception("A control of /config answering could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _draw(self, interaction: discord.Interaction, settings: Answering) -> None:
        locale = interaction.locale
        await interaction.edit_original_response(
            content=panel_text(settings, locale, reads_all=self._reads_all),
            view=_controls(settings, interaction.guild, locale),
            allowed_mentions=discord.AllowedMentions.none(),
        )


class MoreForm(Form):
    """What is typed: words, the window, ids of bots; and the mode of the past."""

    def __init__(
        self,
        settings: AnsweringSettings,
        present: Answering,
        locale: Speaks,
        *,
        reads_all: bool,
    ) -> None:
        super().__init__(title=tr(locale, "Words, past and bots"))
        self._settings = settings
        self._reads_all = reads_all
        self._words: _Field = ui.TextInput(
            custom_id="words",
            style=discord.TextStyle.paragraph,
            placeholder=tr(locale, "helpdesk, hey robot"),
            default=", ".join(present.words) or None,
            required=False,
            max_length=MOST_WORDS * (LONGEST_WORD + 2),
        )
        self._mode: ui.Select[ui.Modal] = ui.Select(
            custom_id="history",
            required=False,
            options=[
                discord.SelectOption(
                    label=retold(locale, told), value=mode, default=mode == present.history
                )
                for mode, told in _MODES.items()
            ],
        )
        self._window: _Field = ui.TextInput(
            custom_id="window",
            placeholder="200",
            default=str(present.window) if present.window else None,
            required=False,
            max_length=6,
        )
        self._bots: _Field = ui.TextInput(
            custom_id="bots",
            placeholder=tr(locale, "None"),
            default=", ".join(map(str, present.bots)) or None,
            required=False,
            max_length=1000,
        )
        self.add_item(
            ui.Label(
                text=tr(locale, "Words that I answer"),
                description=tr(locale, "Whole words, in any case, commas between them"),
                component=self._words,
            )
        )
        self.add_item(ui.Label(text=tr(locale, "What I read of the past"), component=self._mode))
        self.add_item(
            ui.Label(
                text=tr(locale, "Messages of the past"),
                description=tr(
                    locale,
                    "At most so many, {least} to {most}",
                    least=LEAST_WINDOW,
                    most=LARGEST_WINDOW,
                ),
                component=self._window,
            )
        )
        self.add_item(
            ui.Label(
                text=tr(locale, "Bots that I answer"),
                description=tr(
                    locale, "Their ids, commas between them; they have to mention or answer me"
                ),
                component=self._bots,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is None:
            return
        try:
            words = checked_words(self._words.value)
            window = checked_window(self._window.value)
            bots = _checked_ids(self._bots.value)
        except ValueError as error:
            locale = interaction.locale
            content = tr(locale, "Nothing was changed. {why}", why=retold(locale, str(error)))
        else:
            picked = [mode for mode in HISTORY_MODES if mode in self._mode.values]
            changed = await self._settings.change(
                interaction.guild_id,
                lambda present: replace(
                    present,
                    words=words,
                    window=window,
                    bots=bots,
                    history=picked[0] if picked else present.history,
                ),
            )
            content = panel_text(changed, interaction.locale, reads_all=self._reads_all)
        await interaction.edit_original_response(
            content=clipped(content, 2000), allowed_mentions=discord.AllowedMentions.none()
        )


def panel_text(settings: Answering, locale: Speaks, *, reads_all: bool) -> str:
    """The settings in words. Where the message content intent is missing it says what that takes
    away."""
    none = tr(locale, "none")
    on = [retold(locale, told) for name, (told, _) in _FLAGS.items() if getattr(settings, name)]
    found = {
        tr(locale, "I answer"): ", ".join(on) or tr(locale, "no mention and no reply"),
        tr(locale, "Every message in"): _listed("<#{}>", settings.channels, locale),
        tr(locale, "Messages with the words"): ", ".join(settings.words) or none,
        tr(locale, "I am silent in"): _listed("<#{}>", settings.denied, locale),
        tr(locale, "I ignore"): _ignored(settings) or tr(locale, "nobody"),
        tr(locale, "Bots that I answer"): _listed("<@{}>", settings.bots, locale),
        tr(locale, "Of the past I read"): tr(
            locale,
            "{which}; at most {number} messages",
            which=retold(locale, _MODES[settings.history]),
            number=number(locale, settings.window or LARGEST_WINDOW),
        ),
    }
    lines = [f"**{what}** {how}" for what, how in found.items()]
    needing = [
        told
        for told, used in (
            (tr(locale, "words"), settings.words),
            (tr(locale, "channels that I always answer in"), settings.channels),
            (tr(locale, "threads that I opened"), settings.threads),
        )
        if used
    ]
    if not reads_all and needing:
        lost = tr(
            locale,
            "Without the message content intent I cannot read what does not mention me, so this "
            "does nothing now: {what}.",
            what=", ".join(needing),
        )
        lines.append(f"\N{WARNING SIGN} {lost}")
    lines.append(
        SUBTEXT + tr(locale, "`/config channels` names the only channels in which I answer at all.")
    )
    return clipped("\n".join(lines), 2000)


def _ignored(settings: Answering) -> str:
    return ", ".join(
        [*(f"<@&{one}>" for one in settings.roles), *(f"<@{one}>" for one in settings.members)]
    )


def _listed(form: str, ids: Sequence[int], locale: Speaks) -> str:
    more = len(ids) - MOST_CHOICES
    named = ", ".join(form.format(one) for one in ids[:MOST_CHOICES])
    if more > 0:
        return tr(locale, "{names} and {more} more", names=named, more=more)
    return named or tr(locale, "none")


def _controls(settings: Answering, guild: discord.Guild | None, locale: Speaks) -> ui.View:
    """The menus; `AnsweringPanel.on_interaction` serves them."""
    view = ui.View(timeout=None)
    view.add_item(
        ui.Select(
            custom_id=_TRIGGERS_ID,
            placeholder=tr(locale, "What I answer"),
            min_values=0,
            max_values=len(_FLAGS),
            options=[
                discord.SelectOption(
                    label=retold(locale, told),
                    value=name,
                    description=retold(locale, more),
                    default=getattr(settings, name),
                )
                for name, (told, more) in _FLAGS.items()
            ],
        )
    )
    for custom_id, placeholder, chosen in (
        (_CHANNELS_ID, tr(locale, "Channels in which I answer every message"), settings.channels),
        (_DENIED_ID, tr(locale, "Channels in which I am silent"), settings.denied),
    ):
        view.add_item(
            ui.ChannelSelect(
                custom_id=custom_id,
                placeholder=placeholder,
                channel_types=CHOOSABLE,
                min_values=0,
                max_values=MOST_CHOICES,
                default_values=_defaults(chosen, discord.SelectDefaultValueType.channel),
            )
        )
    ignored = [
        *_defaults(
            [one for one in settings.roles if guild is None or guild.get_role(one)],
            discord.SelectDefaultValueType.role,
        ),
        *_defaults(settings.members, discord.SelectDefaultValueType.user),
    ]
    view.add_item(
        ui.MentionableSelect(
            custom_id=_IGNORED_ID,
            placeholder=tr(locale, "Roles and members that I ignore"),
            min_values=0,
            max_values=MOST_CHOICES,
            default_values=ignored[:MOST_CHOICES],
        )
    )
    view.add_item(ui.Button(label=tr(locale, "Words, past and bots"), custom_id=_MORE_ID))
    view.stop()
    return view


def _defaults(
    ids: Sequence[int], kind: discord.SelectDefaultValueType
) -> list[discord.SelectDefaultValue]:
    return [discord.SelectDefaultValue(id=one, type=kind) for one in ids[:MOST_CHOICES]]


def _chosen(
    present: Answering, custom_id: str, values: Sequence[str], guild: discord.Guild
) -> Answering:
    """The settings with what was chosen in a menu."""
    if custom_id == _TRIGGERS_ID:
        return replace(
            present,
            mention="mention" in values,
            reply="reply" in values,
            threads="threads" in values,
            in_thread="in_thread" in values,
        )
    ids = sorted({int(value) for value in values})
    if custom_id == _IGNORED_ID:
        return replace(
            present,
            roles=tuple(one for one in ids if guild.get_role(one)),
            members=tuple(one for one in ids if not guild.get_role(one)),
        )
    here = tuple(one for one in ids if guild.get_channel(one))
    return replace(present, **{"channels" if custom_id == _CHANNELS_ID else "denied": here})


def _checked_ids(written: str) -> tuple[int, ...]:
    parts = [part.strip(" <@!>") for part in written.replace("\n", ",").split(",")]
    named = [part for part in parts if part]
    for part in named:
        if not (part.isdecimal() and 15 <= len(part) <= 20):
            raise ValueError(
                f"“{part[:30]}” is no id of a bot: those are numbers of 17 digits or so."
            )
    if len(named) > MOST_IDS:
        raise ValueError(f"At most {MOST_IDS} bots can be listed.")
    return tuple(sorted({int(part) for part in named}))
