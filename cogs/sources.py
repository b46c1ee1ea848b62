"""The line under an answer that names the documents it rests on.

Invariant: a document's name shows as it is, whatever signs it holds, and leads to where it came
from; the line stays short however many there are.
"""

import re
from collections.abc import Sequence

import discord

from cogs.forms import clipped
from cogs.translations.saying import Speaks, tr
from prompt.knowledge import Snippet

MOST = 5
"""Documents that are named; of others their number is told."""

_LONGEST_NAME = 60
_LONGEST_URL = 300
_LINKABLE = re.compile(r"https?://[^\s<>()]+")
_BREAKS_LINKS = re.compile(r"[\[\]()<>\\`@]")


def sources_in_words(sources: Sequence[Snippet], locale: Speaks = None) -> list[str]:
    """The line, if there is anything to name."""
    if not sources:
        return []
    named = [source_link(source.document, source.url) for source in sources[:MOST]]
    more = len(sources) - MOST
    names = ", ".join(named)
    if more > 0:
        names = tr(locale, "{names} and {more} more", names=names, more=more)
    return [tr(locale, "Sources: {names}", names=names)]


def source_link(name: str, url: str) -> str:
    """A document's name as a link to where it came from, or alone where that is no link."""
    # Brackets and the like end a link's words early, and escapes show on some clients.
    plain = " ".join(_BREAKS_LINKS.sub(" ", name).split())
    shown = discord.utils.escape_markdown(clipped(plain or "document", _LONGEST_NAME))
    if len(url) > _LONGEST_URL or not _LINKABLE.fullmatch(url):
        return shown
    return f"[{shown}](<{url}>)"
