"""Mistral: `[TOOL_CALLS]` before a JSON array, or before `get_weather[ARGS]{...}`.

Between name and arguments a call id may stand behind `[CALL_ID]`; the compact form has nothing
at all between them.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import read_arguments
from providers.verbatim.scanner import Wait, Words

_ID = re.compile(r"\w*")
_ARGUMENTS = Words(("[ARGS]",))


def _arguments(c: Candidate, grammar: Grammar, name: str, start: int, pos: int) -> Wait[int | None]:
    pos = yield from c.scan.skip(pos)
    return (yield from read_arguments(c, grammar, name, start, pos))


def _call_id(c: Candidate, grammar: Grammar, name: str, start: int, pos: int) -> Wait[int | None]:
    pos = yield from c.scan.skip(pos, _ID)
    marker, end = yield from c.scan.word(pos, _ARGUMENTS)
    return (yield from _arguments(c, grammar, name, start, end)) if marker else None


DIALECT = Dialect(
    name="mistral",
    wrappers=(Wrapper(opener="[TOOL_CALLS]", closers=("[/TOOL_CALLS]",), strict=False),),
    after_name={"[ARGS]": _arguments, "[CALL_ID]": _call_id},
)
