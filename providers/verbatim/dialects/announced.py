"""A call that is announced in brackets: `[Calling tool: get_weather({"city": "Oslo"})]`.

Bots write it into histories, and models that read such histories copy it.
"""

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.payloads import read_payload
from providers.verbatim.scanner import Wait

_OPENERS = ("[Calling tool:", "[Calling tools:", "[Tool call:", "[tool_call:")


def _read(c: Candidate, grammar: Grammar, _start: int, pos: int) -> Wait[int | None]:
    end: int | None = None
    while True:
        pos = yield from c.scan.blanks(pos)
        char = yield from c.scan.peek(pos)
        if char == "]" and end is not None:
            c.settle(pos + 1, "closed")
            return pos + 1
        if char == "," and end is not None:
            pos += 1
            continue
        if not char and end is not None:
            c.settle(pos, "forgiven")
            return pos
        found = yield from read_payload(c, grammar, pos)
        if found is None:
            return end
        end = pos = found


DIALECT = Dialect(name="announced", lines=dict.fromkeys(_OPENERS, _read))
