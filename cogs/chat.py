"""Answers members: decides which messages are meant for the bot, and runs one turn for each.

Invariant: a message is claimed before anything is done for it, and a channel has one turn at a
time. Other bots, webhooks and the bot's own messages never start one.
"""

import asyncio
import logging
from collections.abc import Callable

import discord
from discord.ext import commands

from chat.ports import Place, TurnRequest
from cogs.aside import NETWORK_ERRORS, tell_apart
from cogs.delivery import CADENCE, Delivery
from cogs.history import ChannelHistory, spoken
from cogs.permissions import lacking_to_speak
from cogs.ports import Service
from cogs.queueing import FairQueue
from cogs.rendering import SUBTEXT, mentions_in_body
from cogs.tree import BROKEN
from data.errors import StoreError

log = logging.getLogger(__name__)

_ASKS = (discord.MessageType.default, discord.MessageType.reply)
_HINT = "Write your question in the same message, and I will answer here."
_HINT_UNREADABLE = "I can only read messages that mention me: please mention me in your reply."


class Chat(commands.Cog):
    """The listener behind every conversation."""

    def __init__(
        self, me: discord.abc.User, service: Service, *, reads_all: bool, cadence: float = CADENCE
    ) -> None:
        self._me = me
        self._service = service
        self._reads_all = reads_all
        self._cadence = cadence
        self._queues: dict[int, FairQueue[discord.Message]] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._turns: set[asyncio.Task[None]] = set()
        self._closing = False

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Queue a message that is meant for the bot."""
        if self._closing or not self._is_addressed(message):
            return
        try:
            fresh = await self._service.claim(message.id)
        except StoreError as error:
            log.error("A message in channel %s is not answered: %s", message.channel.id, error)
            return
        if not fresh or self._closing:
            return
        channel_id = message.channel.id
        busy = channel_id in self._queues
        self._queues.setdefault(channel_id, FairQueue()).add(message.author.id, message)
        if not busy:
            worker = asyncio.create_task(self._work(channel_id))
            self._workers.add(worker)
            worker.add_done_callback(self._workers.discard)

    async def drain(self, *, patience: float, grace: float) -> None:
        """Take no more messages; let turns under way end within `patience` seconds, then cancel
        them and give them `grace` seconds to mark their replies as incomplete."""
        self._closing = True
        for queue in self._queues.values():
            while queue:
                queue.take()
        if self._turns:
            await asyncio.wait(self._turns, timeout=patience)
        for turn in self._turns:
            turn.cancel()
        if self._turns:
            await asyncio.wait(self._turns, timeout=grace)

    def _is_addressed(self, message: discord.Message) -> bool:
        if message.author.bot or message.webhook_id or message.type not in _ASKS:
            return False
        if message.guild is None or mentions_in_body(message, self._me):
            return True
        if message.type is not discord.MessageType.reply or message.reference is None:
            return False
        answered = message.reference.cached_message or message.reference.resolved
        return isinstance(answered, discord.Message) and answered.author.id == self._me.id

    async def _work(self, channel_id: int) -> None:
        """Answer what waits in one channel, then go away."""
        queue = self._queues[channel_id]
        while queue:
            await asyncio.wait([self._start(queue.take())])
        del self._queues[channel_id]

    def _start(self, message: discord.Message) -> asyncio.Task[None]:
        def stop() -> None:
            turn.cancel()

        turn = asyncio.create_task(self._answer(message, on_lost=stop))
        self._turns.add(turn)
        turn.add_done_callback(self._turns.discard)
        return turn

    async def _answer(self, message: discord.Message, *, on_lost: Callable[[], None]) -> None:
        channel = message.channel
        if missing := lacking_to_speak(channel):
            await tell_apart(message, f"I lack the permission {' and '.join(missing)} there")
            return
        question = spoken(message, self._me)
        if not question.text:
            await _remark(message, _HINT if self._reads_all else _HINT_UNREADABLE)
            return
        guild_id = message.guild.id if message.guild else None
        request = TurnRequest(
            place=Place(guild_id=guild_id, channel_id=channel.id),
            member=question.author,
            message=question,
        )
        history = ChannelHistory(channel, self._me)
        async with Delivery(message, on_lost=on_lost, cadence=self._cadence) as delivery:
            try:
                await self._service.respond(request, history, delivery)
            except Exception:
                log.exception("A turn in channel %s failed.", channel.id)
                await delivery.give_up(BROKEN)


async def _remark(message: discord.Message, line: str) -> None:
    try:
        await message.reply(SUBTEXT + line)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("A remark in channel %s was not sent: %s", message.channel.id, error)
