"""Cuts a document's text into overlapping chunks of equal length.

Invariant: pure and deterministic. Every token is in a chunk, and each chunk but the first begins
`OVERLAP` tokens before the one before it ends. The length rule comes before all others: a chunk
may begin in mid-sentence, and the overlap keeps what a cut would tear apart.

A token is one word of at most 24 characters, one character of a script that is written without
blank space, or one symbol, repeated or not. Vocabularies of models differ and would have to be
downloaded; 400 tokens of this kind are between 400 and 700 of theirs.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from data.knowledge.scripts import UNSPACED

SIZE = 400
"""Tokens a chunk."""
OVERLAP = 50
"""Tokens that a chunk shares with the one before."""
FLOOR = 1
"""Tokens that a last chunk must add; a smaller rest belongs to the chunk before."""

_TOKEN = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])\w){{1,24}}|(\S)\1{{0,23}}")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff]")
_BLANK_LINES = re.compile(r"[ \t]*\n(?:[ \t]*\n)+")
_PADDING = re.compile(r"[ \t]{9,}|[ \t]+(?=\n)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Tokens `start` to `end` of a document: its text from character `at` on."""

    ordinal: int
    start: int
    end: int
    at: int
    text: str
    page: int | None


def clean(text: str) -> str:
    """`text` in Unicode's composed form (NFC), with plain line ends and without control characters.

    Padding of more than eight blanks, blank space before a line's end and all but one of several
    blank lines go: tables and pages of PDFs are full of them.
    """
    # A file can hold half of a surrogate pair, which the database cannot.
    text = text.encode("utf-8", "replace").decode("utf-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n")
    text = _CONTROLS.sub("", unicodedata.normalize("NFC", text))
    return _BLANK_LINES.sub("\n\n", _PADDING.sub(_shorter, text)).strip()


def spans(count: int) -> Sequence[tuple[int, int]]:
    """The chunks of a text of `count` tokens, as (start, end) with the end outside.

    >>> spans(1000)
    [(0, 400), (350, 750), (700, 1000)]
    """
    found: list[tuple[int, int]] = []
    start = 0
    while count and (not found or count - found[-1][1] >= FLOOR):
        found.append((start, min(start + SIZE, count)))
        start += SIZE - OVERLAP
    return found


def chunks(content: str | Sequence[str]) -> tuple[str, Sequence[Chunk]]:
    """The clean text of a document, whole or by pages, and its chunks; none without a token."""
    paged = not isinstance(content, str)
    pages = [clean(page) for page in ([content] if isinstance(content, str) else content)]
    text = "\n\n".join(pages)
    begins = list(accumulate((len(page) + 2 for page in pages[:-1]), initial=0))
    tokens = [match.span() for match in _TOKEN.finditer(text)]
    found: list[Chunk] = []
    for ordinal, (start, end) in enumerate(spans(len(tokens))):
        at = tokens[start][0]
        found.append(
            Chunk(
                ordinal=ordinal,
                start=start,
                end=end,
                at=at,
                text=text[at : tokens[end - 1][1]],
                page=bisect_right(begins, at) if paged else None,
            )
        )
    return text, found


def _shorter(padding: re.Match[str]) -> str:
    return " " if padding.end() < len(padding.string) and padding[0][8:] else ""
