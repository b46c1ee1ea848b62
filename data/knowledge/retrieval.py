"""Answers a question with passages from the contexts that a guild may read.

Invariant: takes only authorised contexts. A channel that fails or dawdles costs its own results;
a question that matches nothing gets nothing.
"""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence

from data.database import Database
from data.knowledge import channels
from data.knowledge.embedder import Embedders
from data.knowledge.fusion import distinct, fuse, joined
from data.knowledge.matrices import Matrices
from data.knowledge.overviews import asks
from data.knowledge.terms import query
from data.knowledge.values import AuthorisedContexts, Passage

LIMIT = 4
"""Chunks a question, unless another number is asked for."""
PATIENCE = 5.0
"""Seconds that the dense channel has: someone is waiting for an answer."""

log = logging.getLogger(__name__)


class Retriever:
    """Searches the contexts of guilds. Without embedders, by words alone."""

    def __init__(
        self, database: Database, matrices: Matrices, embedders: Embedders | None = None
    ) -> None:
        self._database = database
        self._matrices = matrices
        self._embedders = embedders

    async def search(
        self, authorised: AuthorisedContexts, question: str, limit: int = LIMIT
    ) -> Sequence[Passage]:
        """The passages that fit a question best, at most `limit` chunks of text in all.

        Neighbouring chunks come as one passage, so there may be fewer passages. A question made
        of nothing but words like "summarise this" gets the beginnings of the documents; what asks
        for nothing, such as "yes please", gets nothing.
        """
        if not authorised.contexts or limit < 1:
            return []
        asked = query(question)
        if asked.wordless or not (asked.terms or asks(question)):
            return []
        dense: Mapping[int, float] = {}
        if not asked.terms:
            begin = await channels.beginnings(self._database, authorised, limit)
            ranked = fuse(lexical=begin, dense=[])
        else:
            lexical, dense = await asyncio.gather(
                self._lexical(authorised, asked.terms), self._dense(authorised, question)
            )
            ranked = fuse(lexical=lexical, dense=[*dense])
        return joined(distinct(await self._passages(authorised.guild_id, ranked, dense), limit))

    async def _lexical(self, authorised: AuthorisedContexts, terms: str) -> Sequence[int]:
        try:
            return await channels.by_words(self._database, authorised, terms)
        except Exception as error:
            # Only the kind here too: the index repeats words of the query in its complaints.
            log.error(
                "Searching knowledge of guild %d by words failed (%s); this is a bug, or the disk",
                authorised.guild_id,
                type(error).__name__,
            )
            return []

    async def _dense(self, authorised: AuthorisedContexts, question: str) -> Mapping[int, float]:
        if self._embedders is None:
            return {}
        try:
            async with asyncio.timeout(PATIENCE):
                embedder = await self._embedders.of(authorised.guild_id)
                if embedder is None:
                    return {}
                return await channels.by_sense(self._matrices, embedder, authorised, question)
        except Exception as error:
            # Only the kind: the message of an endpoint's error may repeat the question.
            log.warning(
                "Searching knowledge of guild %d by sense failed (%s); its words still count",
                authorised.guild_id,
                type(error).__name__,
            )
            return {}

    async def _passages(
        self,
        guild_id: int,
        ranked: Sequence[tuple[int, float]],
        likeness: Mapping[int, float],
    ) -> Sequence[Passage]:
        scores = dict(ranked)
        found = await self._database.read(
            """SELECT knowledge_chunks.*, context_id, kind, url,
                knowledge_documents.name AS document_name
            FROM knowledge_chunks
            JOIN knowledge_documents ON knowledge_documents.id = document_id
            JOIN knowledge_contexts ON knowledge_contexts.id = context_id
            WHERE knowledge_chunks.id IN (SELECT value FROM json_each(?))
            AND ready AND knowledge_contexts.guild_id = ?""",
            json.dumps([*scores]),
            guild_id,
        )
        passages = {
            row["id"]: Passage(
                context_id=row["context_id"],
                document_id=row["document_id"],
                document_name=row["document_name"],
                kind=row["kind"],
                url=row["url"],
                first=row["ordinal"],
                last=row["ordinal"],
                start=row["start_token"],
                end=row["end_token"],
                at=row["start_char"],
                page=row["page"],
                text=row["text"],
                score=scores[row["id"]],
                likeness=likeness.get(row["id"], 0.0),
            )
            for row in found
        }
        return [passages[chunk] for chunk in scores if chunk in passages]
