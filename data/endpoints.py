"""Endpoints that guilds have brought for themselves.

Invariant: a guild has at most one, and nothing here hands out another guild's. A key stays only
while the origin of its URL does; it lies here encrypted, and opening it is the caller's, with the
key ring, for the URL beside it.
"""

import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime

from data.database import Database
from data.keys import origin
from data.times import from_column, to_column


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildEndpoint:
    """A guild's own endpoint.

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
    """Endpoints by guild."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, guild_id: int) -> GuildEndpoint | None:
        """The guild's own endpoint, None if it brought none."""
        rows = await self._database.read("SELECT * FROM endpoints WHERE guild_id = ?", guild_id)
        if not rows:
            return None
        row = rows[0]
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

    async def put(
        self,
        guild_id: int,
        *,
        base_url: str,
        model: str,
        sealed_key: str | None,
        allow_private: bool,
        set_by: int,
    ) -> None:
        """Set the guild's endpoint. Without a key, the former one stays if the origin does."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run("SELECT * FROM endpoints WHERE guild_id = ?", guild_id)
            former = rows[0] if rows else None
            endpoint_id = f"guild:{guild_id}:{secrets.token_hex(8)}"
            if former and former["base_url"] == base_url:
                endpoint_id = former["id"]
            elif former:
                await transaction.run("DELETE FROM verdicts WHERE endpoint = ?", former["id"])
            if sealed_key is None and former and origin(former["base_url"]) == origin(base_url):
                sealed_key = former["sealed_key"]
            await transaction.run(
                """INSERT OR REPLACE INTO endpoints
                    (guild_id, id, base_url, model, sealed_key, allow_private, set_by, at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
                guild_id,
                endpoint_id,
                base_url,
                model,
                sealed_key,
                allow_private,
                set_by,
                to_column(datetime.now(UTC)),
            )

    async def set_model(self, guild_id: int, model: str) -> None:
        """Choose another model at the guild's own endpoint; nothing happens if it has none."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "UPDATE endpoints SET model = ? WHERE guild_id = ?", model, guild_id
            )

    async def remove(self, guild_id: int) -> None:
        """Forget the guild's endpoint with its key, and what was learnt about it."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """DELETE FROM verdicts WHERE endpoint IN
                    (SELECT id FROM endpoints WHERE guild_id = ?)""",
                guild_id,
            )
            await transaction.run("DELETE FROM endpoints WHERE guild_id = ?", guild_id)
