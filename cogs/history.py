"""Reads a channel's past for a turn.

Invariant: messages come oldest first, members' and the bot's own only. A thread is a channel
of its own, so nothing of its parent is mixed in.
"""

import logging
from collections.abc import Sequence

import aiohttp
import discord

from chat.ports import ChannelMessage
from cogs.files import attachments_in, download
from cogs.in_words import (
    answered_by,
    member_of,
    mentions_in_body,
    message_in_words,
    quote_in,
)
from prompt.values import Attachment

log = logging.getLogger(__name__)

_SPOKEN = (discord.MessageType.default, discord.MessageType.reply)
_SCAN = 200
"""Messages that one read looks at: in a channel full of other bots it finds fewer than asked."""


def spoken(message: discord.Message, me: discord.abc.User) -> ChannelMessage:
    """`message` as a turn sees it.

    It quotes what it replies to where it says something, or mentions `me` and nothing else. A
    reply without words that does not mention `me` is one whose words are withheld from bots.
    """
    text = message_in_words(message, me)
    ours = message.author.id == me.id
    quotes = not ours and (bool(text) or mentions_in_body(message, me))
    answered = answered_by(message) if quotes else None
    return ChannelMessage(
        id=message.id,
        author=member_of(message.author),
        text=text,
        at=message.created_at,
        ours=ours,
        reply_to=quote_in(message, me) if quotes else None,
        attachments=(
            *(attachments_in(answered) if answered else ()),
            *attachments_in(message),
        ),
    )


def says_something(message: ChannelMessage) -> bool:
    """Whether a model would have anything to read of it."""
    return bool(message.text or message.reply_to)


class ChannelHistory:
    """chat.ports.History over one channel, thread or direct conversation."""

    def __init__(self, channel: discord.abc.Messageable, me: discord.abc.User) -> None:
        self._channel = channel
        self._me = me

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """As the protocol says. What Discord does not hand out is missing, and logged."""
        found: list[ChannelMessage] = []
        try:
            async for message in self._channel.history(
                limit=max(limit, _SCAN),
                before=discord.Object(before),
                after=discord.Object(after) if after is not None else None,
                oldest_first=False,
            ):
                words = spoken(message, self._me)
                if says_something(words) and self._counts(message):
                    found.append(words)
                if len(found) == limit:
                    break
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            log.warning("The history of a channel could not be read: %s", error)
        return found[::-1]

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """See tools.registry.FileSource."""
        return await download(self._channel, attachment, most=most)

    def _counts(self, message: discord.Message) -> bool:
        if message.type not in _SPOKEN:
            return False
        return message.author.id == self._me.id or not (message.author.bot or message.webhook_id)
