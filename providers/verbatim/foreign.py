"""Finds calls that stand in foreign text: a tool result, a page, a member's message.

Invariant: looks for a call at every place where one could be copied from, code, quotes and
escaped JSON included. Here a call too many costs a refused copy, a call too few an attack.
"""

import re
from collections.abc import Iterator, Sequence

from prompt.surface import ToolSurface
from providers.base import CallKey
from providers.verbatim.arguments import Bound, bind_call
from providers.verbatim.bare import read_objects
from providers.verbatim.candidate import Candidate, Setting
from providers.verbatim.dialects.registry import GRAMMAR
from providers.verbatim.identity import call_key
from providers.verbatim.names import NameIndex
from providers.verbatim.payloads import read_named, read_wrapper
from providers.verbatim.scanner import Scanner, Wait
from providers.verbatim.sites import Piece, Site

_ESCAPED = re.compile(r"\\(?:([\"\\/'])|n|t|r)")
_PLACES = re.compile(r"(?<![\w.\-])[^\W\d][\w.\-]{0,127}(?=\s?[({])|\{|\[|<|[^\x00-\x7f]")
_WINDOW = 65_536
_MOST_PLACES = 20_000


def find_calls(text: str, surface: ToolSurface) -> frozenset[CallKey]:
    """The keys of all calls of offered tools that stand in `text`, wherever."""
    names = NameIndex(surface)
    found: set[CallKey] = set()
    for form in dict.fromkeys((text, _unescaped(text), _unescaped(_unescaped(text)))):
        for site in _sites(form, names):
            spec = names.resolve(site.name)
            bound = bind_call(spec, site.arguments) if spec else None
            if spec and isinstance(bound, Bound):
                found.add(call_key(spec.name, bound.arguments))
    return frozenset(found)


def _unescaped(text: str) -> str:
    """`text` as it reads inside a JSON string."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: match.group(1) or "\n", text)


def _sites(text: str, names: NameIndex) -> Iterator[Site]:
    after = 0
    for count, place in enumerate(_PLACES.finditer(text)):
        if count >= _MOST_PLACES:
            return
        if place.start() < after:
            continue
        window = text[place.start() : place.start() + _WINDOW]
        sink = _Sites()
        scan = Scanner()
        scan.append(window)
        scan.ended = True
        c = Candidate(scan, names, sink, start=0, setting=Setting(), limit=_WINDOW)
        end = _answer(_read(c, place.group(), names))
        if end is not None:
            c.settle(end)
            yield from sink.sites
            after = place.start() + end


def _read(c: Candidate, place: str, names: NameIndex) -> Wait[int | None]:
    if place in ("{", "["):
        return (yield from read_objects(c, 0, GRAMMAR.closing))
    if place[0].isalpha() or place[0] == "_":
        return (yield from read_named(c, GRAMMAR, 0)) if names.resolve(place) else None
    marker, end = yield from c.scan.word(0, GRAMMAR.openers)
    if marker in GRAMMAR.wrappers:
        return (yield from read_wrapper(c, GRAMMAR, GRAMMAR.wrappers[marker], end))
    if marker in GRAMMAR.calls:
        return (yield from GRAMMAR.calls[marker](c, GRAMMAR, 0, end))
    return None


def _answer(scan: Wait[int | None]) -> int | None:
    """Run a scan over text that is all there."""
    while True:
        try:
            next(scan)
        except StopIteration as stop:
            return stop.value


class _Sites:
    def __init__(self) -> None:
        self.sites: list[Site] = []

    def started(self, name: str) -> None:
        """Only whole calls count."""

    def channel(self, ends: Sequence[str], *, final: bool) -> None:
        """Foreign text has no channels."""

    def piece(self, piece: Piece) -> None:
        if isinstance(piece, Site):
            self.sites.append(piece)
