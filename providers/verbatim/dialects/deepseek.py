"""DeepSeek V3 to V3.1: a type, a separator, the name and a JSON fence between its own tokens.

V3.1 leaves out type and fence. Later versions write DSML, which the invoke dialect reads.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import read_arguments
from providers.verbatim.scanner import Wait

_FENCE_INFO = re.compile(r"[`a-z]*")
_TICKS = re.compile(r"`*")
_CLOSERS = ("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>")


def _arguments(c: Candidate, grammar: Grammar, name: str, start: int, pos: int) -> Wait[int | None]:
    pos = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(pos)) != "{":
        end = yield from c.name(pos)
        if end == pos:
            return None
        name = c.scan.slice(pos, end)
        pos = yield from c.scan.skip(end)
        if (yield from c.scan.peek(pos)) == "`":
            pos = yield from c.scan.skip(pos, _FENCE_INFO)
            pos = yield from c.scan.skip(pos)
    end = yield from read_arguments(c, grammar, name, start, pos)
    if end is None:
        return None
    after = yield from c.scan.skip(end)
    if (yield from c.scan.peek(after)) == "`":
        end = yield from c.scan.skip(after, _TICKS)
        c.extend(end)
    return end


DIALECT = Dialect(
    name="deepseek",
    wrappers=(
        Wrapper(opener="<｜tool▁calls▁begin｜>", closers=_CLOSERS, tag=False),
        Wrapper(opener="<｜tool▁call▁begin｜>", closers=_CLOSERS, tag=False),
    ),
    after_name={"<｜tool▁sep｜>": _arguments},
)
