"""Splits a reply that grows into messages that Discord takes.

Invariant: the pieces' sources, joined, are the text; every piece has words and is at most
`limit` code points long, with the markers that close and reopen a code fence and the header of a
table that goes on. A piece that
enough further text follows is frozen: it stays as it is, however the text grows.

Where a piece ends depends only on the window of text from its start to `LOOKAHEAD` past the
limit, so growing in steps and splitting at once give the same frozen pieces.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

MESSAGE_LIMIT = 2000
"""Code points in one message's content."""

LOOKAHEAD = 512
"""How far past the limit a window reaches. A link longer than this may be cut."""

_SMALLEST_LIMIT = 100
"""Two markers of eight backticks and a language of 32 characters leave room for words."""

# A fence opens a line, and closes at the next run of backticks that is as long, wherever that
# stands: so does Discord's renderer. Markers over eight backticks are taken as words.
_OPENER = re.compile(
    r"^(>[ \t])?[ \t]*(`{3,8})(?!`)(?:[ \t]*([A-Za-z0-9_+\-.#]{1,32})?[ \t]*(?:\n|\Z))?",
    re.MULTILINE,
)
_UNQUOTED = re.compile(r"\n(?=[^>])")
"""Ends a quote, and the fence that was opened in it."""

_TORN = re.compile(
    r"""
      ^[ \t]*(?:[-*+]|\d{1,9}[.)]|>|\#{1,6}|-\#)[ \t]*\Z  # a marker without its text
    | ^\#{1,3}[ \t][^\n]*\s*\Z                           # a heading without its section
    """,
    re.VERBOSE | re.MULTILINE,
)
"""Must not end a piece."""

# What a reader sees as one thing. Bounded, so that a window costs no more than it is long.
_ATOM = re.compile(
    r"""
      \[[^\[\]\n]{0,300}\]\([^()\s]{0,500}\)?          # masked link
    | <(?:@[!&]?|\#|a?:\w{1,32}:|t:|id:)[^<>\s]{1,40}> # mention, custom emoji, time
    | <?https?://\S+                                   # bare link
    | (?<!`)`[^`\n]{1,300}`(?!`)                       # inline code
    | \|\|[^|\n]{1,300}\|\|                            # spoiler
    | \*\*[^*\n]{1,300}\*\*                            # bold
    | `{2,}                                            # a run of backticks
    """,
    re.VERBOSE,
)

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n")
_LINE_END = re.compile(r"\n")
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]*_]*(?=\s)|[。！？]")
_BLANK = re.compile(r"\s*")
_WORD_END = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Fence:
    """A code fence that is open."""

    marker: str
    language: str
    quote: str
    """What its lines begin with, where it stands in a quote."""
    header: str = ""
    """The first lines of a table, which stand above its rows in each piece."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A marker from `begin` to `end`, and the fence that is open after it."""

    begin: int
    end: int
    fence: _Fence | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One message.

    `source` is its share of the text. `body` is that share without the blank space at an end
    that lies outside a fence; `opened` and `closed` are markers that were added.
    """

    source: str
    body: str
    opened: str
    closed: str

    @property
    def content(self) -> str:
        """What is sent."""
        return f"{self.opened}{self.body}{self.closed}"


class Splitter:
    """Splits one text again and again while it grows."""

    def __init__(self, limit: int = MESSAGE_LIMIT) -> None:
        if limit < _SMALLEST_LIMIT:
            raise ValueError(f"a limit of {limit} leaves no room between fence markers")
        self._limit = limit
        self._frozen: list[Piece] = []
        self._source = ""
        self._fence: _Fence | None = None

    def split(self, text: str) -> list[Piece]:
        """The pieces of `text`, none for blank text. What is frozen is kept if `text` extends
        it; otherwise everything is split anew."""
        if not text.startswith(self._source):
            self._frozen, self._source, self._fence = [], "", None
        pieces = list(self._frozen)
        start, fence = len(self._source), self._fence
        while _skip_blank(text, start) < len(text):
            piece, fence = _next_piece(text, start, fence, self._limit)
            pieces.append(piece)
            if len(text) - start >= self._limit + LOOKAHEAD:
                self._frozen.append(piece)
                self._source += piece.source
                self._fence = fence
            start += len(piece.source)
        return pieces


def split(text: str, limit: int = MESSAGE_LIMIT) -> list[str]:
    """The contents of the messages that hold `text`."""
    return [piece.content for piece in Splitter(limit).split(text)]


def fences_in(text: str) -> Iterator[tuple[int, int]]:
    """Where code fences begin and end in `text`, markers included."""
    begin: int | None = None
    for change in _changes(text, None):
        if change.fence is not None:
            begin = change.begin
        elif begin is not None:
            yield begin, change.end
            begin = None
    if begin is not None:
        yield begin, len(text)


def _skip_blank(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _next_piece(
    text: str, start: int, fence: _Fence | None, limit: int
) -> tuple[Piece, _Fence | None]:
    """The piece that starts at `start`, and the fence that is open after it."""
    first = start if fence else _skip_blank(text, start)
    torn = fence.quote if fence and first and text[first - 1] != "\n" else ""
    window = _Window(text[first : first + limit + LOOKAHEAD], fence, limit, torn=torn)
    rest = len(text[first : first + limit + LOOKAHEAD].rstrip())
    if _skip_blank(text, first + rest) == len(text) and window.fits(rest):
        cut = rest
    else:
        cut = window.best_cut()
    after = window.fence_at(cut)
    end = first + cut
    blank = _skip_blank(text, end)
    if after is None or blank == len(text):
        end = blank
    return window.piece(text[start:end], cut), after


class _Window:
    """The stretch of text in which one piece must end. Positions count from its start."""

    def __init__(self, text: str, fence: _Fence | None, limit: int, *, torn: str) -> None:
        """`torn` is what its first line lacks because it was begun in the piece before."""
        self._text = text
        self._torn = torn
        self._before = fence
        self._limit = limit
        self._changes = list(_changes(text, fence))
        self._atoms = [match.span() for match in _ATOM.finditer(text)]

    def fence_at(self, position: int) -> _Fence | None:
        """The fence that is open for what follows `position`."""
        fence = self._before
        for change in self._changes:
            if position <= change.begin or (change.fence is None and position < change.end):
                break
            fence = change.fence
            header = self._header_of(change)
            if fence is not None and header and position >= change.end + len(header):
                fence = replace(fence, header=header)
        return fence

    def _header_of(self, change: _Change) -> str:
        """The header of the table that a fence opens with, if that is to be repeated."""
        if change.fence is None:
            return ""
        quote = re.escape(change.fence.quote)
        found = re.compile(rf"{quote}[^\n]+\n{quote}-+(?:\+-+)+\n").match(self._text, change.end)
        return found[0] if found and len(found[0]) <= self._limit // 4 else ""

    def piece(self, source: str, end: int) -> Piece:
        """The piece whose body ends at `end`."""
        body, fence, closed = self._text[:end], self.fence_at(end), ""
        if fence is None:
            body = body.rstrip()
        else:
            closer = f"{fence.quote}{fence.marker}"
            closed = closer if body.endswith("\n") else f"\n{closer}"
        before = self._before
        opened = (
            f"{before.quote}{before.marker}{before.language}\n{before.header}{self._torn}"
            if before
            else ""
        )
        return Piece(source=source, body=body, opened=opened, closed=closed)

    def fits(self, end: int) -> bool:
        """Whether that piece is within the limit."""
        return len(self.piece("", end).content) <= self._limit

    def best_cut(self) -> int:
        """The last position of the best kind at which a piece may end."""
        half = self._limit // 2
        for least in (half, 0):
            for cuts in self._kinds():
                cut = self._last(cuts, lambda cut, least=least: cut > least and self._is_soft(cut))
                if cut is not None:
                    return self._with_closer(cut)
        everywhere = range(1, self._limit + 1)
        cut = self._last(everywhere, lambda cut: cut > half and self._is_whole(cut))
        if cut is None:
            cut = self._last(everywhere, lambda cut: not _inside_cluster(self._text, cut))
        return self._with_closer(cut or self._last(everywhere, lambda cut: True) or 1)

    def _last(self, cuts: Iterable[int], allowed: Callable[[int], bool]) -> int | None:
        for cut in sorted(cuts, reverse=True):
            if cut <= len(self._text) and allowed(cut) and self.fits(cut):
                return cut
        return None

    def _kinds(self) -> Iterator[list[int]]:
        """Cuts by falling quality: paragraph, line, line of code, sentence, word."""
        text, stop = self._text, self._limit + 1
        openers = [change.begin for change in self._changes if change.fence]
        paragraphs = [match.start() for match in _PARAGRAPH_END.finditer(text, 0, stop)]
        yield self._in_prose([*paragraphs, *openers])
        lines = [match.start() for match in _LINE_END.finditer(text, 0, stop)]
        yield self._in_prose(lines)
        yield [line + 1 for line in lines if self.fence_at(line + 1)]
        yield self._in_prose(match.end() for match in _SENTENCE.finditer(text, 0, stop))
        yield [match.start() for match in _WORD_END.finditer(text, 0, stop)]

    def _in_prose(self, cuts: Iterable[int]) -> list[int]:
        return [cut for cut in cuts if self.fence_at(cut) is None]

    def _is_soft(self, cut: int) -> bool:
        """Whether a cut here leaves atoms whole, no marker or heading without what belongs to it
        and no code block without code."""
        if not self._is_whole(cut) or _inside_cluster(self._text, _skip_blank(self._text, cut)):
            return False
        if self.fence_at(cut) is None:
            line = self._text.rfind("\n", 0, len(self._text[:cut].rstrip())) + 1
            return _TORN.match(self._text[line:cut]) is None
        opened = max(
            (c.end + len(self._header_of(c)) for c in self._changes if c.fence and c.begin < cut),
            default=0,
        )
        return bool(self._text[opened:cut].strip())

    def _is_whole(self, cut: int) -> bool:
        inside = any(begin < cut < end for begin, end in self._atoms)
        return not inside and not _inside_cluster(self._text, cut)

    def _with_closer(self, cut: int) -> int:
        """`cut`, moved past the marker that closes the open fence if only that is left of it."""
        if self.fence_at(cut) is None:
            return cut
        for change in self._changes:
            if change.begin >= cut and change.fence is None:
                alone = not self._text[cut : change.begin].strip()
                return change.end if alone and self.fits(change.end) else cut
        return cut


def _changes(text: str, fence: _Fence | None) -> Iterator[_Change]:
    """The markers in `text` that open and close fences, in order."""
    position = 0
    while True:
        if fence is None:
            opener = _OPENER.search(text, position)
            if opener is None:
                return
            fence = _Fence(opener[2], opener[3] or "", opener[1] or "")
            position = opener.end()
            yield _Change(opener.start(), position, fence)
        else:
            end = re.compile(f"`{{{len(fence.marker)},}}").search(text, position)
            if fence.quote:
                # One more, which tells whether the marker itself still stands in the quote.
                left = _UNQUOTED.search(
                    text, max(0, position - 1), end.start() + 1 if end else len(text)
                )
                end = left or end
            if end is None:
                return
            fence, position = None, end.end()
            yield _Change(end.start(), position, None)


def _inside_cluster(text: str, position: int) -> bool:
    """Whether a cut at `position` would part what is drawn as one character."""
    if not 0 < position < len(text):
        return False
    before, after = text[position - 1], text[position]
    if _extends(after) or before == "\u200d" or (before, after) == ("\r", "\n"):
        return True
    if not (_is_regional(before) and _is_regional(after)):
        return False
    flags = 0
    while flags < position and _is_regional(text[position - 1 - flags]):
        flags += 1
    return flags % 2 == 1


def _extends(character: str) -> bool:
    """Combining marks and variation selectors, joiners, skin tones, tags."""
    return (
        unicodedata.category(character).startswith("M")
        or character in "\u200c\u200d"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
