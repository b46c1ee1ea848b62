"""MCP servers: those that the operator configures, and those that guilds have brought.

Invariant: nothing here hands out another guild's server. A token stays only while the origin of
its URL does; it lies here encrypted, and opening it is the caller's, with the key ring, for the
URL beside it.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from data.database import Database
from data.keys import origin
from data.mcp_listings import McpListings
from data.times import from_column, to_column


@dataclass(frozen=True, slots=True, kw_only=True)
class StdioServer:
    """A program that the operator lets the bot start; it is spoken to over its pipes."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    cwd: str | None = None
    trusted: bool = False
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpServer:
    """A server that is spoken to over streamable HTTP. `allow_private` lets it lie on the bot's own
    machine or in its networks."""

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    allow_private: bool = False
    trusted: bool = False
    enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class GuildMcpServer:
    """A server that a guild has brought. `trusted` tells that an admin believes what it says of
    its own tools. `allow_private` tells that the operator set the URL."""

    guild_id: int
    name: str
    url: str
    sealed_token: str | None = field(repr=False)
    enabled: bool
    trusted: bool
    allow_private: bool
    set_by: int
    at: datetime


class GuildMcpServers:
    """Servers by guild and name. `listings` are what they, and the operator's, listed last."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.listings = McpListings(database)

    async def all(self, guild_id: int) -> Sequence[GuildMcpServer]:
        """The guild's servers, in the order in which they were first added."""
        rows = await self._database.read(
            "SELECT * FROM mcp_servers WHERE guild_id = ? ORDER BY ordinal", guild_id
        )
        return [_server(row) for row in rows]

    async def everywhere(self) -> Sequence[GuildMcpServer]:
        """The servers of all guilds, for whoever connects them."""
        rows = await self._database.read("SELECT * FROM mcp_servers ORDER BY ordinal")
        return [_server(row) for row in rows]

    async def get(self, guild_id: int, name: str) -> GuildMcpServer | None:
        """The guild's server of exactly this name."""
        rows = await self._database.read(
            "SELECT * FROM mcp_servers WHERE guild_id = ? AND name = ?", guild_id, name
        )
        return _server(rows[0]) if rows else None

    async def put(
        self,
        guild_id: int,
        name: str,
        *,
        url: str,
        sealed_token: str | None,
        trusted: bool,
        allow_private: bool,
        set_by: int,
    ) -> None:
        """Add a server, or set the one of this name anew. Without a token, the former one stays
        if the origin does."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "SELECT url, sealed_token FROM mcp_servers WHERE guild_id = ? AND name = ?",
                guild_id,
                name,
            )
            if sealed_token is None and rows and origin(rows[0]["url"]) == origin(url):
                sealed_token = rows[0]["sealed_token"]
            await transaction.run(
                """INSERT INTO mcp_servers
                    (guild_id, name, url, sealed_token, enabled, trusted, allow_private, set_by, at)
                VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?)
                ON CONFLICT (guild_id, name) DO UPDATE SET
                    url = excluded.url, sealed_token = excluded.sealed_token, enabled = 1,
                    trusted = excluded.trusted, allow_private = excluded.allow_private,
                    set_by = excluded.set_by, at = excluded.at""",
                guild_id,
                name,
                url,
                sealed_token,
                trusted,
                allow_private,
                set_by,
                to_column(datetime.now(UTC)),
            )

    async def set_enabled(self, guild_id: int, name: str, *, enabled: bool) -> None:
        """Switch a server on or off; nothing happens if there is none."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "UPDATE mcp_servers SET enabled = ? WHERE guild_id = ? AND name = ?",
                enabled,
                guild_id,
                name,
            )

    async def set_trusted(self, guild_id: int, name: str, *, trusted: bool) -> None:
        """Trust a server, or no longer; nothing happens if there is none."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                "UPDATE mcp_servers SET trusted = ? WHERE guild_id = ? AND name = ?",
                trusted,
                guild_id,
                name,
            )

    async def remove(self, guild_id: int, name: str) -> bool:
        """Forget a server with its token; whether there was one."""
        async with self._database.transaction() as transaction:
            rows = await transaction.run(
                "DELETE FROM mcp_servers WHERE guild_id = ? AND name = ? RETURNING name",
                guild_id,
                name,
            )
        return bool(rows)


def _server(row: sqlite3.Row) -> GuildMcpServer:
    return GuildMcpServer(
        guild_id=row["guild_id"],
        name=row["name"],
        url=row["url"],
        sealed_token=row["sealed_token"],
        enabled=bool(row["enabled"]),
        trusted=bool(row["trusted"]),
        allow_private=bool(row["allow_private"]),
        set_by=row["set_by"],
        at=from_column(row["at"]),
    )
