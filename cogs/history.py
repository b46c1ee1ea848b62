"""Reads the past for a turn: that of a channel, or the chain of replies that led to a question.

Invariant: messages come oldest first, those of members, of the bot itself and of bots that it
answers. A thread is a channel of its own, so nothing of its parent is mixed in but the message that
it hangs on, where the bot opened it.
"""

import logging
from collections.abc import Collection, Sequence

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
_SCAN = 1000
"""Messages that one read looks at. Where other bots write more than that between two members, the
past begins later with each of their messages."""


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
    """chat.ports.History over one channel, thread or direct conversation. What `bots` (ids) say
    counts as what members say."""

    def __init__(
        self,
        channel: discord.abc.Messageable,
        me: discord.abc.User,
        *,
        bots: Collection[int] = (),
    ) -> None:
        self._channel = channel
        self._me = me
        self._bots = bots

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
                if says_something(words) and counts(message, self._me, self._bots):
                    found.append(words)
                if len(found) == limit:
                    break
            else:
                found += await self._hangs_on(after)
        except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
            log.warning("The history of a channel could not be read: %s", error)
        return found[::-1]

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """See tools.registry.FileSource."""
        return await download(self._channel, attachment, most=most)

    async def _hangs_on(self, after: int | None) -> list[ChannelMessage]:
        """The message on which a thread of the bot's own hangs: the question that began it."""
        thread = self._channel
        if not isinstance(thread, discord.Thread) or thread.owner_id != self._me.id:
            return []
        if after is not None and after >= thread.id:
            return []
        message = thread.starter_message
        if message is None and isinstance(thread.parent, discord.TextChannel):
            try:
                message = await thread.parent.fetch_message(thread.id)
            except discord.NotFound:
                return []
        if message is None or not counts(message, self._me, self._bots):
            return []
        words = spoken(message, self._me)
        return [words] if says_something(words) else []


class ReplyChain:
    """chat.ports.History of nothing but what `question` replies to, what that replies to, and so
    on; with `included`, of `question` too. Where it begins is the chain's own matter: `after` is of
    no use here."""

    def __init__(
        self,
        question: discord.Message,
        me: discord.abc.User,
        *,
        included: bool = False,
        bots: Collection[int] = (),
    ) -> None:
        self._question = question
        self._me = me
        self._included = included
        self._bots = bots

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """As the protocol says. What Discord does not hand out ends the chain."""
        found: list[ChannelMessage] = []
        message: discord.Message | None = self._question
        for step in range(limit):
            try:
                if step or not self._included:
                    message = await self._earlier(message)
            except discord.NotFound:
                break
            except (discord.HTTPException, aiohttp.ClientError, OSError) as error:
                log.warning("A chain of replies could not be read: %s", error)
                break
            if message is None:
                break
            words = spoken(message, self._me)
            if says_something(words) and counts(message, self._me, self._bots):
                found.append(words)
        return [message for message in found[::-1] if message.id < before]

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """See tools.registry.FileSource."""
        return await download(self._question.channel, attachment, most=most)

    async def _earlier(self, message: discord.Message) -> discord.Message | None:
        """What `message` replies to. Of an answer in several messages only the first replies, so
        the way there leads through those before."""
        reference, channel = message.reference, message.channel
        if message.type is discord.MessageType.reply and reference is not None:
            known = reference.cached_message or reference.resolved
            if isinstance(known, discord.Message):
                return known
            if reference.message_id is None or isinstance(known, discord.DeletedReferencedMessage):
                return None
            return await channel.fetch_message(reference.message_id)
        if message.author.id != self._me.id:
            return None
        async for before in channel.history(limit=1, before=message):
            return before if before.author.id == self._me.id else None
        return None


def counts(message: discord.Message, me: discord.abc.User, bots: Collection[int]) -> bool:
    """Whether a message is part of a conversation."""
    if message.type not in _SPOKEN:
        return False
    author = message.author
    return author.id == me.id or author.id in bots or not (author.bot or message.webhook_id)
