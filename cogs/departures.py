"""Looks daily which servers the bot has left, and erases what is kept of those long gone.

Invariant: nothing is erased while there is no session with Discord, for then it is not known which
servers there are.
"""

import asyncio
import logging

import discord
from discord.ext import commands

from chat.privacy import Privacy
from data.errors import StoreError

log = logging.getLogger(__name__)

EVERY = 6 * 3600.0
"""Seconds between two looks: several a day, so that no day is missed for a lost connection."""


class Departures(commands.Cog):
    """See above."""

    def __init__(self, client: discord.Client, privacy: Privacy, *, every: float = EVERY) -> None:
        self._client = client
        self._privacy = privacy
        self._every = every
        self._looking: asyncio.Task[None] | None = None

    async def cog_load(self) -> None:
        """Begin to look, as soon as the servers are known."""
        self._looking = asyncio.create_task(self._look())

    async def cog_unload(self) -> None:
        """Stop."""
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look(self) -> None:
        while True:
            await self._client.wait_until_ready()
            try:
                await self._privacy.erase_departed({guild.id for guild in self._client.guilds})
            except StoreError as error:
                log.error("It cannot be seen which servers were left: %s", error)
            await asyncio.sleep(self._every)
