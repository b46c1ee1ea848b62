"""Serves the buttons under replies: Stop, Regenerate, Continue and Delete.

Invariant: a press is acknowledged before any work is done for it. It counts only where the button
stands under a message of the bot's own, and the pressing member's rights are those that Discord
tells along with it. The buttons change only once it is certain that there will be an answer.
"""

import logging

import discord
from discord.ext import commands

from chat.again import going_on
from chat.ports import ChannelMessage
from cogs.aside import NETWORK_ERRORS
from cogs.buttons import WRITING, Action, Answered, Row, custom_ids, read_custom_id, row_of, view_of
from cogs.chat import Chat
from cogs.controls import component_of
from cogs.in_words import member_of
from cogs.permissions import Channel
from cogs.ports import Service
from cogs.rendering import without_remarks
from cogs.threads import standing_in
from cogs.tree import BROKEN, answer_privately
from data.errors import StoreError
from data.turns import Turns

log = logging.getLogger(__name__)

FORGED = "That button does not stand under this message."
NOT_YOURS = "Only the one who asked can do that."
NOT_YOURS_TO_END = (
    "Only the one who asked, or a member with the permission Manage Messages, can do that."
)
QUESTION_GONE = "The question was deleted, so there is nothing to answer any more."
UNDER_WAY = "That reply is being written. Stop it first."
ENDED = "That reply has ended already."
GOES_ON = "That answer goes on already."
BUSY = "The bot is being stopped or is answering that already. Try again in a moment."

_CHOICES: Row = ("again", "on")
"""What an answer no longer offers once one of them was chosen."""


class ReplyButtons(commands.Cog):
    """The buttons of all replies."""

    def __init__(self, me: discord.abc.User, chat: Chat, service: Service, turns: Turns) -> None:
        self._me = me
        self._chat = chat
        self._service = service
        self._turns = turns
        self._judged: set[int] = set()

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve a press of one of the buttons."""
        component, message = component_of(interaction), interaction.message
        if component is None or message is None:
            return
        if (read := read_custom_id(component.custom_id)) is None:
            return
        if message.author.id != self._me.id or component.custom_id not in custom_ids(message):
            await answer_privately(interaction, FORGED)
            return
        action, answered = read
        if (refusal := _refusal(interaction, action, answered)) is not None:
            await answer_privately(interaction, refusal)
            return
        try:
            await self._serve(interaction, action, answered, message)
        except (discord.HTTPException, *NETWORK_ERRORS, StoreError) as error:
            log.warning("A button under a reply did not do its work: %s", error)
            await answer_privately(interaction, BROKEN)

    async def _serve(
        self,
        interaction: discord.Interaction,
        action: Action,
        answered: Answered,
        message: discord.Message,
    ) -> None:
        if action == "stop":
            await self._stop(interaction, answered)
        elif action == "delete":
            await self._delete(interaction, answered, message)
        elif action == "again":
            await self._answer_again(interaction, answered, message)
        else:
            await self._go_on(interaction, answered, message)

    async def _stop(self, interaction: discord.Interaction, answered: Answered) -> None:
        if self._chat.stop(answered.turn_id):
            await interaction.response.defer()
        else:
            # Left by a process that is gone, or pressed while the last words were shown.
            await answer_privately(interaction, ENDED)

    async def _delete(
        self, interaction: discord.Interaction, answered: Answered, message: discord.Message
    ) -> None:
        if self._chat.is_answering(answered.turn_id):
            await answer_privately(interaction, UNDER_WAY)
            return
        await interaction.response.defer()
        channel = interaction.client.get_partial_messageable(message.channel.id)
        for each in reversed(await self._messages_of(message)):
            try:
                await channel.get_partial_message(each).delete()
            except discord.NotFound:
                continue

    async def _answer_again(
        self, interaction: discord.Interaction, answered: Answered, message: discord.Message
    ) -> None:
        await interaction.response.defer()
        question = await self._let_through(interaction, answered)
        if question is None:
            return
        await interaction.edit_original_response(
            view=view_of(WRITING, answered, interaction.guild_locale)
        )
        try:
            adopted = await self._adopted(message)
        except (discord.HTTPException, *NETWORK_ERRORS, StoreError):
            await self._put_back(interaction, answered, message)
            raise
        if not self._chat.answer_again(question, adopted):
            await self._put_back(interaction, answered, message)
            await answer_privately(interaction, BUSY)

    async def _adopted(self, message: discord.Message) -> list[discord.Message]:
        """The messages of words of the reply that ends with `message`; others of it go."""
        adopted: list[discord.Message] = []
        for each in await self._messages_of(message):
            if each == message.id:
                adopted.append(message)
                continue
            try:
                earlier = await message.channel.fetch_message(each)
            except discord.NotFound:
                continue
            if earlier.content:
                adopted.append(earlier)
            else:
                await earlier.delete()
        return adopted

    async def _go_on(
        self, interaction: discord.Interaction, answered: Answered, message: discord.Message
    ) -> None:
        await interaction.response.defer()
        spoken = ChannelMessage(
            id=interaction.id,
            author=member_of(interaction.user),
            text=going_on(without_remarks(message.content)),
            at=interaction.created_at,
        )
        question = await self._let_through(interaction, answered, spoken)
        if question is None:
            return
        if not await self._service.claim(message.id):
            await answer_privately(interaction, GOES_ON)
            return
        rest: Row = tuple(button for button in row_of(message) if button not in _CHOICES)
        await interaction.edit_original_response(
            view=view_of(rest, answered, interaction.guild_locale)
        )
        if not self._chat.go_on(question, spoken, message):
            await answer_privately(interaction, BUSY)

    async def _let_through(
        self,
        interaction: discord.Interaction,
        answered: Answered,
        spoken: ChannelMessage | None = None,
    ) -> discord.Message | None:
        """The question, where it may be answered anew, or `spoken` about it; else the member is
        told why not, and the buttons stay."""
        channel, turn_id = interaction.channel, answered.turn_id
        line = BUSY
        if self._chat.is_closing or self._chat.is_answering(turn_id) or turn_id in self._judged:
            pass
        elif not isinstance(channel, discord.abc.Messageable):
            line = QUESTION_GONE
        else:
            self._judged.add(turn_id)
            try:
                question = await _question(channel, answered)
                if question is None:
                    line = QUESTION_GONE
                else:
                    refused = await self._chat.gate.refusal(
                        question, spoken, asker=interaction.user
                    )
                    if refused is None:
                        return question
                    line = refused.line
            finally:
                self._judged.discard(turn_id)
        await answer_privately(interaction, line)
        return None

    async def _messages_of(self, message: discord.Message) -> list[int]:
        """Ids of all messages of the reply that ends with `message`, in order."""
        turn = (await self._turns.by_messages([message.id])).get(message.id)
        return list(turn.reply_message_ids) if turn else [message.id]

    @staticmethod
    async def _put_back(
        interaction: discord.Interaction, answered: Answered, message: discord.Message
    ) -> None:
        await interaction.edit_original_response(
            view=view_of(row_of(message), answered, interaction.guild_locale)
        )


def _refusal(interaction: discord.Interaction, action: Action, answered: Answered) -> str | None:
    """Why the member may not do that; None if they may."""
    if interaction.user.id == answered.member_id:
        return None
    if action in ("again", "on"):
        return NOT_YOURS
    return None if interaction.permissions.manage_messages else NOT_YOURS_TO_END


async def _question(channel: Channel, answered: Answered) -> discord.Message | None:
    """The message that was answered; None if it is gone. The one on which a thread hangs stands in
    the channel around that."""
    try:
        if isinstance(channel, discord.Thread) and channel.id == answered.asked_id:
            around = channel.parent
            if not isinstance(around, discord.TextChannel):
                return None
            return standing_in(await around.fetch_message(answered.asked_id), channel)
        return await channel.fetch_message(answered.asked_id)
    except discord.NotFound:
        return None
