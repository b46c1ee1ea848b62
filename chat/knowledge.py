"""Grounds turns in the documents that a guild has chosen for a channel.

Invariant: contexts are authorised once a turn and searched once for its prompt, whatever endpoint
answers in the end and however often the prompt is planned anew. Without an authorised context
nothing is searched at all. What counts as shown to the model is what stood in a prompt that it
answered, as far as that stood there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from chat.denials import only_courteous
from chat.ports import Place
from data.knowledge import AuthorisedContexts, Embedders, Knowledge, Passage
from data.knowledge.terms import query
from prompt.knowledge import Snippet
from prompt.prompt import Prompt
from prompt.values import ToolResult, Turn
from tools.builtin.knowledge import as_result, knowledge_tool
from tools.toolset import Offered

FEW_TERMS = 2
"""A message with fewer content words than this, but with one, is taken for a follow-up."""

_LEAST_SHOWN = 40
"""Characters of a passage that was cut in a tool's result from which on it counts as shown."""
_LONGEST_QUESTION = 2000
_LONGEST_BEFORE = 300

_NO_CONTEXT = "no knowledge is in use here; /knowledge use chooses some"


class Searcher(Protocol):
    """data.knowledge.Retriever."""

    async def search(self, authorised: AuthorisedContexts, question: str) -> Sequence[Passage]:
        """The passages that fit a question best, none where nothing matches."""
        ...


class Grounding:
    """What one turn may read of a guild's knowledge, and what it has read."""

    def __init__(self, authorised: AuthorisedContexts, searcher: Searcher) -> None:
        self._authorised = authorised
        self._searcher = searcher
        self._retrieved: tuple[Snippet, ...] | None = None
        self.question = ""
        """What the prompt's passages were searched for with."""
        self._searched: list[Sequence[Snippet]] = []

    async def snippets(self, dialogue: Sequence[Turn]) -> tuple[Snippet, ...]:
        """What the prompt is to hold for the message that ends `dialogue`, best first. Searched for
        at the first call; later ones get the same."""
        if self._retrieved is None:
            self.question = question_of(dialogue)
            self._retrieved = tuple(await self._search(self.question))
        return self._retrieved

    def shown(self, read: Iterable[Prompt]) -> Sequence[Snippet]:
        """The passages in the prompts that the model answered: those that stood there from the
        first, then what is left of what knowledge_search brought."""
        prompts = [*read]
        held = [snippet for prompt in prompts for snippet in prompt.report.context_snippets]
        results = {
            part.text
            for prompt in prompts
            for item in prompt.exchanges
            for part in item.parts
            if isinstance(part, ToolResult)
        }
        return [*held, *(found for each in self._searched for found in _left(each, results))]

    @property
    def offered(self) -> Offered:
        """knowledge_search over the contexts of this turn, off where there are none."""
        off = "" if self._authorised.contexts else _NO_CONTEXT
        return Offered(tool=knowledge_tool(self._look_up), off=off)

    async def _look_up(self, question: str) -> Sequence[str]:
        found = [replace(one, sought=question) for one in await self._search(question)]
        self._searched.append(found)
        return [snippet.told for snippet in found]

    async def _search(self, question: str) -> Sequence[Snippet]:
        if not self._authorised.contexts or not question:
            return []
        return snippets_of(await self._searcher.search(self._authorised, question))


class Grounder:
    """Authorises contexts for turns. Also the toolset of knowledge_search, for lists of tools."""

    def __init__(
        self,
        knowledge: Knowledge,
        embedders: Embedders | None = None,
        *,
        searcher: Searcher | None = None,
    ) -> None:
        self._contexts = knowledge.contexts
        self._searcher = searcher or knowledge.retriever(embedders)

    async def of(self, place: Place) -> Grounding:
        """The grounding of a turn in `place`: what its channel uses, or a thread's parent."""
        authorised = AuthorisedContexts(guild_id=0)
        if place.guild_id is not None:
            channel_id = place.parent_id or place.channel_id
            authorised = await self._contexts.selected(place.guild_id, channel_id)
        return Grounding(authorised, self._searcher)

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset: with every context that is in use anywhere in the guild."""
        used = {context.id for _, context in await self._contexts.uses(guild_id)}
        authorised = await self._contexts.authorise(guild_id, sorted(used))
        return [Grounding(authorised, self._searcher).offered]


def snippets_of(passages: Iterable[Passage]) -> Sequence[Snippet]:
    """Passages as a prompt takes them."""
    return [
        Snippet(
            document_id=passage.document_id,
            document=passage.document_name,
            url=passage.url,
            page=passage.page,
            text=passage.text,
            likeness=passage.likeness,
        )
        for passage in passages
    ]


def _left(found: Sequence[Snippet], results: Iterable[str]) -> Iterator[Snippet]:
    """What the results show of passages that a call has found, of which they may be cut short."""
    whole = as_result([snippet.told for snippet in found])
    room = max((_in_common(whole, text) for text in results), default=0)
    for snippet in found:
        shown = snippet.told[: max(room, 0)].partition("\n")[2]
        if room >= len(snippet.told):
            yield snippet
        elif len(shown) >= _LEAST_SHOWN:
            yield replace(snippet, text=shown)
        room -= len(as_result([snippet.told, ""]))


def _in_common(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def question_of(dialogue: Sequence[Turn]) -> str:
    """What to look for: the message that is to be answered; a greeting looks for nothing. One with
    a single content word, such as "and its power?", leans on the same member's question before it.
    """
    if not dialogue or dialogue[-1].role != "user":
        return ""
    asked = dialogue[-1]
    text = asked.text[:_LONGEST_QUESTION]
    if only_courteous(text):
        return ""
    if not 0 < _content_words(text) < FEW_TERMS:
        return text
    earlier = (
        turn.text[:_LONGEST_BEFORE]
        for turn in reversed(dialogue[:-1])
        if turn.role == "user" and turn.author == asked.author
    )
    return f"{text}\n{next(earlier, '')}".strip()


def _content_words(text: str) -> int:
    terms = query(text).terms
    return len(terms.split(" OR ")) if terms else 0
