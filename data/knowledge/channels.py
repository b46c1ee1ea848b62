"""Finds chunks for a question: by its words, by its sense, or all for a summary.

Invariant: guild and context stand in each query, and what did not match at all is not in the
result. The channels give numbers of chunks, best first; none of them knows of another.
"""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from data.database import Database
from data.knowledge.documents import scope_of
from data.knowledge.embedder import Embedder, unit
from data.knowledge.matrices import Matrices, Matrix
from data.knowledge.values import AuthorisedContexts

DEPTH = 32
"""Chunks a channel."""
_COMPARABLE = 8
"""Chunks of a context from which on most of them have nothing to do with a question."""


async def by_words(database: Database, authorised: AuthorisedContexts, terms: str) -> Sequence[int]:
    """Chunks that hold some of the terms (see `terms.query`), by BM25; rare terms count most."""
    scopes = " OR ".join(
        f'"{scope_of(authorised.guild_id, context.id)}"' for context in authorised.contexts
    )
    found = await database.read(
        """SELECT knowledge_words.rowid AS id FROM knowledge_words
        JOIN knowledge_chunks ON knowledge_chunks.id = knowledge_words.rowid
        JOIN knowledge_documents ON knowledge_documents.id = document_id
        WHERE knowledge_words MATCH ? AND ready ORDER BY bm25(knowledge_words, 0, 1) LIMIT ?""",
        f"scope : ({scopes}) AND terms : ({terms})",
        DEPTH,
    )
    return [row["id"] for row in found]


async def by_sense(
    matrices: Matrices, embedder: Embedder, authorised: AuthorisedContexts, question: str
) -> Mapping[int, float]:
    """Chunks whose vectors point where the question's does, best first, each with its cosine above
    that of the context's other chunks. Raises what the embedder raises."""
    questions: dict[str, NDArray[np.float32]] = {}
    hits: list[tuple[float, int, float]] = []
    for context in authorised.contexts:
        matrix = await matrices.of(authorised.guild_id, context.id)
        if matrix is None:
            continue
        if matrix.model not in questions:
            vectors = await embedder.embed([question], matrix.model)
            questions[matrix.model] = unit(vectors.astype(np.float32))[0]
        vector = questions[matrix.model]
        if len(vector) == matrix.vectors.shape[1]:
            hits += await asyncio.to_thread(_nearest, matrix, vector)
    hits.sort(reverse=True)
    return {chunk: likeness for _, chunk, likeness in hits[:DEPTH]}


async def beginnings(
    database: Database, authorised: AuthorisedContexts, limit: int
) -> Sequence[int]:
    """What a summary starts from: the first chunk of each document, then each second, ..."""
    found = await database.read(
        """SELECT knowledge_chunks.id AS id FROM knowledge_documents
        JOIN knowledge_chunks ON document_id = knowledge_documents.id
        WHERE guild_id = ? AND ready AND context_id IN (SELECT value FROM json_each(?))
        AND ordinal < ? ORDER BY ordinal, document_id LIMIT ?""",
        authorised.guild_id,
        json.dumps([context.id for context in authorised.contexts]),
        limit,
        limit,
    )
    return [row["id"] for row in found]


def floor(dimension: int) -> float:
    """The cosine that a chunk must pass to be a hit.

    Two unrelated directions reach 1/sqrt(dimension) by chance, one in 30,000 pairs four times as
    much. Below a fifth even models that put much into each direction mean nothing by it.
    """
    return min(0.5, max(0.2, 4 / math.sqrt(dimension)))


def _nearest(matrix: Matrix, vector: NDArray[np.float32]) -> list[tuple[float, int, float]]:
    cosines = matrix.vectors @ vector
    count = min(DEPTH, len(cosines))
    best = np.argpartition(cosines, -count)[-count:]
    least = floor(len(vector))
    # Some models give any two texts a high cosine; what counts is how far one stands out.
    usual = max(0.0, float(np.median(cosines))) if len(cosines) >= _COMPARABLE else 0.0
    return [
        (float(cosines[place]), int(matrix.ids[place]), float(cosines[place]) - usual)
        for place in best.tolist()
        if cosines[place] > least
    ]
