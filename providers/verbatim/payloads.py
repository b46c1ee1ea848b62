"""Reads what stands inside a call wrapper, whatever the family.

Invariant: a payload's shape decides how it is read, not the wrapper around it, since models put
every shape into every wrapper.
"""

import re

from providers.verbatim.arguments import Written
from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Grammar, Wrapper
from providers.verbatim.literals import Leniency, Unreadable, read_call_arguments
from providers.verbatim.scanner import Frame, Wait
from providers.verbatim.sites import Ending

_SEPARATOR = frozenset(",;[]}")
_SEPARATORS = re.compile(r"[\s,;\]}]*")
_FENCE_INFO = re.compile(r"[`\w.+-]*")
_TICKS = re.compile(r"`*")
_COUNTER = re.compile(r":\d+$")
_TAG_OR_LINE = re.compile(r"[<\n\[]")
_LINE_NAME = re.compile(r"[\w.\-/:]*")
# Longer than any server takes, with a namespace before it.
_NAME_LIMIT = 80
_PROSE_LIMIT = 2_000
# Openers and noise in a row; families nest two or three.
_MOST_SKIPPED = 8
_FORGIVEN_QUOTES = (Leniency(), Leniency(guess_quotes=True))


def ending_of(frame: Frame) -> Ending:
    """How a call ends whose last part is `frame`."""
    if frame.closed or frame.stop:
        return "closed"
    return "cut" if frame.open_string else "open"


def read_wrapper(c: Candidate, grammar: Grammar, wrapper: Wrapper, pos: int) -> Wait[int | None]:
    """Read the calls behind `wrapper`, whose opener ends at `pos`."""
    opened = pos
    last = pos
    skipped = 0
    while skipped < _MOST_SKIPPED:
        pos = yield from c.scan.skip(pos)
        if not (yield from c.scan.peek(pos)):
            break
        marker, end = yield from c.scan.word(pos, grammar.inside)
        if marker in grammar.closers:
            if c.found:
                c.settle(end, "closed")
                return end
            return (yield from _nothing_inside(c, grammar, wrapper, opened, end, closed=True))
        if marker in grammar.wrappers or marker in grammar.noise:
            pos = end
            skipped += 1
            continue
        if marker is None and c.scan.at(pos) in _SEPARATOR:
            pos += 1
            continue
        found = yield from read_payload(c, grammar, pos)
        if found is None:
            if c.found:
                c.settle(last, "closed")
                return last
            return (yield from _nothing_inside(c, grammar, wrapper, opened, pos, closed=False))
        last = pos = found
        skipped = 0
    if c.found:
        c.settle(pos, "forgiven" if wrapper.closers and not wrapper.open_ended else "closed")
        return pos
    return (yield from _nothing_inside(c, grammar, wrapper, opened, pos, closed=False))


def _nothing_inside(
    c: Candidate, grammar: Grammar, wrapper: Wrapper, opened: int, pos: int, *, closed: bool
) -> Wait[int | None]:
    """A wrapper that is empty or holds prose: an error where it was meant, else just a mention."""
    if c.start >= opened:
        # Something in it was hidden; what is left of it does not matter.
        return c.start
    meant = c.setting.line_start and wrapper.strict
    if not wrapper.tag and not (meant and closed):
        c.hide(opened, "a call marker without a call")
        return opened
    if not meant:
        return None
    if closed:
        c.malformed("it is empty", pos)
        return pos
    own_line = c.scan.at(opened) == "\n"
    stops = grammar.ends_block if own_line else grammar.ends_line
    marker, _, end = yield from c.scan.until(opened, _TAG_OR_LINE, stops, _PROSE_LIMIT)
    ended = marker is None and end - opened < _PROSE_LIMIT
    if marker in grammar.closers or (ended and own_line):
        c.malformed("it holds words instead of a call", end)
        return end
    return None


def read_payload(c: Candidate, grammar: Grammar, pos: int) -> Wait[int | None]:
    """Read one call of any shape at `pos`; None where there is none."""
    char = yield from c.scan.peek(pos)
    if char == "{":
        return (yield from _read_json(c, grammar, pos))
    if char == "`":
        return (yield from _read_fenced(c, grammar, pos))
    marker, end = yield from c.scan.word(pos, grammar.openers)
    if marker in grammar.calls:
        return (yield from grammar.calls[marker](c, grammar, pos, end))
    return (yield from read_named(c, grammar, pos))


def _read_json(c: Candidate, grammar: Grammar, start: int) -> Wait[int | None]:
    frame = yield from c.watch(start, c.scan.value(start, grammar.closing))
    early = c.early_name(start)
    if frame.end - start > c.limit and early:
        c.propose(early, None, start, frame.end, ending=ending_of(frame), size=frame.end - start)
        return frame.end
    calls = c.read_object(frame)
    if not calls and early:
        # The keys of a call, but no repair makes an object of it: binding will say so.
        c.propose(early, c.scan.slice(start, frame.end), start, frame.end, ending=ending_of(frame))
    if not calls and not early:
        c.settle(start, "closed")
        c.malformed(
            "the JSON in it has no tool name and arguments",
            frame.end,
            cut=not frame.closed and not frame.stop,
        )
    if calls:
        c.propose_all(calls, start, frame.end, ending=ending_of(frame))
    return frame.end


def _read_fenced(c: Candidate, grammar: Grammar, pos: int) -> Wait[int | None]:
    pos = yield from c.scan.skip(pos, _FENCE_INFO)
    pos = yield from c.scan.skip(pos, _SEPARATORS)
    if (yield from c.scan.peek(pos)) == "[":
        pos = yield from c.scan.skip(pos + 1, _SEPARATORS)
    end: int | None = None
    while (yield from c.scan.peek(pos)) and c.scan.at(pos) != "`":
        found = yield from read_payload(c, grammar, pos)
        if found is None:
            return end
        end = found
        pos = yield from c.scan.skip(end, _SEPARATORS)
    return (yield from c.scan.skip(pos, _TICKS)) if c.scan.at(pos) == "`" else end


def read_named(c: Candidate, grammar: Grammar, start: int) -> Wait[int | None]:
    """Read a call that begins with a bare name: `name(...)`, `name{...}`, a name and a marker."""
    prefix, end = yield from c.scan.word(start, grammar.name_prefixes)
    if prefix:
        return (yield from grammar.prefixes[prefix](c, grammar, start, end))
    end = yield from c.name(start)
    if end == start:
        return None
    name = _COUNTER.sub("", c.scan.slice(start, end)).strip(":")
    blanks = yield from c.scan.skip(end)
    char = yield from c.scan.peek(blanks)
    if char == "(" and blanks == end:
        return (yield from _read_python(c, grammar, name, start, end))
    if char == "{":
        return (yield from read_arguments(c, grammar, name, start, blanks))
    marker, after = yield from c.scan.word(blanks, grammar.name_markers)
    if marker:
        return (yield from grammar.after_name[marker](c, grammar, name, start, after))
    spec = c.names.resolve(name)
    closer, _ = yield from c.scan.word(blanks, grammar.closing)
    if spec and (closer or not char):
        c.propose(name, None, start, end, ending="closed" if closer else "cut")
        return end
    return None


def read_arguments(
    c: Candidate, grammar: Grammar, name: str, start: int, pos: int
) -> Wait[int | None]:
    """Read the JSON object at `pos` as the arguments of the call `name` that began at `start`."""
    if (yield from c.scan.peek(pos)) != "{":
        return None
    spec = c.names.resolve(name)
    if spec:
        c.started(spec, start)
    frame = yield from c.scan.value(pos, grammar.closing)
    size = frame.end - pos
    text = None if size > c.limit else c.scan.slice(pos, frame.end)
    c.propose(name, text, start, frame.end, ending=ending_of(frame), size=size)
    return frame.end


def _read_python(
    c: Candidate, grammar: Grammar, name: str, start: int, pos: int
) -> Wait[int | None]:
    if name == "print":
        return (yield from _read_printed(c, grammar, start, pos + 1))
    name = name.removesuffix(".call")
    spec = c.names.resolve(name)
    if spec:
        c.started(spec, start)
    frame = yield from c.scan.value(pos, grammar.closing)
    size = frame.end - pos
    if size > c.limit:
        c.propose(name, None, start, frame.end, ending=ending_of(frame), size=size)
        return frame.end
    inner = c.scan.slice(pos + 1, frame.end - 1 if frame.closed else frame.end)
    c.propose(name, parse_parentheses(inner), start, frame.end, ending=ending_of(frame))
    return frame.end


def _read_printed(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    """`print(get_weather(...))`, as models write that take the call for code."""
    inner = yield from c.scan.skip(pos)
    end = yield from read_named(c, grammar, inner)
    if end is None:
        return None
    after = yield from c.scan.skip(end)
    if (yield from c.scan.peek(after)) != ")":
        return end
    c.extend(after + 1)
    return after + 1


def read_name(c: Candidate, start: int) -> Wait[int | None]:
    """Where the name at `start` ends; None as soon as no call can come of it.

    A capitalised word that begins no offered name is prose. Others may be the name of a tool
    that does not exist, which only the next character tells.
    """
    pos = start
    while True:
        match = _LINE_NAME.match(c.scan.text, pos - c.scan.base)
        pos = (match.end() if match else pos - c.scan.base) + c.scan.base
        decided = pos < c.scan.end or c.scan.ended
        if pos > start:
            written = c.scan.slice(start, min(pos, start + _NAME_LIMIT + 1))
            if len(written) > _NAME_LIMIT:
                return None
            if written[0].isupper() and not c.names.begins(written):
                return None
        if decided:
            return pos if pos > start else None
        yield


def read_marked_name(c: Candidate, grammar: Grammar, start: int) -> Wait[int | None]:
    """Read a call without its opener: a name and a marker that only calls have behind a name."""
    end = yield from read_name(c, start)
    if end is None:
        return None
    blanks = yield from c.scan.skip(end)
    marker, after = yield from c.scan.word(blanks, grammar.name_markers)
    if not marker:
        return None
    name = _COUNTER.sub("", c.scan.slice(start, end))
    if c.names.resolve(name) is None:
        return None
    return (yield from grammar.after_name[marker](c, grammar, name, start, after))


def parse_parentheses(inner: str) -> Written:
    """What stands between the parentheses of a call: JSON text, or values that were read."""
    text = inner.strip()
    if text.startswith("{"):
        return text
    for leniency in _FORGIVEN_QUOTES:
        try:
            return read_call_arguments(text, leniency)
        except Unreadable:
            continue
    return text or None
