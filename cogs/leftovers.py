"""Marks replies that a process left half-written when it was killed, and questions left open.

Invariant: what the last process left is read before this one writes a reply, and seen to once the
bot is connected. What is marked, told or gone leaves the list; what Discord could not be asked
about stays for the next start.
"""

import asyncio
import logging
from collections.abc import Sequence

import discord
from discord.ext import commands

from cogs.aside import NETWORK_ERRORS
from cogs.buttons import WRITING, Answered, Button, custom_ids, read_custom_id, row_of, view_of
from cogs.ledger import Ledger
from cogs.rendering import without_remarks
from cogs.sending import SUBTEXT, send_once
from cogs.splitting import MESSAGE_LIMIT
from cogs.translations.saying import reads_in, retold
from data.errors import StoreError
from data.unfinished import HalfWritten, OpenQuestion, Unfinished

log = logging.getLogger(__name__)

INTERRUPTED = "The bot was restarted while it wrote this."
UNANSWERED = "The bot was restarted before it answered."

_BEHIND = 100
"""Messages behind a question among which its answer is sought."""

_NO_MENTIONS = discord.AllowedMentions.none()


class Leftovers(commands.Cog):
    """Replies of the process before."""

    def __init__(self, bot: commands.AutoShardedBot, kept: Unfinished, ledger: Ledger) -> None:
        self._bot = bot
        self._kept = kept
        self._ledger = ledger
        self._left: Sequence[HalfWritten] = ()
        self._open: Sequence[OpenQuestion] = ()
        self._marking: asyncio.Task[None] | None = None

    async def cog_load(self) -> None:
        """Read what was left, before anything is written."""
        try:
            self._left = await self._kept.all()
            self._open = await self._kept.questions()
        except StoreError as error:
            log.error("Half-written replies are not marked: %s", error)

    async def cog_unload(self) -> None:
        """Leave the rest for the next start."""
        if self._marking is not None:
            self._marking.cancel()
            await asyncio.wait([self._marking])
            await self._ledger.settle()

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Mark them, once."""
        left, self._left = self._left, ()
        questions, self._open = self._open, ()
        if left or questions:
            self._marking = asyncio.create_task(self._see_to(left, questions))

    async def _see_to(self, left: Sequence[HalfWritten], questions: Sequence[OpenQuestion]) -> None:
        # Where both are listed, the question tells nothing that its messages do not.
        open_ = {each.asked_message_id: each for each in (*questions, *left)}
        seen_to = 0
        for asked_id, question in open_.items():
            reply = [each for each in left if each.asked_message_id == asked_id]
            try:
                if reply:
                    seen_to += await self._mark(reply)
                else:
                    seen_to += await self._look_behind(question)
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                if _may_pass(error):
                    continue
            self._ledger.ended([each.message_id for each in reply])
            self._ledger.answered(asked_id)
        await self._ledger.settle()
        log.info("Left open when the bot was killed, and marked now: %d.", seen_to)

    async def _mark(self, reply: Sequence[HalfWritten]) -> bool:
        """Whether anything of the reply was there to mark."""
        channel = self._channel(reply[0])
        found: list[discord.Message] = []
        for each in reply:
            try:
                found.append(await channel.fetch_message(each.message_id))
            except discord.NotFound:
                continue
        for message in found[:-1]:
            if message.components:
                await message.edit(view=None, allowed_mentions=_NO_MENTIONS)
        if found:
            await _close(found[-1], reply[-1])
        return bool(found)

    async def _look_behind(self, question: OpenQuestion) -> bool:
        """Mark an answer that was not noted before the end, or say that there is none. False where
        there was nothing to do."""
        channel = self._channel(question)
        asked = discord.Object(question.asked_message_id)
        async for message in channel.history(after=asked, limit=_BEHIND, oldest_first=True):
            if _answers(message, question):
                if row_of(message) != WRITING:
                    return False
                await _close(message, question)
                return True
        message = await channel.fetch_message(question.asked_message_id)
        answered = _answered(question)
        row: Sequence[Button] = ("on", "delete") if answered.goes_on else ("again", "delete")
        await send_once(
            message.channel,
            SUBTEXT + retold(reads_in(message), UNANSWERED),
            below=message,
            view=view_of(tuple(row), answered, reads_in(message)),
        )
        return True

    def _channel(self, question: OpenQuestion) -> discord.PartialMessageable:
        return self._bot.get_partial_messageable(
            question.channel_id, guild_id=question.guild_id or None
        )


def _may_pass(error: Exception) -> bool:
    """Whether the next start may fare better."""
    if isinstance(error, discord.NotFound | discord.Forbidden):
        return False
    log.warning("What the last process left open is seen to at the next start: %s", error)
    return True


def _answers(message: discord.Message, question: OpenQuestion) -> bool:
    """Whether a message is the end of the reply to a question: its buttons tell."""
    turns = [read[1] for custom_id in custom_ids(message) if (read := read_custom_id(custom_id))]
    return _answered(question) in turns


def _answered(question: OpenQuestion) -> Answered:
    return Answered(
        member_id=question.member_id,
        asked_id=question.asked_message_id,
        turn_id=question.turn_id,
    )


async def _close(message: discord.Message, left: OpenQuestion) -> None:
    """Say under the last message what has happened, with buttons that help."""
    answered = _answered(left)
    words = without_remarks(message.content)
    row: list[Button] = [] if answered.goes_on else ["again"]
    if words or answered.goes_on:
        row.append("on")
    view = view_of((*row, "delete"), answered, reads_in(message))
    remark = SUBTEXT + retold(reads_in(message), INTERRUPTED)
    content = f"{words}\n{remark}".strip()
    if len(content) > MESSAGE_LIMIT:
        await message.edit(content=words, view=None, allowed_mentions=_NO_MENTIONS)
        await send_once(message.channel, remark, view=view)
        return
    await message.edit(content=content, view=view, allowed_mentions=_NO_MENTIONS)
