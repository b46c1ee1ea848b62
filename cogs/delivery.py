"""Shows one reply in a channel while it grows.

Invariant: one task talks to Discord, one request at a time, always with the newest text; the
turn never waits for it until `finish`. Messages once full are not touched again, each message
is created under a nonce of its own, and the last edit holds the complete text and the buttons that
stay.

A task of its own because discord.py sleeps inside the edit that empties a rate limit bucket.
"""

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from types import TracebackType

import discord
from discord import ui

from chat.reply import Reply
from cogs.aside import NETWORK_ERRORS
from cogs.buttons import NO_ROW, WRITING, Answered, Button, Closed, Row, view_of
from cogs.laying_out import Layout
from cogs.ledger import Ledger
from cogs.pacing import Pace
from cogs.permissions import reason_of_refusal
from cogs.rendering import without_remarks
from cogs.sending import passes, refuses_reference, tell_apart
from cogs.translations.saying import reads_in
from cogs.uploads import MOST_FILES, as_uploads
from data.unfinished import HalfWritten, OpenQuestion
from tools.registry import ToolFile

log = logging.getLogger(__name__)

CADENCE = 1.25
"""Seconds that the text a member sees may be behind: four edits in Discord's usual window of five.
"""

_SHORTEST = 0.8
"""Of the cadence, between two requests where they take long: five edits in that window."""

_FIRST_AFTER = 0.4
"""Seconds in which the first words gather before they are posted."""

_TYPING_EVERY = 8.0
"""Seconds. The indicator lasts ten, and ends when a message appears."""

_TICK = 5.0
"""Seconds after which the time that a running tool has taken is shown anew."""

_ATTEMPTS = 5
_LONGEST_PAUSE = 8.0

_UNKNOWN_CHANNEL = 10003
_UNKNOWN_MESSAGE = 10008

_NO_MENTIONS = discord.AllowedMentions.none()


@dataclass(frozen=True, slots=True)
class _Shown:
    """What stands in the channel. `content` is None where that is not certain."""

    content: str | None
    row: Row


class Delivery:
    """chat.ports.Presenter for the answer below `question`, to the member `asker_id`; an async
    context manager.

    `on_lost` is called at most once, when the answer can no longer be shown, deleted by someone
    or refused by Discord, while the turn still runs: the turn has no reader left. The messages
    under way are noted in `ledger`; replies share `pace`. `adopted` are messages of an earlier one,
    whose words stay until there are others. `under` is what this one goes on from, in `turn_id`.
    """

    def __init__(
        self,
        question: discord.Message,
        *,
        on_lost: Callable[[], object],
        asker_id: int,
        ledger: Ledger,
        pace: Pace,
        cadence: float = CADENCE,
        adopted: Sequence[discord.Message] = (),
        under: discord.Message | None = None,
        turn_id: int | None = None,
    ) -> None:
        self._question = question
        self._on_lost = on_lost
        self._cadence = cadence
        self._ledger = ledger
        self._pace = pace
        self.answered = Answered(
            member_id=asker_id, asked_id=question.id, turn_id=turn_id or question.id
        )
        self._open = OpenQuestion(
            guild_id=question.guild.id if question.guild else 0,
            channel_id=question.channel.id,
            member_id=asker_id,
            asked_message_id=question.id,
            turn_id=self.answered.turn_id,
        )
        self._reference: discord.MessageReference | None = discord.MessageReference.from_message(
            under or question, fail_if_not_exists=False
        )
        self._key, self._created = secrets.token_hex(8), 0
        self._layout = Layout(question.channel, reads_in(question))
        self._sent: list[discord.Message] = list(adopted)
        self._shown = [_Shown(message.content, NO_ROW) for message in adopted]
        if adopted:
            self._shown[-1] = _Shown(adopted[-1].content, WRITING)
        before = (without_remarks(message.content) for message in adopted)
        self._before = [words for words in before if words]
        self._reply = Reply()
        self._wake, self._final = asyncio.Event(), asyncio.Event()
        self._due = 0.0
        self._is_split = False  # a message has just become full, and the next is to follow at once
        self._failures = 0
        self._in_doubt = False  # whether the next message may exist already
        self._is_lost = self._is_withdrawn = self._is_incomplete = False
        self._files: list[ToolFile] = []
        self._attached: list[discord.Message] = []

    @property
    def reply(self) -> Reply:
        """What it shows, or is about to."""
        return self._reply

    @property
    def closed(self) -> Closed | None:
        """How it ended; None if nothing of it is there."""
        if self._is_lost or not self._sent:
            return None
        return Closed(self._sent[-1], self._shown[-1].row, self.answered)

    def shows_on(self, message_id: int) -> bool:
        """Whether that message is part of the answer."""
        return any(message.id == message_id for message in self._sent)

    def withdraw(self) -> None:
        """Post nothing where nothing is posted yet: the question is gone."""
        self._is_withdrawn = True

    async def __aenter__(self) -> "Delivery":
        self._ledger.asked(self._open)
        for message in self._sent:
            self._note(message)
        self._typing = asyncio.create_task(self._type())
        self._pump = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._typing.cancel()
        self._pump.cancel()
        await asyncio.wait([self._typing, self._pump])
        if not self._is_incomplete:
            self._ledger.ended([message.id for message in self._sent])
            self._ledger.answered(self._open.asked_message_id)

    def changed(self, reply: Reply) -> None:
        """See chat.ports.Presenter."""
        self._reply = reply
        if not self._wake.is_set():
            self._wake.set()
            if not self._sent:
                self._due = max(self._due, asyncio.get_running_loop().time() + _FIRST_AFTER)

    async def finish(self, reply: Reply) -> Sequence[int]:
        """See chat.ports.Presenter. Messages that could not be created after several attempts
        are missing among the ids, and the log says so."""
        self._reply, self._files = self._layout.ended(reply)
        self._failures = 0
        self._typing.cancel()
        self._final.set()
        self._wake.set()
        await self._pump
        return [message.id for message in (*self._sent, *self._attached)]

    async def give_up(self, notice: str) -> None:
        """Show what there is, with `notice`: the turn broke and will not finish."""
        notices = [*self._reply.notices, notice]
        await self.finish(replace(self._reply, state="failed", notices=notices))

    async def _type(self) -> None:
        while not self._sent:  # edits would not end the indicator
            try:
                if not self._pace.is_crowded:  # else its request would keep words back
                    await self._question.channel.typing()
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                log.debug("The typing indicator failed: %s", error)
            await asyncio.sleep(_TYPING_EVERY)

    async def _run(self) -> None:
        clock = asyncio.get_running_loop()
        while not self._is_lost:
            await self._news()
            if (wait := self._due - clock.time()) > 0:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._final.wait(), wait)
            await self._pace.turn(ahead=self._is_split)  # the text grows meanwhile
            self._wake.clear()
            final, started = self._final.is_set(), clock.time()
            try:
                more = await self._step(final=final)
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                more = await self._failed(error)
            else:
                self._failures = 0
            if more:
                pause = 0.0 if self._is_split else self._pause(clock.time() - started)
                self._due = max(self._due, started + pause)
                self._wake.set()
            elif final:
                return

    def _pause(self, took: float) -> float:
        """Seconds from the beginning of a request to the next. What is written meanwhile is seen
        when the next one is through, so slow requests follow each other faster."""
        return max(_SHORTEST * self._cadence, self._cadence - took)

    async def _news(self) -> None:
        """Wait until there is more to show; while a tool runs, its time is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_TICK if self._reply.running else None):
                await self._wake.wait()

    async def _step(self, *, final: bool) -> bool:
        """Make the one request that is due. False if what is shown is what should be."""
        wanted, self._is_split = self._wanted(final=final), False
        for index, shown in enumerate(wanted):
            if index == len(self._sent):
                if self._is_withdrawn:
                    return False
                await self._post(shown)
                return True
            if shown != self._shown[index]:
                await self._edit(index, shown)
                self._is_split = index + 1 < len(wanted)
                return True
        if len(self._sent) > len(wanted) > 0:
            with contextlib.suppress(discord.NotFound):
                await self._sent[-1].delete()
            self._ledger.ended([self._sent[-1].id])
            del self._sent[-1], self._shown[-1]
            return True
        return final and await self._attach()

    def _wanted(self, *, final: bool) -> list[_Shown]:
        """What is to stand in the channel now: words, and buttons under the last of them."""
        contents = self._layout.contents(
            self._reply, final=final, begun=bool(self._sent), before=self._before
        )
        rows = [NO_ROW] * len(contents)
        if contents:
            rows[-1] = self._closing_row() if final else WRITING
        return [_Shown(content, row) for content, row in zip(contents, rows, strict=True)]

    def _closing_row(self) -> Row:
        """The buttons that stay. Of direct messages nothing is recorded that could be shown."""
        reply, row = self._reply, list[Button]()
        if self._question.guild is not None:
            if any(run.result is not None for run in reply.runs):
                row.append("details")
            if reply.has_thought and reply.style.shows_thinking:
                row.append("thinking")
        if not self.answered.goes_on:
            row.append("again")
        if reply.is_cut or (self.answered.goes_on and not reply.text):
            row.append("on")
        return (*row, "delete")

    async def _edit(self, index: int, shown: _Shown) -> None:
        await self._sent[index].edit(
            content=shown.content,
            view=view_of(shown.row, self.answered, reads_in(self._question)),
            allowed_mentions=_NO_MENTIONS,
        )
        self._shown[index] = shown

    async def _attach(self) -> bool:
        """Send the next files, which come after all words. False if all are there."""
        if not self._files or self._is_withdrawn:
            return False
        batch, rest = self._files[:MOST_FILES], self._files[MOST_FILES:]
        nonce = f"{self._key}-f{len(self._attached)}"
        self._attached.append(await self._create("", nonce=nonce, files=batch))
        self._files = rest
        return bool(rest)

    async def _post(self, shown: _Shown) -> None:
        """Create the next message. After a lost answer Discord finds the first attempt by the
        nonce and returns that, so its content is put right by one more edit."""
        in_doubt, self._in_doubt = self._in_doubt, True
        self._typing.cancel()  # first: what arrives behind the message would show for ten seconds
        message = await self._create(
            shown.content or "",
            nonce=f"{self._key}-{self._created}",
            view=view_of(shown.row, self.answered, reads_in(self._question)),
        )
        self._in_doubt = False
        self._created += 1
        self._sent.append(message)
        self._shown.append(replace(shown, content=None) if in_doubt else shown)
        self._note(message)

    def _note(self, message: discord.Message) -> None:
        self._ledger.began(HalfWritten(message_id=message.id, **asdict(self._open)))

    async def _create(
        self,
        content: str,
        *,
        nonce: str,
        files: Sequence[ToolFile] = (),
        view: ui.View | None = None,
    ) -> discord.Message:
        channel, reference = self._question.channel, self._reference
        if reference is not None and not self._sent:
            try:
                return await channel.send(
                    content,
                    nonce=nonce,
                    allowed_mentions=_NO_MENTIONS,
                    reference=reference,
                    files=as_uploads(files),
                    view=view or discord.utils.MISSING,
                )
            except discord.HTTPException as error:
                if not refuses_reference(error):
                    raise
                self._reference = None
        return await channel.send(
            content,
            nonce=nonce,
            allowed_mentions=_NO_MENTIONS,
            files=as_uploads(files),
            view=view or discord.utils.MISSING,
        )

    async def _failed(self, error: Exception) -> bool:
        """Deal with a failed request. True if it is worth another attempt."""
        final = self._final.is_set()
        if isinstance(error, discord.HTTPException) and not passes(error):
            self._is_lost = True
            if not final:
                self._on_lost()
            if error.code in (_UNKNOWN_CHANNEL, _UNKNOWN_MESSAGE):
                log.info("A reply was deleted while it was written; the turn ends.")
            else:
                channel = self._question.channel
                await tell_apart(self._question, reason_of_refusal(error, channel))
            return False
        self._failures += 1
        if final and self._failures >= _ATTEMPTS:
            self._is_incomplete = True
            log.error("A reply is incomplete: Discord failed %d times: %s", _ATTEMPTS, error)
            return False
        log.warning("Discord failed while a reply was shown; it is tried again: %s", error)
        pause = min(2.0 ** (self._failures - 1), _LONGEST_PAUSE)
        if final:
            await asyncio.sleep(pause)
        self._due = asyncio.get_running_loop().time() + pause
        return True
