"""Takes documents out, with every trace of them.

Invariant: a document is out of sight with the first transaction, whatever happens after it, and
what is left undone then is done at the next start. In the end its words are overwritten in the
tables, the full-text index and the log.

The index only marks words as deleted, and writes them away when its parts are merged; so they are
merged after each removal. That takes some 5 s for every 100,000 chunks of the whole instance, in
steps between which others write.
"""

import json
from collections.abc import Sequence
from typing import LiteralString

from data.database import Database

BATCH = 64
"""Chunks a transaction, here and when they are added."""
_PAGES = 256
"""Pages of the index a merging step."""
_DUE = "knowledge_merge_due"


async def remove_documents(database: Database, ids: Sequence[int]) -> None:
    """Remove these documents, whoever's they are."""
    await _hide_and_remove(database, "id IN (SELECT value FROM json_each(?))", json.dumps([*ids]))


async def remove_guild(database: Database, guild_id: int) -> None:
    """Remove the documents of a guild."""
    await _hide_and_remove(database, "guild_id = ?", guild_id)


async def remove_member(database: Database, guild_id: int, member_id: int) -> None:
    """Remove the documents of a guild that are a member's own words."""
    where = "guild_id = ? AND member_id = ?"
    await _hide_and_remove(database, where, guild_id, member_id)


async def finish_removals(database: Database) -> None:
    """Remove what was half added or half removed when the process ended."""
    await _hide_and_remove(database, "ready = 0")
    if await database.read("SELECT 1 FROM meta WHERE key = ?", _DUE):
        await _merge(database)


async def _hide_and_remove(
    database: Database, where: LiteralString, *parameters: int | str
) -> None:
    async with database.transaction() as transaction:
        hidden = await transaction.run(
            # The same text may be added again while this is under way.
            "UPDATE knowledge_documents SET ready = 0, content_hash = 'removed ' || id WHERE "  # noqa: S608
            + where
            + " RETURNING id, context_id",
            *parameters,
        )
        if not hidden:
            return
        ids = json.dumps([row["id"] for row in hidden])
        await transaction.run(
            "UPDATE knowledge_contexts SET revision = revision + 1 "
            "WHERE id IN (SELECT value FROM json_each(?))",
            json.dumps([row["context_id"] for row in hidden]),
        )
        await transaction.run("INSERT INTO meta VALUES (?, '') ON CONFLICT DO NOTHING", _DUE)
    more = True
    while more:
        async with database.transaction() as transaction:
            more = await transaction.run(
                """DELETE FROM knowledge_chunks WHERE id IN (
                    SELECT id FROM knowledge_chunks
                    WHERE document_id IN (SELECT value FROM json_each(?)) LIMIT ?
                ) RETURNING id""",
                ids,
                BATCH,
            )
    async with database.transaction() as transaction:
        await transaction.run(
            "DELETE FROM knowledge_documents WHERE id IN (SELECT value FROM json_each(?))", ids
        )
    await _merge(database)


async def _merge(database: Database) -> None:
    """Make one part of the index, in which no deleted word is left, and empty the log."""
    pages = -_PAGES  # negative: begin by taking all parts together
    changes = 2
    while changes > 1:  # so the index says that it has nothing left to do
        async with database.transaction() as transaction:
            ((before,),) = await transaction.run("SELECT total_changes()")
            await transaction.run(
                "INSERT INTO knowledge_words (knowledge_words, rank) VALUES ('merge', ?)", pages
            )
            ((after,),) = await transaction.run("SELECT total_changes()")
        changes = after - before
        pages = _PAGES
    async with database.transaction() as transaction:
        await transaction.run("DELETE FROM meta WHERE key = ?", _DUE)
    await database.checkpoint()
