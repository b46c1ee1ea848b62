"""The knowledge of all guilds, behind one door.

Invariant: what was removed is held in memory no longer either.
"""

from data.database import Database, to_the_end
from data.knowledge.contexts import Contexts
from data.knowledge.documents import Documents
from data.knowledge.embedder import Embedders
from data.knowledge.embedding import EmbeddingWorker, Pace
from data.knowledge.matrices import Matrices
from data.knowledge.removal import finish_removals
from data.knowledge.retrieval import Retriever
from data.knowledge.values import Context, Document, Limits


class Knowledge:
    """Contexts and documents, and who searches and embeds them."""

    def __init__(self, database: Database, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._database = database
        self._matrices = Matrices(database)
        self.contexts = Contexts(database, limits)
        self.documents = Documents(database, limits)

    def retriever(self, embedders: Embedders | None = None) -> Retriever:
        """Searches by words, and with embedders by sense as well."""
        return Retriever(self._database, self._matrices, embedders)

    def embedding(self, embedders: Embedders, pace: Pace | None = None) -> EmbeddingWorker:
        """Makes the vectors that searching by sense needs; to be run in a task of its own."""
        return EmbeddingWorker(self._database, embedders, pace)

    async def delete(self, context: Context) -> None:
        """Remove a context, its documents and every trace of them."""
        await self.documents.clear(context)
        self.forget()

    async def remove(self, context: Context, document_id: int) -> Document | None:
        """Remove a document and every trace of it; None if the context has no such one."""
        removed = await self.documents.remove(context, document_id)
        self.forget()
        return removed

    async def recover(self) -> None:
        """Finish what was under way when the process ended; once, before anything is added."""
        await to_the_end(finish_removals(self._database))

    def forget(self) -> None:
        """Drop the vectors that are held in memory; they are read again when needed."""
        self._matrices.clear()
