"""Reads fences that hold nothing but calls.

Invariant: a fence with anything else in it is given back whole.
"""

import re

from providers.verbatim.bare import read_objects
from providers.verbatim.candidate import Candidate
from providers.verbatim.scanner import Wait, Words
from providers.verbatim.taught import read_line

_INFO = re.compile(r"[\w.+#-]*")
_TICKS = re.compile(r"`*")
_TILDES = re.compile(r"~*")
_LINES = re.compile(r"[ \t\r\n]*")
_FENCE_STOP = Words(("```",))
_CALL_FENCES = frozenset(
    {"tool_call", "tool_calls", "tool_code", "tool", "tools", "function_call", "function", "action"}
)
_DATA_FENCES = frozenset({"", "json", "jsonc", "json5", "text", "txt", "plaintext", "plain"})
_CODE_FENCES = frozenset({"python", "py", "javascript", "js", "typescript", "ts"})


def read_fence(c: Candidate, pos: int, run: int) -> Wait[int | None]:
    """The calls in the fence whose opening run of `run` characters ends at `pos`."""
    end = yield from c.scan.skip(pos, _INFO)
    info = c.scan.slice(pos, end).lower()
    if (yield from c.scan.peek(end)) in ("(", "{"):
        return (yield from read_line(c, pos, ticks=run))
    end = yield from c.scan.blanks(end)
    if (yield from c.scan.peek(end)) not in ("", "\n"):
        return None
    if info not in _CALL_FENCES and info not in _DATA_FENCES and info not in _CODE_FENCES:
        return None
    pos = yield from c.scan.skip(end)
    char = yield from c.scan.peek(pos)
    if char in ("{", "[") and info not in _CODE_FENCES:
        inside = yield from read_objects(c, pos, _FENCE_STOP)
    else:
        inside = yield from _lines(c, pos, info)
    if inside is None:
        return None
    if info in _CODE_FENCES:
        c.last = True
    elif info in _CALL_FENCES:
        c.last = False
    return (yield from _closing(c, inside, run))


def _lines(c: Candidate, pos: int, info: str) -> Wait[int | None]:
    end: int | None = None
    while (yield from c.scan.peek(pos)) not in ("", "`", "~"):
        end = yield from read_line(c, pos, ticks=0, printed=info == "tool_code", stops=_FENCE_STOP)
        if end is None:
            return None
        pos = yield from c.scan.skip(end, _LINES)
    return end


def _closing(c: Candidate, pos: int, run: int) -> Wait[int | None]:
    """Where the fence ends, given that its content ends at `pos`."""
    closer = yield from c.scan.skip(pos, _LINES)
    char = yield from c.scan.peek(closer)
    if not char:
        c.settle(pos, "forgiven")
        return pos
    end = yield from c.scan.skip(closer, _TICKS if char == "`" else _TILDES)
    if end - closer < run:
        return None
    rest = yield from c.scan.blanks(end)
    if (yield from c.scan.peek(rest)) not in ("", "\n", "<"):
        return None
    c.extend(end)
    return end
