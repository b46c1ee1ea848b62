"""Makes the vectors of chunks in the background.

Invariant: what is left to do is read from the database, never remembered, so work goes on after a
restart where it stopped. While vectors are made with a new model, those of the old one serve, and
they go once the new ones are complete.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from data.database import Database
from data.knowledge.embedder import Embedder, Embedders, InputRefused, unit

BATCH = 32
"""Chunks a request."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds between looks for work, and those to wait after a failure: `first`, then twice as
    long each time, up to `most`."""

    idle: float = 300.0
    first: float = 5.0
    most: float = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How many of a guild's chunks have a vector of the model that is configured."""

    done: int
    total: int


class EmbeddingWorker:
    """One background task for all guilds; `run` it for as long as the bot runs."""

    def __init__(self, database: Database, embedders: Embedders, pace: Pace | None = None) -> None:
        self._database = database
        self._embedders = embedders
        self._pace = pace or Pace()
        self._wake = asyncio.Event()
        self._failures: dict[int, int] = {}
        self._not_before: dict[int, float] = {}

    def wake(self) -> None:
        """There is something to do: a document came, or the endpoint was changed."""
        self._wake.set()

    async def run(self) -> None:
        """Embed what has no vector yet, forever. Failures are logged and tried again later."""
        while True:
            self._wake.clear()
            wait = await self.catch_up()
            try:
                async with asyncio.timeout(wait):
                    await self._wake.wait()
            except TimeoutError:
                pass

    async def catch_up(self) -> float:
        """See to each guild once; seconds until the next look is due."""
        guilds = await self._database.read(
            "SELECT DISTINCT guild_id FROM knowledge_documents WHERE ready ORDER BY guild_id"
        )
        clock = asyncio.get_running_loop().time
        wait = self._pace.idle
        for (guild_id,) in guilds:
            if (left := self._not_before.get(guild_id, 0.0) - clock()) <= 0:
                try:
                    await self._guild(guild_id)
                    self._failures.pop(guild_id, None)
                    continue
                except Exception as error:
                    left = self._back_off(guild_id, error)
                    self._not_before[guild_id] = clock() + left
            wait = min(wait, left)
        return wait

    async def progress(self, guild_id: int) -> Progress | None:
        """How far a guild's vectors are; None if no endpoint makes any for it."""
        embedder = await self._embedders.of(guild_id)
        if embedder is None:
            return None
        ((total, done),) = await self._database.read(
            """SELECT count(*), count(knowledge_vectors.id) FROM knowledge_documents
            JOIN knowledge_chunks ON document_id = knowledge_documents.id
            LEFT JOIN knowledge_vectors ON chunk_id = knowledge_chunks.id AND model = ?
            WHERE guild_id = ? AND ready""",
            embedder.model,
            guild_id,
        )
        return Progress(done=done, total=total)

    def _back_off(self, guild_id: int, error: Exception) -> float:
        failures = self._failures[guild_id] = self._failures.get(guild_id, 0) + 1
        wait = min(self._pace.most, self._pace.first * 2 ** min(failures - 1, 16))
        log.warning(
            "Embedding knowledge of guild %d failed (%s); next try in %.0f s",
            guild_id,
            type(error).__name__,
            wait,
        )
        return wait

    async def _guild(self, guild_id: int) -> None:
        embedder = await self._embedders.of(guild_id)
        if embedder is None:
            return
        model = embedder.model
        after = 0
        while batch := await self._pending(guild_id, model, after):
            after = batch[-1][0]
            await self._embed(embedder, model, batch)
        await self._settle(guild_id, model)

    async def _pending(self, guild_id: int, model: str, after: int) -> list[tuple[int, str]]:
        found = await self._database.read(
            """SELECT knowledge_chunks.id AS id, text FROM knowledge_chunks
            JOIN knowledge_documents ON knowledge_documents.id = document_id
            WHERE knowledge_chunks.id > ? AND guild_id = ? AND ready AND NOT EXISTS (
                SELECT 1 FROM knowledge_vectors WHERE chunk_id = knowledge_chunks.id AND model = ?
            ) ORDER BY knowledge_chunks.id LIMIT ?""",
            after,
            guild_id,
            model,
            BATCH,
        )
        return [(row["id"], row["text"]) for row in found]

    async def _embed(
        self, embedder: Embedder, model: str, batch: Sequence[tuple[int, str]]
    ) -> None:
        """Embed and store; halve what is refused until the text is found that is to blame."""
        try:
            vectors = await embedder.embed([text for _, text in batch], model)
        except InputRefused:
            if len(batch) == 1:
                await self._store(model, [(batch[0][0], None)])
                return
            middle = len(batch) // 2
            await self._embed(embedder, model, batch[:middle])
            await self._embed(embedder, model, batch[middle:])
            return
        if vectors.ndim != 2 or len(vectors) != len(batch) or not np.isfinite(vectors).all():
            raise ValueError("an embeddings endpoint answered with something else than vectors")
        packed = unit(vectors.astype(np.float32)).astype("<f4")
        await self._store(
            model,
            [(chunk, row.tobytes()) for (chunk, _), row in zip(batch, packed, strict=True)],
        )

    async def _store(self, model: str, vectors: Sequence[tuple[int, bytes | None]]) -> None:
        async with self._database.transaction() as transaction:
            await transaction.run_many(
                # SELECT: a chunk that was deleted meanwhile gets none.
                "INSERT INTO knowledge_vectors (chunk_id, model, vector) "
                "SELECT id, ?2, ?3 FROM knowledge_chunks WHERE id = ?1 ON CONFLICT DO NOTHING",
                [(chunk, model, vector) for chunk, vector in vectors],
            )
            await transaction.run_many(
                """UPDATE knowledge_contexts SET
                    revision = revision + 1, served_model = coalesce(served_model, ?2)
                WHERE coalesce(served_model, ?2) = ?2 AND id = (
                    SELECT context_id FROM knowledge_documents
                    JOIN knowledge_chunks ON document_id = knowledge_documents.id
                    WHERE knowledge_chunks.id = ?1
                )""",
                [(chunk, model) for chunk, _ in vectors],
            )

    async def _settle(self, guild_id: int, model: str) -> None:
        """Let complete vectors of the model serve, and remove those of others."""
        async with self._database.transaction() as transaction:
            await transaction.run(
                """UPDATE knowledge_contexts SET served_model = ?2, revision = revision + 1
                WHERE guild_id = ?1 AND served_model IS NOT ?2 AND NOT EXISTS (
                    SELECT 1 FROM knowledge_documents
                    JOIN knowledge_chunks ON document_id = knowledge_documents.id
                    WHERE context_id = knowledge_contexts.id AND ready AND NOT EXISTS (
                        SELECT 1 FROM knowledge_vectors
                        WHERE chunk_id = knowledge_chunks.id AND model = ?2
                    )
                )""",
                guild_id,
                model,
            )
        more = True
        while more:
            async with self._database.transaction() as transaction:
                more = await transaction.run(
                    """DELETE FROM knowledge_vectors WHERE id IN (
                        SELECT knowledge_vectors.id FROM knowledge_contexts
                        JOIN knowledge_documents ON context_id = knowledge_contexts.id
                        JOIN knowledge_chunks ON document_id = knowledge_documents.id
                        JOIN knowledge_vectors ON chunk_id = knowledge_chunks.id
                        WHERE knowledge_contexts.guild_id = ?1
                        AND served_model = ?2 AND model <> ?2 LIMIT ?3
                    ) RETURNING id""",
                    guild_id,
                    model,
                    256,
                )
