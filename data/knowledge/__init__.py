"""Documents that guilds own, kept and found by words and by sense."""

from data.knowledge.contexts import EVERYWHERE
from data.knowledge.embedder import Embedder, Embedders, InputRefused, Vectors
from data.knowledge.embedding import EmbeddingWorker, Pace, Progress
from data.knowledge.library import Knowledge
from data.knowledge.retrieval import LIMIT, Retriever
from data.knowledge.values import (
    AddRefusal,
    AuthorisedContexts,
    BadName,
    Context,
    ContextGone,
    CreateRefusal,
    Document,
    Duplicate,
    Limits,
    NameTaken,
    NewDocument,
    NoText,
    OverLimit,
    Passage,
    SourceKind,
    Usage,
)

__all__ = [
    "EVERYWHERE",
    "LIMIT",
    "AddRefusal",
    "AuthorisedContexts",
    "BadName",
    "Context",
    "ContextGone",
    "CreateRefusal",
    "Document",
    "Duplicate",
    "Embedder",
    "Embedders",
    "EmbeddingWorker",
    "InputRefused",
    "Knowledge",
    "Limits",
    "NameTaken",
    "NewDocument",
    "NoText",
    "OverLimit",
    "Pace",
    "Passage",
    "Progress",
    "Retriever",
    "SourceKind",
    "Usage",
    "Vectors",
]
