"""What a guild's admins do with its knowledge: contexts, documents, and where they are used.

Invariant: every action names the guild, and what is another guild's is told of as what does not
exist. A document is kept with its whole text or not at all; why not is told in words.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from chat.embedding import ChosenEmbedders
from data.errors import StoreError
from data.knowledge import (
    EVERYWHERE,
    AuthorisedContexts,
    BadName,
    Context,
    ContextGone,
    Document,
    Duplicate,
    NameTaken,
    NewDocument,
    NoText,
    OverLimit,
    Passage,
    Progress,
    SourceKind,
    Usage,
)
from data.store import Store
from net.fetch import Fetcher, FetchFailed
from tools.worker.process import Extracted, JobFailed, Worker

log = logging.getLogger(__name__)

LARGEST_FILE = 10 * 1024 * 1024
"""Bytes of a file that is added."""

MEMBERS_SEARCH = "knowledge_members_search"
"""Whether members may use /knowledge search."""

NO_DOCUMENTS = "There are no documents there yet. `/knowledge add` puts one in."

_READING_SECONDS = 60.0
_AFTER_TROUBLE = 60.0
"""Seconds until the next try after trouble with the database."""
_NEARLY = 0.8
"""Share of a limit from which on it is told of."""

_LONGEST_HANDLE = 100
_NAMED = 10
"""Documents that a refusal names."""

Limited: TypeAlias = Literal["contexts", "documents", "characters"]

_GROWING: tuple[Limited, ...] = ("documents", "characters")
_UNITS: dict[Limited, str] = {
    "contexts": "contexts",
    "documents": "documents",
    "characters": "characters of text",
}


class KnowledgeRefused(Exception):
    """Why something cannot be done, in words for an admin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file to be added. `url` is where its message stands, empty if nowhere."""

    name: str
    content_type: str
    data: bytes
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A message to be added, with the jump link that leads to it."""

    name: str
    text: str
    url: str
    author_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """How much a guild keeps, how far its vectors are (None: no embeddings), and what is used
    where: channel (EVERYWHERE for the whole guild) and context."""

    usage: Usage
    embedded: Progress | None
    uses: Sequence[tuple[int, Context]]
    members_search: bool


class KnowledgeAdmin:
    """The actions of /knowledge. `worker` is the caller's to close.

    `run_embedding` is to run in a task for as long as the bot does.
    """

    def __init__(
        self, store: Store, embedders: ChosenEmbedders, *, worker: Worker, fetcher: Fetcher
    ) -> None:
        self._store = store
        self._embedders = embedders
        self._contexts = store.knowledge.contexts
        self._documents = store.knowledge.documents
        self._retriever = store.knowledge.retriever(embedders)
        self._embedding = store.knowledge.embedding(embedders)
        self._worker = worker
        self._fetcher = fetcher

    async def run_embedding(self) -> None:
        """Make vectors for what has none yet, forever."""
        while True:
            try:
                await self._embedding.run()
            except StoreError as error:
                log.error("Knowledge is not embedded for now: %s", error)
                await asyncio.sleep(_AFTER_TROUBLE)

    async def close(self) -> None:
        """Release the connections to embeddings endpoints."""
        await self._embedders.close()

    def embeddings_changed(self) -> None:
        """Another endpoint makes the vectors from now on."""
        self._embedding.wake()

    async def names(self, guild_id: int) -> Sequence[str]:
        """Names of the guild's contexts."""
        return [context.name for context in await self._contexts.all(guild_id)]

    async def create(self, guild_id: int, name: str, *, by: int) -> Context:
        """Make an empty context. Raises KnowledgeRefused."""
        made = await self._contexts.create(guild_id, name, by)
        match made:
            case Context():
                return made
            case BadName(longest=longest):
                raise KnowledgeRefused(f"The name needs 1 to {longest} characters.")
            case NameTaken(context=context):
                raise KnowledgeRefused(f"There is a context “{context.name}” already.")
            case OverLimit():
                raise KnowledgeRefused(_over_limit(made))

    async def context(self, guild_id: int, name: str) -> Context:
        """The guild's context of that name. Raises KnowledgeRefused."""
        found = await self._contexts.named(guild_id, name)
        if found is None:
            raise KnowledgeRefused("There is no such context here. /knowledge list shows them all.")
        return found

    async def documents(self, guild_id: int, name: str) -> Sequence[Document]:
        """The documents of a context. Raises KnowledgeRefused."""
        return await self._documents.all(await self.context(guild_id, name))

    async def contexts(self, guild_id: int) -> Sequence[tuple[Context, Sequence[Document]]]:
        """The guild's contexts with their documents."""
        return [
            (context, await self._documents.all(context))
            for context in await self._contexts.all(guild_id)
        ]

    async def delete(self, guild_id: int, name: str) -> None:
        """Remove a context with every trace of its documents. Raises KnowledgeRefused."""
        await self._store.knowledge.delete(await self.context(guild_id, name))

    async def remove(self, guild_id: int, name: str, document: str) -> Document:
        """Remove a document, told by its number, its name, or both (see `handle`). Raises
        KnowledgeRefused, also where that fits several."""
        context = await self.context(guild_id, name)
        typed = document.strip()
        meant = [
            one
            for one in await self._documents.all(context)
            if typed in {one.name, handle(one), str(one.id), f"#{one.id}"}
        ]
        match meant:
            case [one]:
                await self._store.knowledge.remove(context, one.id)
                return one
            case []:
                raise KnowledgeRefused("There is no such document in it. Choose one from the list.")
            case _:
                numbers = ", ".join(f"#{one.id}" for one in meant[:_NAMED])
                if len(meant) > _NAMED:
                    numbers += ", …"
                raise KnowledgeRefused(
                    f"“{typed}” fits {len(meant):,} documents: {numbers}. Choose one from the list."
                )

    async def use(
        self, guild_id: int, name: str, *, channel_id: int = EVERYWHERE, also: bool = False
    ) -> Sequence[Context]:
        """Have a channel, or the guild, use a context: instead of what it uses, or `also`. Without
        a name it uses none of its own any more. What it uses then. Raises KnowledgeRefused."""
        wanted = [await self.context(guild_id, name)] if name else []
        if also:
            wanted += [one for place, one in await self.uses(guild_id) if place == channel_id]
        chosen = await self._contexts.authorise(guild_id, [context.id for context in wanted])
        await self._contexts.use(chosen, channel_id)
        return chosen.contexts

    async def uses(self, guild_id: int) -> Sequence[tuple[int, Context]]:
        """What is used where."""
        return await self._contexts.uses(guild_id)

    async def add_file(
        self, context: Context, file: File, *, by: int, progress: Callable[[int, int], None]
    ) -> Document:
        """Keep a file's text. Raises KnowledgeRefused."""
        text = await self._extracted(file.data, name=file.name, content_type=file.content_type)
        return await self._kept(
            context,
            _document(file.name, text, kind="attachment", url=file.url, size=len(file.data), by=by),
            progress,
        )

    async def add_link(
        self, context: Context, url: str, *, by: int, progress: Callable[[int, int], None]
    ) -> Document:
        """Keep a page's text. Raises KnowledgeRefused."""
        try:
            page = await self._fetcher.page(url)
        except FetchFailed as error:
            raise KnowledgeRefused(f"The page cannot be added. {error}") from error
        text = await self._extracted(page.data, name="", content_type=page.content_type)
        title = text.title.strip() or page.url
        return await self._kept(
            context,
            _document(title, text, kind="link", url=page.url, size=len(page.data), by=by),
            progress,
        )

    async def add_message(
        self, context: Context, message: Written, *, by: int, progress: Callable[[int, int], None]
    ) -> Document:
        """Keep a message's words. Raises KnowledgeRefused."""
        if message.author_id in await self._store.opt_outs.of(context.guild_id):
            raise KnowledgeRefused("Its author does not want their messages read to a model.")
        text = Extracted(title="", text=message.text)
        size = len(message.text.encode("utf-8", "replace"))
        document = _document(message.name, text, kind="message", url=message.url, size=size, by=by)
        return await self._kept(context, replace(document, author_id=message.author_id), progress)

    async def search(
        self, guild_id: int, question: str, *, name: str = "", channel_id: int = EVERYWHERE
    ) -> Sequence[Passage]:
        """Passages of one context, or of what a channel uses. Raises KnowledgeRefused."""
        if name:
            context = await self.context(guild_id, name)
            authorised = await self._contexts.authorise(guild_id, [context.id])
        else:
            authorised = await self._contexts.selected(guild_id, channel_id)
        return await self._searched(authorised, question)

    async def overview(self, guild_id: int) -> Overview:
        """How a guild's knowledge stands."""
        return Overview(
            usage=await self._documents.usage(guild_id),
            embedded=await self._embedding.progress(guild_id),
            uses=await self.uses(guild_id),
            members_search=await self.members_search(guild_id),
        )

    async def members_search(self, guild_id: int) -> bool:
        """Whether members may use /knowledge search."""
        return (await self._store.settings.values(guild_id, "")).get(MEMBERS_SEARCH) is True

    async def let_members_search(self, guild_id: int, allowed: bool) -> None:
        """Open or close /knowledge search to members."""
        await self._store.settings.put(guild_id, "", MEMBERS_SEARCH, allowed or None)

    async def nearly_full(self, guild_id: int, *what: Limited) -> str:
        """See `limit_in_words`."""
        return limit_in_words(await self._documents.usage(guild_id), *what)

    async def _searched(self, authorised: AuthorisedContexts, question: str) -> Sequence[Passage]:
        if not authorised.contexts:
            raise KnowledgeRefused("No knowledge is in use in this channel.")
        if not any([await self._documents.all(context) for context in authorised.contexts]):
            raise KnowledgeRefused(NO_DOCUMENTS)
        return await self._retriever.search(authorised, question)

    async def _extracted(self, data: bytes, *, name: str, content_type: str) -> Extracted:
        try:
            return await self._worker.extract(
                data, name=name, content_type=content_type, seconds=_READING_SECONDS
            )
        except JobFailed as error:
            raise KnowledgeRefused(f"Nothing was added. {error}") from error

    async def _kept(
        self, context: Context, new: NewDocument, progress: Callable[[int, int], None]
    ) -> Document:
        kept = await self._documents.add(context, new, progress)
        match kept:
            case Document():
                self._embedding.wake()
                return kept
            case Duplicate(document=present):
                raise KnowledgeRefused(
                    f"“{context.name}” holds this very text already, as “{present.name}”."
                )
            case OverLimit():
                raise KnowledgeRefused(f"Nothing was added. {_over_limit(kept)}")
            case NoText():
                raise KnowledgeRefused("Nothing was added: there is no text in it.")
            case ContextGone():
                raise KnowledgeRefused("Nothing was added: the context was deleted meanwhile.")


def handle(document: Document) -> str:
    """What names a document and no other, in at most 100 characters: number and name."""
    return f"#{document.id} {document.name}"[:_LONGEST_HANDLE].rstrip()


def limit_in_words(usage: Usage, *what: Limited) -> str:
    """A sentence about the nearest of these limits, once that is near; else empty. Without any,
    about those that each document comes nearer to."""
    limits = usage.limits
    every: dict[Limited, tuple[int, int]] = {
        "contexts": (usage.contexts, limits.contexts),
        "documents": (usage.documents, limits.documents),
        "characters": (usage.characters, limits.characters),
    }
    shares: dict[Limited, tuple[int, int]] = {each: every[each] for each in what or _GROWING}
    nearest = max(shares, key=lambda each: shares[each][0] / shares[each][1])
    kept, most = shares[nearest]
    if kept < most * _NEARLY:
        return ""
    return f"This server now keeps {kept:,} of at most {most:,} {_UNITS[nearest]}."


def _document(
    name: str, found: Extracted, *, kind: SourceKind, url: str, size: int, by: int
) -> NewDocument:
    content = found.page_texts or found.text
    return NewDocument(name=name, content=content, kind=kind, url=url, size=size, added_by=by)


def _over_limit(over: OverLimit) -> str:
    if over.what == "contexts":
        return (
            f"A server may keep {over.limit:,} contexts, and this one does. /knowledge delete "
            "makes room."
        )
    return (
        f"A server may keep {over.limit:,} {_UNITS[over.what]}. This one keeps {over.kept:,}, and "
        f"{over.wanted:,} more do not fit. /knowledge remove and /knowledge delete make room."
    )
