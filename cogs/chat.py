"""Answers members: decides which messages are meant for the bot, and runs one turn for each.

Invariant: a message is claimed before anything is done for it, a channel has one turn at a time,
and whoever was claimed is told how it ended, also when the bot is stopped while they wait. Other
bots, webhooks and the bot's own messages never start a turn.
"""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass

import discord
from discord.ext import commands

from chat.admission import DMS_CLOSED, Admission
from chat.ports import Place, TurnRequest
from chat.reply import Reply
from chat.service import RESTARTING, why_stopped
from cogs.approval import Approvals
from cogs.aside import NETWORK_ERRORS, tell_apart
from cogs.delivery import CADENCE, Delivery
from cogs.history import ChannelHistory, says_something, spoken
from cogs.in_words import mentions_in_body
from cogs.operator import Operator
from cogs.permissions import lacking_to_speak, within
from cogs.ports import Service
from cogs.queueing import TELL_AFTER, ChannelQueue
from cogs.rendering import SUBTEXT
from cogs.rights import MemberRights
from cogs.tree import BROKEN
from data.errors import StoreError

log = logging.getLogger(__name__)

_ASKS = (discord.MessageType.default, discord.MessageType.reply)
_HINT = "Write your question in the same message, and I will answer here."
_HINT_UNREADABLE = "I can only read messages that mention me: please mention me in your reply."


@dataclass(slots=True, kw_only=True)
class _Asked:
    """A question that is being attended to. `begun` once it is its turn in the channel."""

    task: asyncio.Task[None]
    delivery: Delivery
    begun: bool = False

    @property
    def waits(self) -> bool:
        """Whether the model has not begun with it."""
        return self.delivery.reply.state == "waiting"

    @property
    def stands_in_line(self) -> bool:
        """Whether it waits for others' turns to end."""
        return not self.begun or (self.waits and bool(self.delivery.reply.waits_for))


class Chat(commands.Cog):
    """The listener behind every conversation."""

    def __init__(
        self,
        me: discord.abc.User,
        service: Service,
        admission: Admission,
        operator: Operator,
        approvals: Approvals,
        *,
        reads_all: bool,
        cadence: float = CADENCE,
        tell_after: float = TELL_AFTER,
    ) -> None:
        self._me = me
        self._service = service
        self._admission = admission
        self._operator = operator
        self._approvals = approvals
        self._reads_all = reads_all
        self._cadence = cadence
        self._tell_after = tell_after
        self._queues: dict[int, ChannelQueue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[int, _Asked] = {}
        self._closing = False

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Queue a message that is meant for the bot."""
        if not self._is_addressed(message):
            return
        try:
            fresh = await self._service.claim(message.id)
        except StoreError as error:
            log.error("A message in channel %s is not answered: %s", message.channel.id, error)
            return
        if not fresh:
            return
        attending = _remark(message, RESTARTING) if self._closing else self._receive(message)
        task = asyncio.create_task(attending)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Forget a question that was deleted while it waited."""
        self._forget([payload.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """The same for many at once."""
        self._forget(payload.message_ids)

    async def drain(self, *, patience: float, grace: float) -> None:
        """Take no more messages and tell those who wait in line that they will not be answered;
        let turns under way end within `patience` seconds, then cancel them and give them `grace`
        seconds to mark their replies as incomplete."""
        self._closing = True
        cancelled = {asked.task for asked in self._asked.values() if asked.stands_in_line}
        for task in cancelled:
            task.cancel(RESTARTING)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        for task in self._tasks - cancelled:
            task.cancel(RESTARTING)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)

    def _forget(self, message_ids: Iterable[int]) -> None:
        """Stop waiting for an answer whose question, or place in line, was deleted. Once the
        model has begun, a deleted question is still answered, and Delivery sees to its own."""
        waiting = {key: asked for key, asked in self._asked.items() if asked.waits}
        for message_id in message_ids:
            for key, asked in waiting.items():
                if key == message_id or asked.delivery.shows_on(message_id):
                    asked.delivery.withdraw()
                    asked.task.cancel()

    def _is_addressed(self, message: discord.Message) -> bool:
        if message.author.bot or message.webhook_id or message.type not in _ASKS:
            return False
        if message.guild is None or mentions_in_body(message, self._me):
            return True
        if message.type is not discord.MessageType.reply or message.reference is None:
            return False
        answered = message.reference.cached_message or message.reference.resolved
        return isinstance(answered, discord.Message) and answered.author.id == self._me.id

    async def _receive(self, message: discord.Message) -> None:
        """Attend to a message, unless it is not the bot's to answer where it stands."""
        try:
            if message.guild is None:
                if not await self._admission.takes_dms_of(message.author.id):
                    await _remark(message, DMS_CLOSED)
                    return
            elif not await self._admission.takes_channel(message.guild.id, within(message.channel)):
                return  # admins chose that it stays silent there
            else:
                # The first message may come before the event that would have it judged.
                await self._operator.judge(message.guild)
        except StoreError as error:
            log.error("A message in channel %s is not answered: %s", message.channel.id, error)
            return
        await self._attend(message)

    async def _attend(self, message: discord.Message) -> None:
        channel = message.channel
        if missing := lacking_to_speak(channel):
            await tell_apart(message, f"I lack the permission {' and '.join(missing)} there")
            return
        question = spoken(message, self._me)
        if not says_something(question):
            await _remark(message, _HINT if self._reads_all else _HINT_UNREADABLE)
            return
        guild_id = message.guild.id if message.guild else None
        request = TurnRequest(
            place=Place(guild_id=guild_id, channel_id=channel.id),
            member=question.author,
            message=question,
            approver=self._approvals.approver(message),
            rights=MemberRights(message),
        )
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("a coroutine runs in a task")
        async with Delivery(message, on_lost=task.cancel, cadence=self._cadence) as delivery:
            asked = self._asked[message.id] = _Asked(task=task, delivery=delivery)
            try:
                await self._answer(asked, request, ChannelHistory(channel, self._me))
            except asyncio.CancelledError as stop:
                if not asked.begun:
                    await delivery.give_up(why_stopped(stop))
                raise
            except Exception:
                log.exception("A turn in channel %s failed.", channel.id)
                await delivery.give_up(BROKEN)
            finally:
                del self._asked[message.id]

    async def _answer(self, asked: _Asked, request: TurnRequest, history: ChannelHistory) -> None:
        """Wait for the channel, then run the turn."""
        channel_id = request.place.channel_id
        queue = self._queues.setdefault(channel_id, ChannelQueue(tell_after=self._tell_after))

        def show(place: str) -> None:
            asked.delivery.changed(Reply(waits_for=place))

        try:
            async with queue.turn(request.member.id, show):
                asked.begun = True
                await self._service.respond(request, history, asked.delivery)
        finally:
            if not queue:
                self._queues.pop(channel_id, None)


async def _remark(message: discord.Message, line: str) -> None:
    try:
        await message.reply(SUBTEXT + line)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("A remark in channel %s was not sent: %s", message.channel.id, error)
