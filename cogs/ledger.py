"""Notes which replies are being written, without keeping those waiting who write them.

Invariant: notes reach the disk in the order in which they were made, and trouble with the disk
never reaches a reply.
"""

import asyncio
import logging
from collections.abc import Coroutine, Sequence
from typing import Any

from data.errors import StoreError
from data.unfinished import HalfWritten, OpenQuestion, Unfinished

log = logging.getLogger(__name__)


class Ledger:
    """The list of replies under way, written behind."""

    def __init__(self, kept: Unfinished) -> None:
        self._kept = kept
        self._latest: asyncio.Task[None] | None = None

    def asked(self, question: OpenQuestion) -> None:
        """See data.unfinished.Unfinished.asked."""
        self._then(self._kept.asked(question))

    def answered(self, asked_message_id: int) -> None:
        """See data.unfinished.Unfinished.answered."""
        self._then(self._kept.answered(asked_message_id))

    def began(self, message: HalfWritten) -> None:
        """See data.unfinished.Unfinished.begun."""
        self._then(self._kept.begun(message))

    def ended(self, message_ids: Sequence[int]) -> None:
        """See data.unfinished.Unfinished.ended."""
        if message_ids:
            self._then(self._kept.ended(message_ids))

    async def settle(self) -> None:
        """Wait until all that was noted is on the disk; giving up the wait gives up no note."""
        if self._latest is not None:
            await asyncio.wait([self._latest])

    def _then(self, note: Coroutine[Any, Any, None]) -> None:
        self._latest = asyncio.create_task(_after(self._latest, note))


async def _after(earlier: asyncio.Task[None] | None, note: Coroutine[Any, Any, None]) -> None:
    if earlier is not None:
        await asyncio.wait([earlier])  # what became of it is its own affair
    try:
        await note
    except StoreError as error:
        log.error("Which reply is being written was not noted: %s", error)
