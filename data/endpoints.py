"""Endpoints that guilds have brought for themselves.

Invariant: a guild has MOST at most, in an order, and nothing here hands out another guild's. A key
stays only while the origin of its URL does; it lies here encrypted, and opening it is the caller's,
with the key ring, for the URL beside it.
"""

import secrets
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from data.database import Database, Transaction
from data.keys import origin
from data.times import from_column, to_column

_OF_GUILD = "SELECT * FROM endpoints WHERE guild_id = ? ORDER BY position"
_PUT = """INSERT OR REPLACE INTO endpoints
    (id, guild_id, position, base_url, model, sealed_key, allow_private, set_by, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""

MOST = 5
"""Endpoints that a guild may have."""


class TooMany(Exception):
    """The guild has MOST endpoints already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildEndpoint:
    """One of a guild's own endpoints.

    `id` changes with the URL and is what a verdict on it is kept under, so that no guild learns
    from another's. `model` is empty for the first one that the server lists. `allow_private`
    tells that the operator set the URL, which may then lie in their own network.
    """

    id: str
    guild_id: int
    base_url: str
    model: str
    sealed_key: str | None = field(repr=False)
    allow_private: bool
    set_by: int
    at: datetime


class GuildEndpoints:
    """Endpoints by guild, each guild's in the order in which they are tried."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, guild_id: int) -> GuildEndpoint | None:
        """The first of the guild's own endpoints, None if it brought none."""
        return next(iter(await self.all(guild_id)), None)

    async def all(self, guild_id: int) -> Sequence[GuildEndpoint]:
        """The guild's own endpoints in their order."""
        rows = await self._database.read(_OF_GUILD, guild_id)
        return [_endpoint(row) for row in rows]

    async def put(
        self,
        guild_id: int,
        *,
        base_url: str,
        model: str,
        sealed_key: str | None,
        allow_private: bool,
        set_by: int,
        added: bool = False,
    ) -> None:
        """Set the guild's first endpoint, or have one `added` as the last of them.

        Without a key, that of another one of the guild's on the same origin stays, the one in
        whose place this comes before all. One that is there already with this URL and model is
        set anew rather than added twice. Raises TooMany.
        """
        async with self._database.transaction() as transaction:
            present = await transaction.run(_OF_GUILD, guild_id)
            same = [row for row in present if (row["base_url"], row["model"]) == (base_url, model)]
            former = next(iter(same if added else present), None)
            if added and former is None and len(present) >= MOST:
                raise TooMany(f"A server can have {MOST} endpoints. Remove one before.")
            endpoint_id = _new_id(guild_id)
            position = 0 if former is None else former["position"]
            if former is None and present:
                position = present[-1]["position"] + 1
            if former is not None and former["base_url"] == base_url:
                endpoint_id = former["id"]
            elif former is not None:
                await _forget(transaction, former["id"])
            if sealed_key is None:
                sealed_key = _key_for(base_url, [former, *present] if former else present)
            await transaction.run(
                _PUT,
                endpoint_id,
                guild_id,
                position,
                base_url,
                model,
                sealed_key,
                allow_private,
                set_by,
                to_column(datetime.now(UTC)),
            )

    async def replace(
        self, guild_id: int, wanted: Sequence[tuple[str, str, bool]], *, set_by: int
    ) -> None:
        """Put endpoints (URL, model, whether it may be private) in the place of the guild's, in
        this order. Those that were there stay what they are, and their keys with their origins."""
        async with self._database.transaction() as transaction:
            present = await transaction.run(_OF_GUILD, guild_id)
            former = {(row["base_url"], row["model"]): row for row in present}
            for name in former.keys() - {(url, model) for url, model, _ in wanted}:
                await _forget(transaction, former[name]["id"])
            for position, (url, model, allow_private) in enumerate(wanted):
                same = [former[url, model]] if (url, model) in former else []
                await transaction.run(
                    _PUT,
                    same[0]["id"] if same else _new_id(guild_id),
                    guild_id,
                    position,
                    url,
                    model,
                    _key_for(url, [*same, *present]),
                    allow_private,
                    set_by,
                    to_column(datetime.now(UTC)),
                )

    async def set_model(self, guild_id: int, model: str) -> None:
        """Choose another model at the guild's first endpoint; nothing happens if it has none."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """UPDATE endpoints SET model = ? WHERE id =
                    (SELECT id FROM endpoints WHERE guild_id = ? ORDER BY position LIMIT 1)""",
                model,
                guild_id,
            )

    async def move(self, guild_id: int, endpoint_id: str, *, by: int) -> None:
        """Let one of the guild's endpoints be tried so many places later, earlier if negative."""
        async with self._database.transaction() as transaction:
            ids = [row["id"] for row in await transaction.run(_OF_GUILD, guild_id)]
            if endpoint_id not in ids:
                return
            place = max(0, ids.index(endpoint_id) + by)
            ids.remove(endpoint_id)
            ids.insert(place, endpoint_id)
            for position, each in enumerate(ids):
                await transaction.run(
                    "UPDATE endpoints SET position = ? WHERE id = ?", position, each
                )

    async def remove_one(self, guild_id: int, endpoint_id: str) -> None:
        """Forget one of the guild's endpoints with its key, and what was learnt about it."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(_OF_GUILD, guild_id)
            if endpoint_id in [row["id"] for row in rows]:
                await _forget(transaction, endpoint_id)

    async def remove(self, guild_id: int) -> None:
        """Forget the guild's endpoints with their keys, and what was learnt about them."""
        async with self._database.transaction() as transaction:
            for row in await transaction.run(_OF_GUILD, guild_id):
                await _forget(transaction, row["id"])


def _new_id(guild_id: int) -> str:
    return f"guild:{guild_id}:{secrets.token_hex(8)}"


def _key_for(base_url: str, rows: Sequence[sqlite3.Row]) -> str | None:
    """The first key among `rows` that belongs to the origin of a URL."""
    keys = [row["sealed_key"] for row in rows if origin(row["base_url"]) == origin(base_url)]
    return next((key for key in keys if key is not None), None)


async def _forget(transaction: Transaction, endpoint_id: str) -> None:
    await transaction.run("DELETE FROM verdicts WHERE endpoint = ?", endpoint_id)
    await transaction.run("DELETE FROM endpoints WHERE id = ?", endpoint_id)


def _endpoint(row: sqlite3.Row) -> GuildEndpoint:
    return GuildEndpoint(
        id=row["id"],
        guild_id=row["guild_id"],
        base_url=row["base_url"],
        model=row["model"],
        sealed_key=row["sealed_key"],
        allow_private=bool(row["allow_private"]),
        set_by=row["set_by"],
        at=from_column(row["at"]),
    )
