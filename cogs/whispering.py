"""Shows a reply to one member alone, as the answer to an interaction.

Invariant: nobody else ever sees it. An interaction can be answered for fifteen minutes; what is
finished later goes to the member's direct messages. However it ends, "thinking…" does not stay.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType

import discord

from chat.reply import Reply
from cogs.aside import NETWORK_ERRORS
from cogs.buttons import NO_ROW, WRITING, Answered, Row, view_of
from cogs.laying_out import Layout
from cogs.permissions import Channel
from cogs.sending import PAUSES, passes, send_once
from cogs.translations.saying import tr
from cogs.uploads import MOST_FILES, as_uploads
from tools.registry import ToolFile

log = logging.getLogger(__name__)

CADENCE = 1.0
"""Seconds between two requests while the reply grows: Discord takes five in two seconds."""

ANSWERABLE_FOR = 14 * 60.0
"""Seconds after which Discord is not trusted to take an answer; it does for fifteen minutes."""

_NO_MENTIONS = discord.AllowedMentions.none()


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a message shows."""

    content: str
    row: Row


class Whisper:
    """chat.ports.Presenter for an interaction that was deferred ephemerally in `channel`, and in
    which turn `answered` is shown; an async context manager."""

    def __init__(
        self,
        interaction: discord.Interaction,
        channel: Channel,
        answered: Answered,
        *,
        cadence: float = CADENCE,
    ) -> None:
        self._interaction = interaction
        self._answered = answered
        self._cadence = cadence
        self._layout = Layout(channel, interaction.locale)
        self._reply = Reply()
        self._news = asyncio.Event()
        self._others: list[discord.WebhookMessage] = []
        self._shown: list[_Shown] = []
        self._final = asyncio.Event()

    async def __aenter__(self) -> "Whisper":
        self._pump = asyncio.create_task(self._show())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._pump.cancel()
        await asyncio.wait([self._pump])

    def changed(self, reply: Reply) -> None:
        """See chat.ports.Presenter."""
        self._reply = reply
        self._news.set()

    async def finish(self, reply: Reply) -> Sequence[int]:
        """See chat.ports.Presenter. There are no messages that a channel would show."""
        # What is under way ends first: cut off, it might be there and not be known of.
        self._final.set()
        self._news.set()
        await self._pump
        self._reply, files = self._layout.ended(reply)
        batches = [files[begin : begin + MOST_FILES] for begin in range(0, len(files), MOST_FILES)]
        try:
            if self._is_over:
                await self._answer_late(batches)
            else:
                await self._answer(batches)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("A private answer was not shown: %s", error)
        return ()

    async def give_up(self, notice: str) -> None:
        """Show what there is, with `notice`, unless that was finished: the turn broke."""
        if not self._final.is_set():
            notices = [*self._reply.notices, notice]
            await self.finish(replace(self._reply, state="failed", notices=notices))

    @property
    def _is_over(self) -> bool:
        age = discord.utils.utcnow() - self._interaction.created_at
        return age.total_seconds() > ANSWERABLE_FOR

    async def _show(self) -> None:
        """Show the reply while it grows, unless Discord refuses that for good."""
        clock = asyncio.get_running_loop()
        while not (self._is_over or self._final.is_set()):
            await self._news.wait()
            self._news.clear()
            began, more = clock.time(), True
            while more and not self._final.is_set():
                try:
                    more = await self._step(final=False)
                except (discord.HTTPException, *NETWORK_ERRORS) as error:
                    log.info("A private answer is shown later: %s", error)
                    if not passes(error):
                        return
                    self._news.set()
                    break
            with contextlib.suppress(TimeoutError):
                left = began + self._cadence - clock.time()
                await asyncio.wait_for(self._final.wait(), max(0.0, left))

    async def _step(self, *, final: bool) -> bool:
        """Make the next request that is due. False if what is shown is what should be."""
        wanted = self._wanted(final=final)
        for index, shown in enumerate(wanted):
            if index < len(self._shown) and self._shown[index] == shown:
                continue
            view = view_of(shown.row, self._answered, self._interaction.locale)
            if index == 0:
                await self._interaction.edit_original_response(
                    content=shown.content, view=view, allowed_mentions=_NO_MENTIONS
                )
            elif index <= len(self._others):
                await self._others[index - 1].edit(
                    content=shown.content, view=view, allowed_mentions=_NO_MENTIONS
                )
            else:
                sent = await self._interaction.followup.send(
                    shown.content,
                    view=view or discord.utils.MISSING,
                    ephemeral=True,
                    wait=True,
                    allowed_mentions=_NO_MENTIONS,
                )
                self._others.append(sent)
            self._shown[index : index + 1] = [shown]
            return True
        if len(self._others) >= len(wanted) > 0:
            await self._others[-1].delete()
            del self._others[-1], self._shown[len(self._others) + 1 :]
            return True
        return False

    def _wanted(self, *, final: bool) -> list[_Shown]:
        contents = self._layout.contents(self._reply, final=final, begun=True)
        rows = [NO_ROW] * len(contents)
        if contents and not final:
            rows[-1] = WRITING
        return [_Shown(content, row) for content, row in zip(contents, rows, strict=True)]

    async def _answer(self, batches: Sequence[Sequence[ToolFile]]) -> None:
        pauses = iter(PAUSES)
        more = True
        while more:
            try:
                more = await self._step(final=True)
            except (discord.HTTPException, *NETWORK_ERRORS) as error:
                if not passes(error) or (pause := next(pauses, None)) is None:
                    raise
                await asyncio.sleep(pause)
        for batch in batches:
            await self._interaction.followup.send(files=as_uploads(batch), ephemeral=True)

    async def _answer_late(self, batches: Sequence[Sequence[ToolFile]]) -> None:
        late = tr(
            self._interaction.locale,
            "Your question took longer than I may answer it in its channel for you alone:",
        )
        for shown in (_Shown(late, NO_ROW), *self._wanted(final=True)):
            await send_once(self._interaction.user, shown.content)
        for batch in batches:
            await send_once(self._interaction.user, files=batch)
