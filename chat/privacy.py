"""What members decide about their own data, and admins about their server's.

Invariant: everything is asked for by one member of one guild (None: direct messages) and touches
nobody else's data. An opt-out holds from the next prompt on, until the member takes it back.
"""

import json
import logging
from collections.abc import Collection
from datetime import UTC, date, datetime

from data.departures import GRACE
from data.facts import Facts
from data.store import Store

log = logging.getLogger(__name__)


class Privacy:
    """The store as members may use it for themselves."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def facts(self) -> Facts:
        """What members have had remembered about themselves."""
        return self._store.facts

    async def export(self, guild_id: int | None, member_id: int) -> str:
        """All that is kept of a member there, as JSON for people to read."""
        exported = await self._store.export_member(guild_id or 0, member_id)
        return json.dumps(exported, ensure_ascii=False, indent=2)

    async def erase(self, guild_id: int | None, member_id: int) -> None:
        """Remove all that is kept of a member there, but for an opt-out."""
        await self._store.erase_member(guild_id or 0, member_id)
        log.info("The data of a member of guild %s was erased at their wish.", guild_id)

    async def erase_guild(self, guild_id: int) -> None:
        """Remove all that is kept of a guild and its members, but for their opt-outs."""
        await self._store.erase_guild(guild_id)
        log.info("The data of guild %s was erased at its admins' wish.", guild_id)

    async def erase_departed(self, present: Collection[int], *, today: date | None = None) -> None:
        """Remove what is kept of guilds that the bot left long ago; it is on those `present`."""
        day = today or datetime.now(UTC).date()
        for guild_id in await self._store.departures.look(present, day):
            await self._store.erase_guild(guild_id)
            log.info(
                "The data of guild %s was erased: the bot left it %d days ago.", guild_id, GRACE
            )

    async def opt_out(self, guild_id: int | None, member_id: int) -> None:
        """Read the member's messages to no model from now on, neither from a channel nor from
        knowledge."""
        await self._store.opt_out(guild_id or 0, member_id)

    async def opt_in(self, guild_id: int | None, member_id: int) -> None:
        """Take the opt-out back."""
        await self._store.opt_outs.remove(guild_id or 0, member_id)

    async def has_opted_out(self, guild_id: int | None, member_id: int) -> bool:
        """Whether the member's messages are to stay away from models."""
        return member_id in await self.opted_out(guild_id)

    async def opted_out(self, guild_id: int | None) -> Collection[int]:
        """The members whose messages are to stay away from models."""
        return await self._store.opt_outs.of(guild_id or 0)
