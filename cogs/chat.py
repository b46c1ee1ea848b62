"""Answers members: decides which messages are meant for the bot, and runs one turn for each.

Invariant: a message is claimed before anything is done for it, a channel has one turn at a time,
and whoever was claimed is told how it ended, also when the bot is stopped while they wait. Other
bots, webhooks and the bot's own messages never start a turn.
"""

import asyncio
import contextlib
import logging
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import discord
from discord.ext import commands

from chat.admission import Admission
from chat.ending import RESTARTING, why_stopped
from chat.ports import ChannelMessage, History, Place, TurnRequest
from chat.privacy import Privacy
from chat.reply import Reply
from cogs.addressing import Addressing
from cogs.admitting import Gate
from cogs.approval import Approvals
from cogs.aside import NETWORK_ERRORS
from cogs.buttons import QUIET, Closed, Row, view_of
from cogs.delivery import CADENCE, Delivery
from cogs.history import says_something
from cogs.history import spoken as words_of
from cogs.ledger import Ledger
from cogs.logbook import Logbook
from cogs.operator import Operator
from cogs.pacing import Pace
from cogs.permissions import lack_of, lacking_to_speak
from cogs.places import place_of
from cogs.ports import Service
from cogs.queueing import TELL_AFTER, ChannelQueue
from cogs.rights import MemberRights
from cogs.sending import remark, tell_apart
from cogs.translations.saying import reads_in
from cogs.tree import BROKEN
from data.errors import StoreError

log = logging.getLogger(__name__)

_NO_DATABASE = "The bot's database has a problem. Its operator is told how."

_MOST_REMEMBERED = 1000
"""Members whose newest reply is known, a channel."""

_TO_NOTE = 0.5
"""Seconds that a disk has to note what became of the last replies when the bot is stopped."""


@dataclass(slots=True, kw_only=True)
class _Asked:
    """A question that is being attended to. `begun` once it is its turn in the channel. `edited` is
    the message as it was changed since, where the question `rereads` it."""

    task: asyncio.Task[None]
    delivery: Delivery
    place: Place
    rereads: bool
    begun: bool = False
    edited: discord.Message | None = None

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
        addressing: Addressing,
        ledger: Ledger,
        privacy: Privacy,
        reads_all: bool,
        logbook: Logbook,
        pace: Pace,
        cadence: float = CADENCE,
        tell_after: float = TELL_AFTER,
    ) -> None:
        self._me = me
        self._service = service
        self.gate = Gate(
            me, admission, operator, addressing, privacy, reads_all=reads_all, logbook=logbook
        )
        self._approvals = approvals
        self.addressing = addressing
        self._ledger = ledger
        self._cadence = cadence
        self._pace = pace
        self._tell_after = tell_after
        self._queues: dict[int, ChannelQueue] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked: dict[int, _Asked] = {}
        self._elsewhere: dict[int, asyncio.Task[None]] = {}
        self._taken_up: set[int] = set()
        self._newest: dict[tuple[int, int], Closed] = {}
        self._closing = False

    @commands.Cog.listener()
    async def on_message(self, message: discord.Message) -> None:
        """Queue a message that is meant for the bot."""
        is_meant = False
        try:
            is_meant = await self.addressing.takes(message)
            if not is_meant or not await self._service.claim(message.id):
                return
        except StoreError as error:
            log.error("A message in channel %s is not answered: %s", message.channel.id, error)
            if is_meant:
                self._start(remark(message, _NO_DATABASE))
            return
        self._start(remark(message, RESTARTING) if self._closing else self._receive(message))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @property
    def is_closing(self) -> bool:
        """Whether the bot is being stopped."""
        return self._closing

    def is_answering(self, turn_id: int) -> bool:
        """Whether that turn is under way, or waits for its turn."""
        return turn_id in self._asked or turn_id in self._taken_up

    def stop(self, turn_id: int) -> bool:
        """End a turn; what it has said stays. False if it is not under way."""
        asked = self._asked.get(turn_id)
        task = asked.task if asked else self._elsewhere.get(turn_id)
        return task is not None and task.cancel()

    def answer_again(self, question: discord.Message, adopted: Sequence[discord.Message]) -> bool:
        """Answer `question`, which the gate let through, anew, in the messages of its earlier
        answer. False if the bot is being stopped or that answer is under way."""
        if self._closing or self.is_answering(question.id):
            return False
        self._taken_up.add(question.id)
        task = self._start(self._attend(question, adopted=adopted))
        task.add_done_callback(lambda _: self._taken_up.discard(question.id))
        return True

    def go_on(
        self, question: discord.Message, spoken: ChannelMessage, under: discord.Message
    ) -> bool:
        """Answer `spoken`, which the gate let through, and which asks for the rest of the answer to
        `question` that breaks off in `under`. False if the bot is being stopped."""
        if self._closing:
            return False
        self._start(self._attend(question, spoken=spoken, under=under))
        return True

    def answer_about(self, message: discord.Message, spoken: ChannelMessage) -> bool:
        """Answer `spoken`, somebody's question about `message` that the gate let through, below
        that. False if the bot is being stopped."""
        if self._closing:
            return False
        self._start(self._attend(message, spoken=spoken))
        return True

    def answer_elsewhere(self, turn_id: int, answering: Coroutine[Any, Any, None]) -> bool:
        """Let an answer that no channel shows run to its end, as `drain` and `stop` do with the
        others. False if the bot is being stopped."""
        if self._closing:
            answering.close()
            return False
        task = self._elsewhere[turn_id] = self._start(answering)
        task.add_done_callback(lambda _: self._elsewhere.pop(turn_id, None))
        return True

    @commands.Cog.listener()
    async def on_raw_message_delete(self, payload: discord.RawMessageDeleteEvent) -> None:
        """Forget a question that was deleted while it waited."""
        self._forget([payload.message_id])

    @commands.Cog.listener()
    async def on_raw_bulk_message_delete(self, payload: discord.RawBulkMessageDeleteEvent) -> None:
        """The same for many at once."""
        self._forget(payload.message_ids)

    @commands.Cog.listener()
    async def on_raw_message_edit(self, payload: discord.RawMessageUpdateEvent) -> None:
        """Let a question that waits be read as it stands now."""
        asked = self._asked.get(payload.message_id)
        if asked is not None and asked.rereads:
            asked.edited = payload.message

    async def drain(self, *, patience: float, grace: float) -> None:
        """Take no more messages and tell those who wait in line that they will not be answered;
        let turns under way end within `patience` seconds, then cancel them and give them `grace`
        seconds to mark their replies as incomplete."""
        self._closing = True
        self._newest.clear()
        cancelled = {asked.task for asked in self._asked.values() if asked.stands_in_line}
        for task in cancelled:
            task.cancel(RESTARTING)
        until = asyncio.get_running_loop().time() + patience + grace
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        for task in self._tasks - cancelled:
            task.cancel(RESTARTING)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until + _TO_NOTE):
                await self._ledger.settle()

    def _forget(self, message_ids: Iterable[int]) -> None:
        """Stop waiting for an answer whose question, or place in line, was deleted. Once the
        model has begun, a deleted question is still answered, and Delivery sees to its own."""
        waiting = {key: asked for key, asked in self._asked.items() if asked.waits}
        for message_id in message_ids:
            for key, asked in waiting.items():
                if key == message_id or asked.delivery.shows_on(message_id):
                    asked.delivery.withdraw()
                    asked.task.cancel()

    async def _receive(self, message: discord.Message) -> None:
        """Attend to a message, or tell its author why not."""
        refused = await self.gate.refusal(message)
        if refused is None:
            try:
                question = words_of(message, self._me)
                self._interrupt(message)
                message = await self.addressing.place(message, question.text)
            except StoreError as error:
                log.error("A message in channel %s is not answered: %s", message.channel.id, error)
                return
            await self._attend(message)
        elif refused.told == "below":
            await remark(message, refused.line)
        elif refused.told == "apart":
            await tell_apart(message, lack_of(lacking_to_speak(message.channel)))

    def _interrupt(self, message: discord.Message) -> None:
        """End the answer to the same member that is under way here, where it yields."""
        for asked in self._asked.values():
            delivery = asked.delivery
            is_theirs = delivery.answered.member_id == message.author.id
            is_here = asked.begun and asked.place.channel_id == message.channel.id
            if is_theirs and is_here and delivery.reply.style.yields:
                asked.task.cancel()

    async def _attend(
        self,
        message: discord.Message,
        *,
        spoken: ChannelMessage | None = None,
        under: discord.Message | None = None,
        adopted: Sequence[discord.Message] = (),
    ) -> None:
        """Answer `message`, or `spoken`, which is said about it."""
        question = spoken or words_of(message, self._me)
        channel = message.channel
        guild_id = message.guild.id if message.guild else None
        request = TurnRequest(
            place=place_of(guild_id, channel, channel.id),
            member=question.author,
            message=question,
            approver=self._approvals.approver(message),
            rights=MemberRights(message, question.author.id),
        )
        task = asyncio.current_task()
        if task is None:
            raise AssertionError("a coroutine runs in a task")
        async with Delivery(
            message,
            on_lost=task.cancel,
            asker_id=question.author.id,
            ledger=self._ledger,
            pace=self._pace,
            cadence=self._cadence,
            adopted=adopted,
            under=under,
            turn_id=question.id,
        ) as delivery:
            asked = _Asked(task=task, delivery=delivery, place=request.place, rereads=not spoken)
            self._asked[question.id] = asked
            try:
                history = await self.addressing.history(under or message, included=bool(spoken))
                await self._answer(asked, request, history)
            except asyncio.CancelledError as stop:
                if not asked.begun:
                    await delivery.give_up(why_stopped(stop))
                raise
            except Exception:
                log.exception("A turn in channel %s failed.", channel.id)
                await delivery.give_up(BROKEN)
            finally:
                del self._asked[question.id]
                self._quieten_earlier(request, delivery)

    def _quieten_earlier(self, request: TurnRequest, delivery: Delivery) -> None:
        """Leave under the reply before this one what still makes sense there."""
        closed = delivery.closed
        if closed is None or self._closing:
            return
        key = request.place.channel_id, request.member.id
        earlier = self._newest.pop(key, None)
        self._newest[key] = closed
        while len(self._newest) > _MOST_REMEMBERED:
            del self._newest[next(iter(self._newest))]
        if earlier is not None and earlier.message.id != closed.message.id:
            self._start(_quieten(earlier))

    async def _answer(self, asked: _Asked, request: TurnRequest, history: History) -> None:
        """Wait for the channel, then run the turn."""
        channel_id = request.place.channel_id
        queue = self._queues.setdefault(channel_id, ChannelQueue(tell_after=self._tell_after))

        def show(place: str) -> None:
            asked.delivery.changed(Reply(waits_for=place))

        try:
            async with queue.turn(request.member.id, show):
                asked.begun = True
                if asked.edited is not None:
                    request = self._with_edit(request, asked.edited)
                await self._service.respond(request, history, asked.delivery)
        finally:
            if not queue:
                self._queues.pop(channel_id, None)

    def _with_edit(self, request: TurnRequest, edited: discord.Message) -> TurnRequest:
        """The request with the question as it was edited, unless nothing is left of that."""
        question = words_of(edited, self._me)
        return replace(request, message=question) if says_something(question) else request


async def _quieten(reply: Closed) -> None:
    kept: Row = tuple(button for button in reply.row if button in QUIET)
    if kept == reply.row:
        return
    try:
        # Said also where only buttons change: words that name a role are read again.
        await reply.message.edit(
            view=view_of(kept, reply.answered, reads_in(reply.message)),
            allowed_mentions=discord.AllowedMentions.none(),
        )
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.info("An earlier reply keeps its buttons: %s", error)
