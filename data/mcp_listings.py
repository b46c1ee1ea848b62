"""What MCP servers listed last, of the operator and of guilds.

Invariant: a listing holds for one server at one place, and goes when that server is removed or lies
elsewhere.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from data.database import Database
from prompt.values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class McpListing:
    """A list of tools as JSON. `reached` is a digest of where the server lies."""

    reached: str
    tools: Json


class McpListings:
    """Listings by guild, 0 for the operator, and by name."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, guild_id: int) -> Mapping[str, McpListing]:
        """All listings of a guild."""
        rows = await self._database.read(
            "SELECT name, reached, tools FROM mcp_listings WHERE guild_id = ?", guild_id
        )
        return {
            row["name"]: McpListing(reached=row["reached"], tools=json.loads(row["tools"]))
            for row in rows
        }

    async def put(self, guild_id: int, name: str, listing: McpListing) -> None:
        """Replace what a server listed."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """INSERT INTO mcp_listings (guild_id, name, reached, tools) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET reached = excluded.reached, tools = excluded.tools""",
                guild_id,
                name,
                listing.reached,
                json.dumps(listing.tools, ensure_ascii=False),
            )

    async def keep(self, guild_id: int, names: Collection[str]) -> None:
        """Forget what a guild's other servers listed."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """DELETE FROM mcp_listings WHERE guild_id = ?
                    AND name NOT IN (SELECT value FROM json_each(?))""",
                guild_id,
                json.dumps(sorted(names)),
            )
