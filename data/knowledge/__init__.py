"""Documents that guilds own, kept and found by words and by sense."""

from data.knowledge.contexts import EVERYWHERE
from data.knowledge.embedder import Embedder, Embedders, InputRefused, Vectors
from data.knowledge.embedding import Pace, Progress
from data.knowledge.library import Knowledge
from data.knowledge.retrieval import Retriever
from data.knowledge.values import (
    AuthorisedContexts,
    BadName,
    Context,
    ContextGone,
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
    "AuthorisedContexts",
    "BadName",
    "Context",
    "ContextGone",
    "Document",
    "Duplicate",
    "Embedder",
    "Embedders",
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
