"""Adds documents to contexts, lists them and takes them out.

Invariant: a document is kept whole or not at all. Its place within the guild's limits is taken
before its first chunk is stored, and it can be found once its last one is.
"""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from data.database import Database, Transaction, to_the_end
from data.knowledge import rows
from data.knowledge.chunking import Chunk, chunks
from data.knowledge.removal import BATCH, remove_documents
from data.knowledge.terms import indexed
from data.knowledge.values import (
    AddRefusal,
    Context,
    ContextGone,
    Document,
    Duplicate,
    Limits,
    NewDocument,
    NoText,
    OverLimit,
    Usage,
)
from data.times import to_column

LONGEST_NAME = 200
"""Characters of a document's name that are kept."""


class Documents:
    """The documents of contexts."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    async def add(
        self,
        context: Context,
        new: NewDocument,
        progress: Callable[[int, int], None] | None = None,
    ) -> Document | AddRefusal:
        """Keep a document in a context and make its words findable.

        `progress` is told how many chunks of how many are stored. Cancelled or failed, nothing
        is kept. Raises StoreError.
        """
        prepared = await asyncio.to_thread(_prepare, new.content)
        if not prepared.chunks:
            return NoText()
        reserved = await self._reserve(context, new, prepared)
        if not isinstance(reserved, Document):
            return reserved
        try:
            for begin in range(0, len(prepared.chunks), BATCH):
                batch = prepared.chunks[begin : begin + BATCH]
                if not await self._store(context, reserved.id, batch):
                    return ContextGone()
                if progress is not None:
                    progress(begin + len(batch), len(prepared.chunks))
            async with self._database.transaction() as transaction:
                ready = await transaction.run(
                    "UPDATE knowledge_documents SET ready = 1 WHERE id = ? RETURNING id",
                    reserved.id,
                )
        except BaseException:
            await to_the_end(remove_documents(self._database, [reserved.id]))
            raise
        return reserved if ready else ContextGone()

    async def all(self, context: Context) -> Sequence[Document]:
        """The documents of a context by name."""
        found = await self._database.read(
            rows.DOCUMENTS + " AND context_id = ?2 ORDER BY name COLLATE NOCASE, id",
            context.guild_id,
            context.id,
        )
        return [rows.document(row) for row in found]

    async def remove(self, context: Context, document_id: int) -> Document | None:
        """Take a document out, with every trace of it; None if the context has no such one."""
        found = [one for one in await self.all(context) if one.id == document_id]
        if not found:
            return None
        await to_the_end(remove_documents(self._database, [document_id]))
        return found[0]

    async def clear(self, context: Context) -> None:
        """Take all documents of a context out, and the context itself."""
        async with self._database.transaction() as transaction:
            doomed = await transaction.run(
                "SELECT id FROM knowledge_documents WHERE guild_id = ? AND context_id = ?",
                context.guild_id,
                context.id,
            )
            await transaction.run(
                "DELETE FROM knowledge_uses WHERE guild_id = ? AND context_id = ?",
                context.guild_id,
                context.id,
            )
        await to_the_end(self._clear(context, [row["id"] for row in doomed]))

    async def usage(self, guild_id: int) -> Usage:
        """How much a guild keeps, what is being added at this moment included."""
        ((contexts, documents, characters),) = await self._database.read(
            "SELECT (SELECT count(*) FROM knowledge_contexts WHERE guild_id = ?1), "
            "count(*), coalesce(sum(characters), 0) FROM knowledge_documents WHERE guild_id = ?1",
            guild_id,
        )
        return Usage(
            contexts=contexts, documents=documents, characters=characters, limits=self._limits
        )

    async def _clear(self, context: Context, ids: Sequence[int]) -> None:
        await remove_documents(self._database, ids)
        async with self._database.transaction() as transaction:
            # Once more for what was added meanwhile: it goes with its context.
            await transaction.run(
                "DELETE FROM knowledge_contexts WHERE guild_id = ? AND id = ?",
                context.guild_id,
                context.id,
            )
        await self._database.checkpoint()

    async def _reserve(
        self, context: Context, new: NewDocument, prepared: "_Prepared"
    ) -> Document | AddRefusal:
        """Enter the document, not ready yet, unless something speaks against it."""
        async with self._database.transaction() as transaction:
            there = await transaction.run(
                "SELECT 1 FROM knowledge_contexts WHERE guild_id = ? AND id = ?",
                context.guild_id,
                context.id,
            )
            if not there:
                return ContextGone()
            same = await transaction.run(
                "SELECT * FROM knowledge_documents WHERE context_id = ? AND content_hash = ?",
                context.id,
                prepared.digest,
            )
            if same:
                return Duplicate(document=rows.document(same[0]))
            over = await self._over_limit(transaction, context.guild_id, len(prepared.text))
            if over is not None:
                return over
            (row,) = await transaction.run(
                "INSERT INTO knowledge_documents (context_id, guild_id, member_id, name, "
                "content_hash, kind, url, size, characters, chunks, added_by, at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *",
                context.id,
                context.guild_id,
                new.author_id,
                " ".join(new.name.encode("utf-8", "replace").decode().split())[:LONGEST_NAME],
                prepared.digest,
                new.kind,
                new.url,
                new.size,
                len(prepared.text),
                len(prepared.chunks),
                new.added_by,
                to_column(datetime.now(UTC)),
            )
        return rows.document(row)

    async def _over_limit(
        self, transaction: Transaction, guild_id: int, characters: int
    ) -> OverLimit | None:
        ((documents, kept),) = await transaction.run(
            "SELECT count(*), coalesce(sum(characters), 0) FROM knowledge_documents "
            "WHERE guild_id = ?",
            guild_id,
        )
        limits = self._limits
        if documents + 1 > limits.documents:
            return OverLimit(what="documents", kept=documents, wanted=1, limit=limits.documents)
        if kept + characters > limits.characters:
            return OverLimit(
                what="characters", kept=kept, wanted=characters, limit=limits.characters
            )
        return None

    async def _store(
        self, context: Context, document_id: int, batch: Sequence[tuple[Chunk, str | None]]
    ) -> bool:
        """Store some chunks; false if the document was deleted under way."""
        scope = scope_of(context.guild_id, context.id)
        entered = [
            (
                *(document_id, chunk.ordinal, chunk.start, chunk.end, chunk.at, chunk.page),
                *(scope, chunk.text, terms),
            )
            for chunk, terms in batch
        ]
        async with self._database.transaction() as transaction:
            if not await transaction.run(
                "SELECT 1 FROM knowledge_documents WHERE id = ?", document_id
            ):
                return False
            await transaction.run_many(
                "INSERT INTO knowledge_chunks (document_id, ordinal, start_token, end_token, "
                "start_char, page, scope, text, terms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                entered,
            )
        return True


def scope_of(guild_id: int, context_id: int) -> str:
    """Guild and context as one word of the full-text index."""
    return f"g{guild_id}c{context_id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prepared:
    text: str
    digest: str
    chunks: Sequence[tuple[Chunk, str | None]]
    """Each with what the index reads instead of its text."""


def _prepare(content: str | Sequence[str]) -> _Prepared:
    text, found = chunks(content)
    return _Prepared(
        text=text,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        chunks=[(chunk, indexed(chunk.text)) for chunk in found],
    )
