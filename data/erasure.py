"""Hands out, and removes, everything that is kept of one member or one guild.

Invariant: covers every table that has a guild_id or member_id column; a test compares the
lists below with the schema. What is removed is overwritten in the database and its log. Copies
in the backups directory are beyond reach here.
"""

import json
from typing import LiteralString

from data.database import Database
from prompt.values import Json

MEMBER_TABLES: tuple[LiteralString, ...] = ("facts", "turns")
"""Tables with guild_id and member_id."""

GUILD_TABLES: tuple[LiteralString, ...] = (
    *MEMBER_TABLES,
    "settings",
    "endpoints",
    "approvals",
    "mcp_servers",
)
"""Tables with guild_id. Replies go with their turns, verdicts on its own endpoint with that."""


async def export_member(database: Database, guild_id: int, member_id: int) -> Json:
    """All that is kept of a member in a guild, as one JSON object with a list a table."""
    facts = await database.read(
        "SELECT id, text, at FROM facts WHERE guild_id = ? AND member_id = ? ORDER BY id",
        guild_id,
        member_id,
    )
    turns = await database.read(
        """SELECT id, channel_id, asked_message_id, content, at,
            (SELECT json_group_array(message_id) FROM
                (SELECT message_id FROM replies WHERE turn_id = turns.id ORDER BY ordinal)
            ) AS reply_message_ids
        FROM turns WHERE guild_id = ? AND member_id = ? ORDER BY at, id""",
        guild_id,
        member_id,
    )
    return {
        "guild_id": guild_id,
        "member_id": member_id,
        "facts": [dict(row) for row in facts],
        "turns": [
            {
                **dict(row),
                "content": json.loads(row["content"]),
                "reply_message_ids": json.loads(row["reply_message_ids"]),
            }
            for row in turns
        ],
    }


async def erase_member(database: Database, guild_id: int, member_id: int) -> None:
    """Remove all that is kept of a member in a guild."""
    async with database.transaction() as transaction:
        for table in MEMBER_TABLES:
            await transaction.run(
                f"DELETE FROM {table} WHERE guild_id = ? AND member_id = ?",  # noqa: S608
                guild_id,
                member_id,
            )
    await database.checkpoint()


async def erase_guild(database: Database, guild_id: int) -> None:
    """Remove all that is kept of a guild, its settings and its members' words."""
    async with database.transaction() as transaction:
        await transaction.run(
            "DELETE FROM verdicts WHERE endpoint IN (SELECT id FROM endpoints WHERE guild_id = ?)",
            guild_id,
        )
        for table in GUILD_TABLES:
            await transaction.run(f"DELETE FROM {table} WHERE guild_id = ?", guild_id)  # noqa: S608
    await database.checkpoint()
