"""Marks replies that a process left half-written when it was killed.

Invariant: what the last process left is read before this one writes a reply, and marked once the
bot is connected. A reply that is marked or gone leaves the list; one that Discord could not be
asked about stays for the next start.
"""

import asyncio
import logging
from collections.abc import Sequence
from itertools import groupby

import discord
from discord.ext import commands

from cogs.aside import NETWORK_ERRORS
from cogs.buttons import Answered, Button, view_of
from cogs.ledger import Ledger
from cogs.rendering import SUBTEXT, without_remarks
from cogs.splitting import MESSAGE_LIMIT
from cogs.translations.saying import reads_in, retold
from data.errors import StoreError
from data.unfinished import HalfWritten, Unfinished

log = logging.getLogger(__name__)

INTERRUPTED = "The bot was restarted while it wrote this."

_NO_MENTIONS = discord.AllowedMentions.none()


class Leftovers(commands.Cog):
    """Replies of the process before."""

    def __init__(self, bot: commands.Bot, kept: Unfinished, ledger: Ledger) -> None:
        self._bot = bot
        self._kept = kept
        self._ledger = ledger
        self._left: Sequence[HalfWritten] = ()
        self._marking: asyncio.Task[None] | None = None

    async def cog_load(self) -> None:
        """Read what was left, before anything is written."""
        try:
            self._left = await self._kept.all()
        except StoreError as error:
            log.error("Half-written replies are not marked: %s", error)

    async def cog_unload(self) -> None:
        """Leave the rest for the next start."""
        if self._marking is not None:
            self._marking.cancel()

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Mark them, once."""
        left, self._left = self._left, ()
        if left:
            self._marking = asyncio.create_task(self._mark_all(left))

    async def _mark_all(self, left: Sequence[HalfWritten]) -> None:
        in_order = sorted(left, key=lambda each: (each.turn_id, each.message_id))
        marked = 0
        for _, messages in groupby(in_order, key=lambda each: each.turn_id):
            reply = list(messages)
            try:
                marked += await self._mark(reply)
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                if not isinstance(error, discord.NotFound | discord.Forbidden):
                    log.warning("A half-written reply is marked at the next start: %s", error)
                    continue
            self._ledger.ended([each.message_id for each in reply])
        await self._ledger.settle()
        log.info("Half-written when the bot was killed, and marked now: %d.", marked)

    async def _mark(self, reply: Sequence[HalfWritten]) -> bool:
        """Whether anything of the reply was there to mark."""
        channel = self._bot.get_partial_messageable(
            reply[0].channel_id, guild_id=reply[0].guild_id or None
        )
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


async def _close(message: discord.Message, left: HalfWritten) -> None:
    """Say under the last message what has happened, with buttons that help."""
    answered = Answered(
        member_id=left.member_id, asked_id=left.asked_message_id, turn_id=left.turn_id
    )
    words = without_remarks(message.content)
    row: list[Button] = [] if answered.goes_on else ["again"]
    if words or answered.goes_on:
        row.append("on")
    view = view_of((*row, "delete"), answered, reads_in(message))
    remark = SUBTEXT + retold(reads_in(message), INTERRUPTED)
    content = f"{words}\n{remark}".strip()
    if len(content) > MESSAGE_LIMIT:
        await message.edit(content=words, view=None, allowed_mentions=_NO_MENTIONS)
        await message.channel.send(
            remark, view=view or discord.utils.MISSING, allowed_mentions=_NO_MENTIONS
        )
        return
    await message.edit(content=content, view=view, allowed_mentions=_NO_MENTIONS)
