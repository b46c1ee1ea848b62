"""What /knowledge shows, in words.

Invariant: names that members gave, and words of documents, are shown as they are: no mention and no
markdown in them takes effect.
"""

from collections.abc import Sequence

import discord

from chat.knowledge_admin import Overview
from cogs.forms import clipped
from cogs.sources import source_link
from data.knowledge import EVERYWHERE, Context, Document, Passage

_LONGEST_NAME = 80
_LONGEST_PASSAGE = 350
_LISTED = 20


def counted(number: int, unit: str) -> str:
    """A number of things whose name takes an s."""
    return f"{number:,} {unit}" if number == 1 else f"{number:,} {unit}s"


def quoted(name: str) -> str:
    """A name in quotation marks."""
    return f"“{discord.utils.escape_markdown(clipped(' '.join(name.split()), _LONGEST_NAME))}”"


def contexts_in_words(
    found: Sequence[tuple[Context, Sequence[Document]]], uses: Sequence[tuple[int, Context]]
) -> str:
    """A line for each context: how much it holds, and where it is used."""
    if not found:
        return "There is no knowledge here yet. /knowledge create makes a context for documents."
    lines: list[str] = []
    for context, documents in found:
        places = [_place(channel) for channel, used in uses if used.id == context.id]
        where = f"used {', '.join(places)}" if places else "not in use (/knowledge use)"
        characters = sum(document.characters for document in documents)
        lines.append(
            f"- {quoted(context.name)}: {counted(len(documents), 'document')}, "
            f"{counted(characters, 'character')}; "
            f"{where}"
        )
    return "\n".join(lines)


def documents_in_words(context: str, documents: Sequence[Document]) -> str:
    """The documents of a context, each with where it came from."""
    if not documents:
        return f"{quoted(context)} is empty. /knowledge add puts a document into it."
    lines = [f"{quoted(context)} holds {counted(len(documents), 'document')}:"]
    lines += [
        f"- {source_link(document.name, document.url)} ({document.kind}, "
        f"{counted(document.characters, 'character')}, {counted(document.chunks, 'piece')})"
        for document in documents[:_LISTED]
    ]
    if len(documents) > _LISTED:
        lines.append(f"- and {len(documents) - _LISTED:,} more")
    return "\n".join(lines)


def overview_in_words(overview: Overview) -> str:
    """How much of its limits a server uses, how far its vectors are, and what is used where."""
    usage, limits = overview.usage, overview.usage.limits
    lines = [
        f"Contexts: {usage.contexts:,} of {limits.contexts:,}",
        f"Documents: {usage.documents:,} of {limits.documents:,}",
        f"Characters of text: {usage.characters:,} of {limits.characters:,}",
    ]
    embedded = overview.embedded
    if embedded is None:
        lines.append("Search: by words. /knowledge embeddings adds search by sense.")
    elif embedded.done < embedded.total:
        lines.append(
            f"Search: by words and by sense; {embedded.done:,} of {embedded.total:,} pieces are "
            "embedded, the others follow in the background."
        )
    else:
        lines.append("Search: by words and by sense; all pieces are embedded.")
    places = dict.fromkeys(channel for channel, _ in overview.uses)
    for place in places:
        names = [quoted(context.name) for channel, context in overview.uses if channel == place]
        lines.append(f"Used {_place(place)}: {', '.join(names)}")
    if not places:
        lines.append("Nothing is in use yet. /knowledge use chooses a context.")
    members = "may" if overview.members_search else "may not"
    lines.append(f"Members {members} use /knowledge search (/knowledge access).")
    return "\n".join(lines)


def used_in_words(channel_id: int, used: Sequence[Context]) -> str:
    """What a channel or the server uses from now on."""
    where = _place(channel_id)
    if used:
        names = ", ".join(quoted(context.name) for context in used)
        return f"Used {where} from the next answer on: {names}."
    if channel_id == EVERYWHERE:
        return "Nothing is used on the whole server any more; choices of channels stay."
    return f"Nothing of its own is used {where} any more; what the whole server uses applies."


def passages_in_words(passages: Sequence[Passage]) -> str:
    """What a search found, the best first."""
    if not passages:
        return "Nothing matches. Other words may."
    lines: list[str] = []
    for passage in passages:
        page = f", page {passage.page}" if passage.page is not None else ""
        words = " ".join(passage.text.split())
        shown = discord.utils.escape_markdown(clipped(words, _LONGEST_PASSAGE))
        lines.append(f"**{source_link(passage.document_name, passage.url)}**{page}\n{shown}")
    return "\n\n".join(lines)


def _place(channel_id: int) -> str:
    return "on the whole server" if channel_id == EVERYWHERE else f"in <#{channel_id}>"
