"""Reads call objects without any marker: bare JSON at a line's start, or alone in a fence.

Invariant: bare JSON is held back only while its keys are those of a call, and is a call only if
nothing but calls follows.
"""

import re

from providers.verbatim.arguments import BindFailure, bind_call
from providers.verbatim.candidate import Candidate
from providers.verbatim.objects import (
    ARGUMENT_KEYS,
    CALL_KEYS,
    LIST_KEYS,
    NAME_KEYS,
    SINGLE_KEYS,
    ObjectCall,
)
from providers.verbatim.payloads import ending_of
from providers.verbatim.scanner import Frame, Wait, Words

_JOINTS = re.compile(r"[\s;,]*")
_SURPLUS = re.compile(r"[}\s]*")
_QUOTES = ('"', "'", "“", "")
_KEYS = {
    f"{quote}{key}{'”' if quote == '“' else quote}": key for key in CALL_KEYS for quote in _QUOTES
}
_KEY_WORDS = Words(_KEYS)
_STRING_LIMIT = 256
_STRING_BEGINS = frozenset("\"'“")
_INNER_BEGINS = frozenset(["", *"{\\ \"'"])
_SCALAR = re.compile(r"[\w.+-]*")


def read_objects(c: Candidate, pos: int, stops: Words) -> Wait[int | None]:
    """Call objects from `pos` on, one after the other or in an array."""
    end: int | None = None
    in_array = False
    while True:
        char = yield from c.scan.peek(pos)
        if char == "[" and end is None and not in_array:
            in_array = True
            pos = yield from c.scan.skip(pos + 1)
            continue
        if char == "]" and in_array and end is not None:
            end = pos + 1
            c.extend(end)
            in_array = False
        elif char == "{":
            found = yield from _read_object(c, pos, stops, first=end is None)
            if found is None:
                return None if in_array else end
            end = found
        else:
            if in_array and char:
                return None
            break
        pos = yield from c.scan.skip(end, _JOINTS)
    if end is not None:
        c.last = True
    return end


def _read_object(c: Candidate, start: int, stops: Words, *, first: bool) -> Wait[int | None]:
    if not (yield from may_be_call(c, start)):
        return None
    frame = yield from c.scan.value(start, stops)
    if frame.end - start > c.limit:
        name = c.early_name(start)
        if c.names.resolve(name) is None:
            return None
        c.propose(name, None, start, frame.end, ending=ending_of(frame), size=frame.end - start)
        return frame.end
    if not frame.closed and not frame.stop:
        return _cut_object(c, start, frame)
    calls = c.read_object(frame)
    if not calls or not all(_is_call(c, call, lone=first) for call in calls):
        return None
    end = yield from c.scan.skip(frame.end, _SURPLUS)
    end = end if c.scan.slice(frame.end, end).strip() else frame.end
    c.propose_all(calls, c.start if first else start, end, ending=ending_of(frame))
    return end


def _cut_object(c: Candidate, start: int, frame: Frame) -> int | None:
    """An object that the response ended in: a cut call if its name is offered, else text."""
    name = c.early_name(start) or c.inner_name(start)
    if c.names.resolve(name) is None:
        return None
    calls = c.read_object(frame)
    if calls and all(_is_call(c, call, lone=False) for call in calls):
        c.propose_all(calls, start, frame.end, ending=ending_of(frame))
    else:
        c.propose(name, None, start, frame.end, ending="cut")
    return frame.end


def _is_call(c: Candidate, call: ObjectCall, *, lone: bool) -> bool:
    """Whether an object with the keys of a call is one, seeing that nothing else marks it."""
    spec = c.names.resolve(call.name)
    if spec is None:
        return lone and c.setting.whole and call.exact and not call.schema
    if call.schema or call.odd or call.bare:
        return False
    return not call.flat or not isinstance(bind_call(spec, call.arguments), BindFailure)


def may_be_call(c: Candidate, start: int) -> Wait[bool]:
    """Whether the object at `start` has the keys of a call, decided as early as they tell."""
    pos = yield from c.scan.skip(start + 1)
    named = False
    while True:
        word, end = yield from c.scan.word(pos, _KEY_WORDS)
        if word is None:
            return False
        key = _KEYS[word]
        pos = yield from c.scan.skip(end)
        if (yield from c.scan.peek(pos)) not in (":", ""):
            return False
        pos = yield from c.scan.skip(pos + 1)
        char = yield from c.scan.peek(pos)
        if not char:
            return True
        if key in LIST_KEYS:
            return char == "["
        if key in SINGLE_KEYS or (key == "function" and char == "{"):
            return char == "{"
        if key in ARGUMENT_KEYS:
            return (yield from _may_hold_object(c, pos))
        if named:
            return False
        value, pos = yield from _short_value(c, pos)
        if value is None:
            return False
        if key in NAME_KEYS:
            if c.names.resolve(value):
                return True
            if not c.setting.whole:
                return False
            named = True
        pos = yield from c.scan.skip(pos)
        if (yield from c.scan.peek(pos)) != ",":
            return not c.scan.at(pos)
        pos = yield from c.scan.skip(pos + 1)


def _may_hold_object(c: Candidate, pos: int) -> Wait[bool]:
    """Whether arguments that begin at `pos` are an object, a string that holds one, or null."""
    char = yield from c.scan.peek(pos)
    if char in _STRING_BEGINS:
        return (yield from c.scan.peek(pos + 1)) in _INNER_BEGINS
    return char in ("{", "n")


def _short_value(c: Candidate, pos: int) -> Wait[tuple[str | None, int]]:
    """A string without escapes or a bare scalar, and where it ends; None for anything longer."""
    char = yield from c.scan.peek(pos)
    closer = {'"': '"', "'": "'", "“": "”"}.get(char)
    if closer is None:
        end = yield from c.scan.skip(pos, _SCALAR)
        return (c.scan.slice(pos, end) if end > pos else None), end
    end = pos + 1
    while True:
        found = c.scan.text.find(closer, end - c.scan.base)
        if found >= 0:
            end = found + c.scan.base
            text = c.scan.slice(pos + 1, end)
            return (text if len(text) <= _STRING_LIMIT and "\\" not in text else None), end + 1
        end = c.scan.end
        if c.scan.ended:
            return c.scan.slice(pos + 1, end), end
        if end - pos > _STRING_LIMIT:
            return None, end
        yield
