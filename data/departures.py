"""Servers that the bot has left, and the days since.

Invariant: what is kept of a server that the bot is on is never touched. Days are counted on which
somebody looked, so that neither a clock that is set nor a long stop of the bot shortens the grace.
"""

import json
from collections.abc import Collection
from datetime import date

from data.database import Database
from data.erasure import GUILD_TABLES
from data.meta import Meta

GRACE = 30
"""Days, each seen, after which what is kept of a left server goes."""

_KEY = "departures"


class Departures:
    """How long the bot has been away from which guilds."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._meta = Meta(database)

    async def look(self, present: Collection[int], today: date) -> Collection[int]:
        """Note which of the guilds of whom something is kept are not `present`, and return those
        whose grace is over. One that is present again begins anew when it is left."""
        before: dict[str, list[str]] = json.loads(await self._meta.get(_KEY) or "{}")
        seen: dict[str, list[str]] = {}
        for guild_id in await self._known():
            if guild_id not in present:
                days = before.get(str(guild_id), [])
                seen[str(guild_id)] = sorted({*days, today.isoformat()})
        if seen != before:
            await self._meta.put(_KEY, json.dumps(seen))
        return [int(guild_id) for guild_id, days in seen.items() if len(days) > GRACE]

    async def _known(self) -> Collection[int]:
        """The guilds of whom anything is kept; direct messages are not of them."""
        known: set[int] = set()
        for table in GUILD_TABLES:
            rows = await self._database.read(f"SELECT DISTINCT guild_id FROM {table}")  # noqa: S608
            known.update(row["guild_id"] for row in rows)
        return known - {0}
