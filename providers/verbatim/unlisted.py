"""Template tokens that no table knows: `<|something|>`.

Invariant: none of them is shown. Where one wraps something like a call, nothing is run and the
model is told.
"""

import re

from providers.verbatim.bare import may_be_call
from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Grammar
from providers.verbatim.payloads import read_name
from providers.verbatim.scanner import Scanner, Wait

_BARS = ("|", "｜")
_NAME_CHARS = frozenset("_▁ .:/-")
_NAME_LIMIT = 48
_BEFORE_CALL = re.compile(r"[\s\[]*")
_AFTER_CALL = re.compile(r"[\s\]]*")


def token_end(scan: Scanner, pos: int) -> Wait[int | None]:
    """Where the token at `pos`, a `<`, ends; None if there is none."""
    if (yield from scan.peek(pos + 1)) not in _BARS:
        return None
    for end in range(pos + 2, pos + 2 + _NAME_LIMIT):
        char = yield from scan.peek(end)
        if char in _BARS:
            closes = (yield from scan.peek(end + 1)) == ">"
            name = scan.slice(pos + 2, end)
            return end + 2 if closes and name and name == name.strip() else None
        if not (char.isalnum() or char in _NAME_CHARS):
            return None
    return None


def read_unknown(c: Candidate, grammar: Grammar, end: int) -> Wait[int]:
    """Hide the token that ends at `end`, and with it a call that it wraps."""
    begin = yield from c.scan.skip(end, _BEFORE_CALL)
    called, name = yield from _call_begins(c, begin)
    if called is None:
        c.hide(end, "a token of a chat template")
        return end
    frame = yield from c.scan.value(called, grammar.closing)
    stop = frame.end
    while True:
        after = yield from c.scan.skip(stop, _AFTER_CALL)
        token = (yield from token_end(c.scan, after)) if c.scan.at(after) == "<" else None
        if token is None:
            break
        stop = token
    cut = not frame.closed and not frame.stop
    c.malformed("its markup belongs to no form that is read here", stop, name=name, cut=cut)
    return stop


def _call_begins(c: Candidate, begin: int) -> Wait[tuple[int | None, str]]:
    """Where the brackets of something like a call open, None where there is none; its name."""
    if (yield from c.scan.peek(begin)) == "{":
        found = yield from may_be_call(c, begin)
        return (begin if found else None), c.early_name(begin)
    end = yield from read_name(c, begin)
    if end is None:
        return None, ""
    name = c.scan.slice(begin, end)
    opens = yield from c.scan.blanks(end)
    if (yield from c.scan.peek(opens)) in ("(", "{") and c.names.resolve(name):
        return opens, name
    return None, ""
