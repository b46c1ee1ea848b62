"""Ask about this message: a question about any message, from its menu.

Invariant: it is a turn like any other, and asks for the same permissions. Its words are the
member's who asks; the message is only quoted. What is answered privately is seen by that member
alone, however long it takes.
"""

import asyncio
import logging
from dataclasses import dataclass
from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.desk import Desk
from chat.ending import why_stopped
from chat.ports import ChannelMessage, Quote, TurnRequest
from cogs.admitting import OPTED_OUT, SILENT_HERE
from cogs.buttons import Answered
from cogs.chat import Chat
from cogs.files import attachments_in
from cogs.in_words import member_of, message_in_words, one_line
from cogs.permissions import within
from cogs.places import place_of
from cogs.ports import Service
from cogs.rights import MemberRights
from cogs.translations.saying import retold, tr
from cogs.tree import BROKEN, answer_privately
from cogs.whispering import Whisper

log = logging.getLogger(__name__)

NAME = "Ask about this message"

_LONGEST_QUESTION = 2000
_LONGEST_QUOTE = 2000
_HERE, _ALONE = "here", "alone"

_Field: TypeAlias = "ui.TextInput[ui.Modal]"
_Choice: TypeAlias = "ui.Select[ui.Modal]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """What a question needs behind it."""

    me: discord.abc.User
    chat: Chat
    service: Service
    desk: Desk


class Asking(commands.Cog):
    """The command in the menu of a message."""

    def __init__(
        self,
        bot: commands.AutoShardedBot,
        me: discord.abc.User,
        chat: Chat,
        service: Service,
        desk: Desk,
    ) -> None:
        self._bot = bot
        self._parts = _Parts(me=me, chat=chat, service=service, desk=desk)
        self._menu = app_commands.ContextMenu(name=NAME, callback=self._ask)
        self._menu.guild_only = True

    async def cog_load(self) -> None:
        """Offer the command."""
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take it back."""
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    async def _ask(self, interaction: discord.Interaction, message: discord.Message) -> None:
        if (reason := await self._reason_against(interaction, message)) is not None:
            await answer_privately(interaction, retold(interaction.locale, reason))
            return
        await interaction.response.send_modal(
            QuestionForm(self._parts, message, interaction.locale)
        )

    async def _reason_against(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> str | None:
        """Why no question about that message is taken here; None if one is."""
        privacy, guild_id = self._parts.desk.privacy, interaction.guild_id
        if await privacy.has_opted_out(guild_id, interaction.user.id):
            return OPTED_OUT
        if await privacy.has_opted_out(guild_id, message.author.id):
            return "Its author does not want their messages read to a model."
        may = interaction.permissions
        if not (may.view_channel and may.read_message_history):
            return "You cannot read this channel."
        channel = interaction.channel
        if guild_id is None or not isinstance(channel, discord.abc.Messageable):
            return "There is no conversation in this channel."
        if not await self._parts.desk.admission.takes_channel(guild_id, within(channel)):
            return SILENT_HERE
        return None


class QuestionForm(ui.Modal):
    """Takes the question, and who is to see the answer."""

    def __init__(self, parts: _Parts, message: discord.Message, locale: discord.Locale) -> None:
        super().__init__(title=tr(locale, "Ask about this message"))
        self._parts = parts
        self._message = message
        self._question: _Field = ui.TextInput(
            custom_id="question",
            style=discord.TextStyle.paragraph,
            max_length=_LONGEST_QUESTION,
        )
        here, alone = tr(locale, "everyone, below that message"), tr(locale, "only me")
        self._who: _Choice = ui.Select(
            custom_id="who",
            options=[
                discord.SelectOption(label=here, value=_HERE, default=True),
                discord.SelectOption(label=alone, value=_ALONE),
            ],
        )
        self.add_item(ui.Label(text=tr(locale, "Your question"), component=self._question))
        self.add_item(ui.Label(text=tr(locale, "Who sees the answer"), component=self._who))

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Begin the turn."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        asked = self._asked(interaction)
        locale, channel = interaction.locale, interaction.channel
        stopping = tr(
            locale, "The bot is being stopped or restarted. Please ask again in a moment."
        )
        if _ALONE in self._who.values:
            if not self._parts.chat.answer_elsewhere(
                asked.id, self._answer_alone(interaction, asked)
            ):
                await interaction.edit_original_response(content=stopping)
            return
        may_write = interaction.permissions
        is_thread = isinstance(channel, discord.Thread)
        allowed = may_write.send_messages_in_threads if is_thread else may_write.send_messages
        if not allowed:
            content = tr(locale, "You may not write here, so only you can see an answer.")
        elif refused := await self._parts.chat.gate.refusal(
            self._message, asked, asker=interaction.user
        ):
            content = retold(locale, refused.line)
        elif self._parts.chat.answer_about(self._message, asked):
            link = self._message.jump_url
            content = tr(locale, "I answer below that message: {link}", link=link)
        else:
            content = stopping
        await interaction.edit_original_response(content=content)

    async def on_error(self, interaction: discord.Interaction, error: Exception, /) -> None:
        """Log what is not the member's doing, and say that it was not taken."""
        log.error("A question about a message was not taken.", exc_info=error)
        await answer_privately(interaction, BROKEN)

    def _asked(self, interaction: discord.Interaction) -> ChannelMessage:
        """The question as a message that replies to the one that it is about. Its id is that of
        the interaction, which stands in time where a message would."""
        about = self._message
        words = one_line(message_in_words(about, self._parts.me), _LONGEST_QUOTE)
        return ChannelMessage(
            id=interaction.id,
            author=member_of(interaction.user),
            text=self._question.value.strip(),
            at=interaction.created_at,
            reply_to=Quote(message_id=about.id, author=member_of(about.author), text=words),
            attachments=tuple(attachments_in(about)),
        )

    async def _answer_alone(self, interaction: discord.Interaction, asked: ChannelMessage) -> None:
        """Run the turn with an answer that stands in no channel, and so in no later prompt."""
        channel = interaction.channel
        if not isinstance(channel, discord.abc.Messageable) or interaction.channel_id is None:
            return
        chat = self._parts.chat
        about, asker = self._message, interaction.user
        answered = Answered(member_id=asker.id, asked_id=about.id, turn_id=asked.id)
        async with Whisper(interaction, channel, answered) as whisper:
            try:
                refused = await chat.gate.refusal(about, asked, asker=asker, speaks=False)
                if refused is not None:
                    await whisper.give_up(refused.line)
                    return
                history = await chat.addressing.history(about, included=True)
                request = TurnRequest(
                    place=place_of(interaction.guild_id, channel, interaction.channel_id),
                    member=asked.author,
                    message=asked,
                    rights=MemberRights(about, asked.author.id),
                )
                await self._parts.service.respond(request, history, whisper)
            except asyncio.CancelledError as stop:
                await whisper.give_up(why_stopped(stop))
                raise
            except Exception:
                log.exception("A question about a message was not answered.")
                await whisper.give_up(BROKEN)
