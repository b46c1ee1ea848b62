"""What /knowledge shows, in words.

Invariant: names that members gave, and words of documents, are shown as they are: no mention and no
markdown in them takes effect.
"""

from collections.abc import Sequence

import discord

from chat.knowledge_admin import Overview
from cogs.forms import clipped
from cogs.sources import source_link
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold, tr, tr_count
from data.knowledge import EVERYWHERE, Context, Document, Passage

_LONGEST_NAME = 80
_LONGEST_PASSAGE = 350
_LISTED = 20
_LONGEST_CHOICE = 100
_MB = 1024 * 1024


def characters_in_words(count: int, locale: Speaks) -> str:
    """A number of characters."""
    return tr_count(
        locale, "{number} character", "{number} characters",
        count=count, number=number(locale, count),
    )  # fmt: skip


def pieces_in_words(count: int, locale: Speaks) -> str:
    """A number of the pieces that documents are searched in."""
    return tr_count(
        locale, "{number} piece", "{number} pieces", count=count, number=number(locale, count)
    )


def quoted(name: str, locale: Speaks) -> str:
    """A name in quotation marks."""
    shown = discord.utils.escape_markdown(clipped(" ".join(name.split()), _LONGEST_NAME))
    return tr(locale, "“{name}”", name=shown)


def contexts_in_words(
    found: Sequence[tuple[Context, Sequence[Document]]],
    uses: Sequence[tuple[int, Context]],
    locale: Speaks,
) -> str:
    """A line for each context: how much it holds, and where it is used."""
    if not found:
        return tr(
            locale,
            "There is no knowledge here yet. `/knowledge create` makes a context for documents.",
        )
    lines: list[str] = []
    for context, documents in found:
        places = [_place(channel, locale) for channel, used in uses if used.id == context.id]
        where = (
            tr(locale, "used {places}", places=", ".join(places))
            if places
            else tr(locale, "not in use (`/knowledge use`)")
        )
        held = tr_count(
            locale, "{number} document", "{number} documents",
            count=len(documents), number=number(locale, len(documents)),
        )  # fmt: skip
        length = characters_in_words(sum(each.characters for each in documents), locale)
        lines.append(f"- {quoted(context.name, locale)}: {held}, {length}; {where}")
    return "\n".join(lines)


def choice_of(document: Document, locale: Speaks) -> str:
    """A document as a choice that tells it from others of its name."""
    about = f" ({_size(document.size, locale)}, {document.at:%Y-%m-%d})"
    number_of = f"#{document.id} "
    room = _LONGEST_CHOICE - len(number_of) - len(about)
    return f"{number_of}{clipped(document.name, room)}{about}"


def documents_in_words(
    context: str, documents: Sequence[Document], page: int, locale: Speaks
) -> str:
    """A page of a context's documents, the first or the last if there is none of that number; each
    with its number, where it came from, and when."""
    name = quoted(context, locale)
    if not documents:
        return tr(
            locale, "{context} is empty. `/knowledge add` puts a document into it.", context=name
        )
    lines = [
        tr_count(
            locale,
            "{context} holds {number} document:",
            "{context} holds {number} documents:",
            count=len(documents),
            number=number(locale, len(documents)),
            context=name,
        )
    ]
    pages = -(-len(documents) // _LISTED)
    page = min(max(page, 1), pages)
    for document in documents[(page - 1) * _LISTED : page * _LISTED]:
        about = (
            retold(locale, document.kind),
            discord.utils.format_dt(document.at, "d"),
            _size(document.size, locale),
            characters_in_words(document.characters, locale),
            pieces_in_words(document.chunks, locale),
        )
        link = source_link(document.name, document.url)
        lines.append(f"- `#{document.id}` {link} ({', '.join(about)})")
    if pages > 1:
        lines.append(
            tr(
                locale,
                "Page {page} of {pages}; the option `page` shows another.",
                page=page,
                pages=pages,
            )
        )
    return "\n".join(lines)


def overview_in_words(overview: Overview, locale: Speaks) -> str:
    """How much of its limits a server uses, how far its vectors are, and what is used where."""
    usage, limits = overview.usage, overview.usage.limits
    shares = {
        tr(locale, "Contexts"): (usage.contexts, limits.contexts),
        tr(locale, "Documents"): (usage.documents, limits.documents),
        tr(locale, "Characters of text"): (usage.characters, limits.characters),
    }
    lines = [
        tr(locale, "{what}: {kept} of {most}", what=what, kept=number(locale, kept),
           most=number(locale, most))
        for what, (kept, most) in shares.items()
    ]  # fmt: skip
    embedded = overview.embedded
    if embedded is None:
        lines.append(tr(locale, "Search: by words. `/knowledge embeddings` adds search by sense."))
    elif embedded.done < embedded.total:
        lines.append(
            tr(
                locale,
                "Search: by words and by sense; {done} of {total} pieces are embedded, the others "
                "follow in the background.",
                done=number(locale, embedded.done),
                total=number(locale, embedded.total),
            )
        )
    else:
        lines.append(tr(locale, "Search: by words and by sense; all pieces are embedded."))
    places = dict.fromkeys(channel for channel, _ in overview.uses)
    for place in places:
        names = [
            quoted(context.name, locale) for channel, context in overview.uses if channel == place
        ]
        lines.append(
            tr(locale, "Used {where}: {names}", where=_place(place, locale), names=", ".join(names))
        )
    if not places:
        lines.append(tr(locale, "Nothing is in use yet. `/knowledge use` chooses a context."))
    lines.append(
        tr(locale, "Members may use `/knowledge search` (`/knowledge access`).")
        if overview.members_search
        else tr(locale, "Members may not use `/knowledge search` (`/knowledge access`).")
    )
    return "\n".join(lines)


def used_in_words(channel_id: int, used: Sequence[Context], locale: Speaks) -> str:
    """What a channel or the server uses from now on."""
    where = _place(channel_id, locale)
    if used:
        names = ", ".join(quoted(context.name, locale) for context in used)
        return tr(
            locale, "Used {where} from the next answer on: {names}.", where=where, names=names
        )
    if channel_id == EVERYWHERE:
        return tr(locale, "Nothing is used on the whole server any more; choices of channels stay.")
    return tr(
        locale,
        "Nothing of its own is used {where} any more; what the whole server uses applies.",
        where=where,
    )


def passages_in_words(passages: Sequence[Passage], locale: Speaks) -> str:
    """What a search found, the best first."""
    if not passages:
        return tr(locale, "Nothing matches. Other words may.")
    lines: list[str] = []
    for passage in passages:
        name = f"**{source_link(passage.document_name, passage.url)}**"
        if passage.page is not None:
            name = tr(locale, "{document}, page {page}", document=name, page=passage.page)
        words = " ".join(passage.text.split())
        shown = discord.utils.escape_markdown(clipped(words, _LONGEST_PASSAGE))
        lines.append(f"{name}\n{shown}")
    return "\n\n".join(lines)


def _size(size: int, locale: Speaks) -> str:
    if size < _MB:
        return tr(locale, "{number} KB", number=number(locale, max(size / 1024, 0.1), 1))
    return tr(locale, "{number} MB", number=number(locale, size / _MB, 1))


def _place(channel_id: int, locale: Speaks) -> str:
    if channel_id == EVERYWHERE:
        return tr(locale, "on the whole server")
    return tr(locale, "in {channel}", channel=f"<#{channel_id}>")
