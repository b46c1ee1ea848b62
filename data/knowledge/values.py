"""What the knowledge index takes and gives: contexts, documents, passages, limits, refusals.

Invariant: plain values. A refusal is a value as well, with what a message about it needs to say.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

SourceKind: TypeAlias = Literal["attachment", "link", "message"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one guild may keep. Characters are those of the documents' text."""

    contexts: int = 25
    documents: int = 500
    characters: int = 20_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What one guild keeps, and how much it may."""

    contexts: int
    documents: int
    characters: int
    limits: Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A named set of documents that belongs to one guild."""

    id: int
    guild_id: int
    name: str
    created_by: int | None
    """Discord user; None once that member's data was erased."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorisedContexts:
    """Contexts that a guild may read; all that a search accepts.

    Made by `Contexts.authorise` and `Contexts.selected` only. Whoever makes one by hand still
    finds nothing of another guild: every query holds the guild as well as the context.
    """

    guild_id: int
    contexts: Sequence[Context] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDocument:
    """A document to be added. `content` is its text, or the text of each of its pages."""

    name: str
    content: str | Sequence[str] = field(repr=False)
    kind: SourceKind
    url: str
    """Where it came from: the link, the message's jump link, or that of the attachment's message;
    empty if there is none."""
    size: int
    """Bytes of what was read, before its text was taken out."""
    added_by: int
    author_id: int | None = None
    """Discord user whose own words the text is, for a message; erased with that member's data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document that is kept. `characters` counts its text, `chunks` its pieces."""

    id: int
    context_id: int
    name: str
    kind: SourceKind
    url: str
    size: int
    characters: int
    chunks: int
    added_by: int | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document that was found: one chunk, or neighbouring ones joined.

    Chunks are `first` to `last`, tokens `start` to `end` (exclusive) of the document; the text
    begins at its character `at`. `page` counts from 1 and is where the passage begins; None in a
    document without pages. `score` orders the passages of one search and means nothing beside those
    of another. `likeness` is how near in sense it is to the question: its cosine above that of the
    context's other chunks, 0 where that is not known.
    """

    context_id: int
    document_id: int
    document_name: str
    kind: SourceKind
    url: str
    first: int
    last: int
    start: int
    end: int
    at: int
    page: int | None
    text: str = field(repr=False)
    score: float
    likeness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BadName:
    """A context's name has 1 to `longest` characters."""

    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTaken:
    """The guild has a context of this name; upper and lower case are alike."""

    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class OverLimit:
    """The guild keeps `kept` already and may keep `limit`; `wanted` more do not fit."""

    what: Literal["contexts", "documents", "characters"]
    kept: int
    wanted: int
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate:
    """The context holds the same text already, as this document."""

    document: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class NoText:
    """There is no text in the document, or only blank space: a scan, perhaps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextGone:
    """The context was deleted before the document was kept."""


CreateRefusal: TypeAlias = BadName | NameTaken | OverLimit
AddRefusal: TypeAlias = Duplicate | OverLimit | NoText | ContextGone
