"""Hands out, and removes, everything that is kept of one member or one guild.

Invariant: covers every table that has a guild_id or member_id column; a test compares the
lists below with the schema. Wishes of members are handed out, but outlive what is removed. That
is overwritten in the database and its log; copies in the backups directory are beyond reach here.
"""

import json
from typing import LiteralString

from data.database import Database
from data.knowledge.removal import remove_guild, remove_member
from prompt.values import Json

MEMBER_TABLES: tuple[LiteralString, ...] = (
    "facts",
    "turns",
    "knowledge_documents",
    "unfinished_replies",
    "open_questions",
    "usage",
    "reminders",
    "time_zones",
)
"""Tables with guild_id and member_id."""

WISHES: tuple[LiteralString, ...] = ("opt_outs",)
"""Such tables too, without any words: only the member takes back what is in them."""

GUILD_TABLES: tuple[LiteralString, ...] = (
    *MEMBER_TABLES,
    "knowledge_uses",
    "knowledge_contexts",
    "settings",
    "endpoints",
    "approvals",
    "mcp_servers",
    "mcp_listings",
    "services",
    "usage_warnings",
    "watermarks",
)
"""Tables with guild_id. Replies go with their turns, verdicts on its own endpoint with that,
pieces of documents and what is made of them with their documents."""


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
    contexts = await database.read(
        "SELECT id, name, at FROM knowledge_contexts WHERE guild_id = ? AND created_by = ?",
        guild_id,
        member_id,
    )
    documents = await database.read(
        """SELECT id, context_id, name, kind, url, at, added_by IS ?2 AS added,
            CASE WHEN member_id = ?2 THEN
                (SELECT json_group_array(text) FROM
                    (SELECT text FROM knowledge_chunks WHERE document_id = knowledge_documents.id
                    ORDER BY ordinal))
            ELSE '[]' END AS own_words
        FROM knowledge_documents WHERE guild_id = ?1 AND (member_id = ?2 OR added_by = ?2)
        ORDER BY id""",
        guild_id,
        member_id,
    )
    unfinished = await database.read(
        """SELECT message_id, channel_id, asked_message_id, at FROM unfinished_replies
        WHERE guild_id = ? AND member_id = ? ORDER BY message_id""",
        guild_id,
        member_id,
    )
    questions = await database.read(
        """SELECT channel_id, asked_message_id, at FROM open_questions
        WHERE guild_id = ? AND member_id = ? ORDER BY asked_message_id""",
        guild_id,
        member_id,
    )
    usage = await database.read(
        """SELECT day, channel_id, model, questions, turns, requests, estimated, prompt_tokens,
            cached_tokens, completion_tokens, tool_calls, first_tokens, first_token_ms, total_ms,
            cost_micros
        FROM usage WHERE guild_id = ? AND member_id = ? ORDER BY day, channel_id, model""",
        guild_id,
        member_id,
    )
    reminders = await database.read(
        """SELECT id, channel_id, message_id, text, due, at FROM reminders
        WHERE guild_id = ? AND member_id = ? ORDER BY due, id""",
        guild_id,
        member_id,
    )
    time_zones = await database.read(
        "SELECT zone FROM time_zones WHERE guild_id = ? AND member_id = ?", guild_id, member_id
    )
    opt_outs = await database.read(
        "SELECT at FROM opt_outs WHERE guild_id = ? AND member_id = ?", guild_id, member_id
    )
    return {
        "guild_id": guild_id,
        "member_id": member_id,
        "opt_outs": [dict(row) for row in opt_outs],
        "usage": [dict(row) for row in usage],
        "reminders": [dict(row) for row in reminders],
        "time_zones": [dict(row) for row in time_zones],
        "knowledge_contexts": [dict(row) for row in contexts],
        "knowledge_documents": [
            {
                **dict(row),
                "added": bool(row["added"]),
                "own_words": json.loads(row["own_words"]),
            }
            for row in documents
        ],
        "facts": [dict(row) for row in facts],
        "unfinished_replies": [dict(row) for row in unfinished],
        "open_questions": [dict(row) for row in questions],
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
    """Remove all that is kept of a member in a guild, but for WISHES.

    What the member added to the guild's knowledge stays, without saying who added it; messages
    of the member's own that are in there go.
    """
    await remove_member(database, guild_id, member_id)
    async with database.transaction() as transaction:
        for table in MEMBER_TABLES:
            await transaction.run(
                f"DELETE FROM {table} WHERE guild_id = ? AND member_id = ?",  # noqa: S608
                guild_id,
                member_id,
            )
        await transaction.run(
            "UPDATE knowledge_contexts SET created_by = NULL WHERE guild_id = ? AND created_by = ?",
            guild_id,
            member_id,
        )
        await transaction.run(
            "UPDATE knowledge_documents SET added_by = NULL WHERE guild_id = ? AND added_by = ?",
            guild_id,
            member_id,
        )
    await database.checkpoint()


async def erase_guild(database: Database, guild_id: int) -> None:
    """Remove all that is kept of a guild, its settings and its members' words, but for WISHES."""
    await remove_guild(database, guild_id)
    async with database.transaction() as transaction:
        await transaction.run(
            "DELETE FROM verdicts WHERE endpoint IN (SELECT id FROM endpoints WHERE guild_id = ?)",
            guild_id,
        )
        for table in GUILD_TABLES:
            await transaction.run(f"DELETE FROM {table} WHERE guild_id = ?", guild_id)  # noqa: S608
    await database.checkpoint()
