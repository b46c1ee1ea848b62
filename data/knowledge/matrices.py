"""Holds the vectors of contexts in memory, to be searched at once.

Invariant: at most `budget` bytes stay held. A matrix serves only as long as the context's
revision and model are those that it was read at, so a change in the database is a change here.
"""

from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from data.database import Database
from data.knowledge.embedder import Vectors

BUDGET = 256 * 1024 * 1024
"""Bytes of vectors that are held: about 170,000 chunks of 384 dimensions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The vectors of a context, one row a chunk, and the chunks' numbers."""

    model: str
    revision: int
    ids: NDArray[np.int64] = field(repr=False)
    vectors: Vectors = field(repr=False)


class Matrices:
    """The contexts' vectors, least recently used ones leaving first."""

    def __init__(self, database: Database, budget: int = BUDGET) -> None:
        self._database = database
        self._budget = budget
        self._held: OrderedDict[int, Matrix] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes of vectors that are held."""
        return sum(matrix.vectors.nbytes for matrix in self._held.values())

    async def of(self, guild_id: int, context_id: int) -> Matrix | None:
        """The vectors that answer questions in a guild's context; None if there are none."""
        state = await self._database.read(
            "SELECT revision, served_model FROM knowledge_contexts WHERE guild_id = ? AND id = ?",
            guild_id,
            context_id,
        )
        if not state or state[0]["served_model"] is None:
            self._held.pop(context_id, None)
            return None
        revision, model = state[0]
        held = self._held.get(context_id)
        if held is None or (held.revision, held.model) != (revision, model):
            held = await self._read(guild_id, context_id, revision, model)
            self._held[context_id] = held
        self._held.move_to_end(context_id)
        while self.size > self._budget:
            self._held.popitem(last=False)
        return held if len(held.ids) else None

    def clear(self) -> None:
        """Hold nothing any longer: what was erased may be among it."""
        self._held.clear()

    async def _read(self, guild_id: int, context_id: int, revision: int, model: str) -> Matrix:
        found = await self._database.read(
            """SELECT chunk_id, vector FROM knowledge_documents
            JOIN knowledge_chunks ON document_id = knowledge_documents.id
            JOIN knowledge_vectors ON chunk_id = knowledge_chunks.id
            WHERE guild_id = ? AND context_id = ? AND ready AND model = ? AND vector NOT NULL
            ORDER BY chunk_id""",
            guild_id,
            context_id,
            model,
        )
        # An endpoint that changes what stands behind a model's name changes the dimension, if
        # one is lucky; the newest vectors are right then.
        width = len(found[-1]["vector"]) if found else 0
        fitting = [row for row in found if len(row["vector"]) == width]
        flat = np.frombuffer(b"".join(row["vector"] for row in fitting), dtype="<f4")
        return Matrix(
            model=model,
            revision=revision,
            ids=np.array([row["chunk_id"] for row in fitting], dtype=np.int64),
            vectors=flat.reshape(len(fitting), width // 4),
        )
