"""Reads contexts and documents out of the rows that hold them.

Invariant: what is read by these queries is one guild's, whatever is appended to them.
"""

import sqlite3

from data.knowledge.values import Context, Document
from data.times import from_column

CONTEXTS = "SELECT * FROM knowledge_contexts WHERE guild_id = ?1"
DOCUMENTS = "SELECT * FROM knowledge_documents WHERE guild_id = ?1 AND ready"


def context(row: sqlite3.Row) -> Context:
    """The context that a row of its table holds."""
    return Context(
        id=row["id"],
        guild_id=row["guild_id"],
        name=row["name"],
        created_by=row["created_by"],
        at=from_column(row["at"]),
    )


def document(row: sqlite3.Row) -> Document:
    """The document that a row of its table holds."""
    return Document(
        id=row["id"],
        context_id=row["context_id"],
        name=row["name"],
        kind=row["kind"],
        url=row["url"],
        size=row["size"],
        characters=row["characters"],
        chunks=row["chunks"],
        added_by=row["added_by"],
        at=from_column(row["at"]),
    )
