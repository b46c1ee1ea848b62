"""Shows a reply to one member alone, as the answer to an interaction.

Invariant: nobody else ever sees it. An interaction can be answered for fifteen minutes; what is
finished later goes to the member's direct messages.
"""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from types import TracebackType

import discord

from chat.reply import Reply
from cogs.aside import NETWORK_ERRORS
from cogs.permissions import Channel
from cogs.rendering import reply_in_messages
from cogs.splitting import split
from cogs.translations.saying import tr
from cogs.uploads import MOST_FILES, as_uploads, sendable

log = logging.getLogger(__name__)

CADENCE = 1.5
"""Seconds between two edits while the reply grows."""

ANSWERABLE_FOR = 14 * 60.0
"""Seconds after which Discord is not trusted to take an answer; it does for fifteen minutes."""

_NO_MENTIONS = discord.AllowedMentions.none()


class Whisper:
    """chat.ports.Presenter for an interaction that was deferred ephemerally in `channel`; an async
    context manager."""

    def __init__(
        self, interaction: discord.Interaction, channel: Channel, *, cadence: float = CADENCE
    ) -> None:
        self._interaction = interaction
        self._channel = channel
        self._cadence = cadence
        self._reply = Reply()
        self._news = asyncio.Event()

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
        self._pump.cancel()
        await asyncio.wait([self._pump])
        self._reply = reply
        contents = self._contents(final=True)
        files, left_out = sendable(reply.files, self._channel)
        contents += left_out
        uploaded = [
            as_uploads(files[begin : begin + MOST_FILES])
            for begin in range(0, len(files), MOST_FILES)
        ]
        try:
            if not self._is_over:
                await self._answer(contents)
                for uploads in uploaded:
                    await self._interaction.followup.send(files=uploads, ephemeral=True)
            else:
                late = tr(
                    self._interaction.locale,
                    "Your question took longer than I may answer it in its channel for you alone:",
                )
                for content in (late, *contents):
                    await self._interaction.user.send(content, allowed_mentions=_NO_MENTIONS)
                for uploads in uploaded:
                    await self._interaction.user.send(files=uploads)
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("A private answer was not shown: %s", error)
        return ()

    @property
    def _is_over(self) -> bool:
        age = discord.utils.utcnow() - self._interaction.created_at
        return age.total_seconds() > ANSWERABLE_FOR

    def _contents(self, *, final: bool) -> list[str]:
        now = asyncio.get_running_loop().time()
        pieces = list(split(self._reply.text)) if self._reply.text else []
        return reply_in_messages(
            self._reply, pieces, final=final, begun=True, now=now, locale=self._interaction.locale
        )

    async def _answer(self, contents: Sequence[str]) -> None:
        first, *others = contents
        await self._interaction.edit_original_response(content=first, allowed_mentions=_NO_MENTIONS)
        for content in others:
            await self._interaction.followup.send(
                content, ephemeral=True, allowed_mentions=_NO_MENTIONS
            )

    async def _show(self) -> None:
        """Show the beginning of the reply while it grows."""
        while not self._is_over:
            await self._news.wait()
            self._news.clear()
            if contents := self._contents(final=False):
                with contextlib.suppress(discord.HTTPException, *NETWORK_ERRORS):
                    await self._interaction.edit_original_response(
                        content=contents[0], allowed_mentions=_NO_MENTIONS
                    )
            await asyncio.sleep(self._cadence)
