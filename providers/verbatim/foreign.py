"""Finds calls that stand in foreign text: a tool result, a page, a member's message.

Invariant: looks for a call at every place where one could be copied from, code, quotes and
escaped JSON included. Here a call too many costs a refused copy, a call too few an attack.
"""

import re
from collections.abc import Iterator

from prompt.surface import ToolSurface
from prompt.values import ToolCall
from providers.base import CallKey
from providers.verbatim.arguments import Bound, bind_call
from providers.verbatim.bare import read_objects
from providers.verbatim.candidate import Candidate, Setting
from providers.verbatim.dialects.registry import GRAMMAR
from providers.verbatim.dialects.tool_tags import ToolTags
from providers.verbatim.identity import call_key
from providers.verbatim.names import NameIndex
from providers.verbatim.parser import VerbatimParser
from providers.verbatim.payloads import parse_parentheses, read_named, read_wrapper
from providers.verbatim.scanner import Scanner, Wait
from providers.verbatim.sites import Held, Piece, Site

_ESCAPED = re.compile(r"\\(?:([\"\\/'])|n|t|r)")
_PLACES = re.compile(
    r"(?<![\w.\-])(?:[^\W\d][\w.\-:]{0,127}(?=[`\s]{0,3}[({<\[])|Action:|call:|functools\[)"
    r"|\{|\[|<|>>>|\]<"
)
# A call that is longer than this is no copy that a model would make by heart.
_WINDOW = 65_536
# Text made of nothing but beginnings of calls: after so many characters in vain, look less far.
_PATIENCE = 1_000_000
_SHORT_WINDOW = 512
_MOST_PLACES = 20_000


def find_calls(text: str, surface: ToolSurface) -> frozenset[CallKey]:
    """The keys of all calls of offered tools that stand in `text`, wherever."""
    names = NameIndex(surface)
    found: set[CallKey] = set()
    for form in dict.fromkeys((text, _unescaped(text), _unescaped(_unescaped(text)))):
        found.update(_at_every_place(form, names))
        found.update(_as_a_response(form, surface))
    return frozenset(found)


def _as_a_response(text: str, surface: ToolSurface) -> Iterator[CallKey]:
    """What would run if the model said the whole of it."""
    parser = VerbatimParser(surface)
    for event in (*parser.feed(text), *parser.close("stop")):
        if isinstance(event, ToolCall):
            yield call_key(event.name, event.arguments)


def _unescaped(text: str) -> str:
    """`text` as it reads inside a JSON string."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: match.group(1) or "\n", text)


def _at_every_place(text: str, names: NameIndex) -> Iterator[CallKey]:
    """What would run if the model copied from any place at which a call can begin."""
    tags = ToolTags(names.specs)
    after = 0
    patience = _PATIENCE
    for count, place in enumerate(_PLACES.finditer(text)):
        if count >= _MOST_PLACES:
            return
        if place.start() < after:
            continue
        size = _WINDOW if patience > 0 else _SHORT_WINDOW
        scan = Scanner()
        scan.append(text[place.start() : place.start() + size])
        scan.ended = True
        held = Held()
        c = Candidate(scan, names, held, start=0, setting=Setting(), limit=_WINDOW)
        end = _answer(_read(c, tags))
        if end is not None:
            c.settle(end)
        keys = [key for piece in held.pieces for key in _bound(piece, names)]
        yield from keys
        if keys and end is not None:
            after = place.start() + end
        else:
            patience -= scan.end


def _bound(piece: Piece, names: NameIndex) -> Iterator[CallKey]:
    spec = names.resolve(piece.name) if isinstance(piece, Site) else None
    outcome = bind_call(spec, piece.arguments) if spec and isinstance(piece, Site) else None
    if spec and isinstance(outcome, Bound):
        yield call_key(spec.name, outcome.arguments)


def _read(c: Candidate, tags: ToolTags) -> Wait[int | None]:
    line, end = yield from c.scan.word(0, GRAMMAR.line_words)
    if line:
        return (yield from GRAMMAR.lines[line](c, GRAMMAR, 0, end))
    marker, end = yield from c.scan.word(0, GRAMMAR.openers)
    if marker in GRAMMAR.wrappers:
        return (yield from read_wrapper(c, GRAMMAR, GRAMMAR.wrappers[marker], end))
    if marker in GRAMMAR.calls:
        return (yield from GRAMMAR.calls[marker](c, GRAMMAR, 0, end))
    tag, end = yield from c.scan.word(0, tags.openers)
    if tag:
        return (yield from tags.read(c, tag, end))
    if c.scan.at(0) in ("{", "["):
        return (yield from read_objects(c, 0, GRAMMAR.closing))
    name_end = yield from c.name(0)
    name = c.scan.slice(0, name_end)
    if c.names.resolve(name) is None:
        return None
    if c.scan.slice(name_end, name_end + 2) == "`(":
        frame = yield from c.scan.value(name_end + 1)
        inner = c.scan.slice(name_end + 2, frame.end - 1)
        c.propose(name, parse_parentheses(inner), 0, frame.end)
        return frame.end
    return (yield from read_named(c, GRAMMAR, 0))


def _answer(scan: Wait[int | None]) -> int | None:
    """Run a scan over text that is all there."""
    while True:
        try:
            next(scan)
        except StopIteration as stop:
            return stop.value
