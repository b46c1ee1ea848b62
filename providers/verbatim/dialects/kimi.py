"""Kimi K2: `functions.get_weather:0<|tool_call_argument_begin|>{...}` between section markers.

The name is an id: a namespace before it and a counter behind belong to the form. Some copies
write it as `functions_get_weather_3`.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import read_arguments
from providers.verbatim.scanner import Wait

_FLAT_ID = re.compile(r"(?:functions_)?(.+?)(?:_\d+)?")
_CLOSERS = (
    "<|tool_call_end|>",
    "<|tool_calls_section_end|>",
    "<|tool_call_section_end|>",
)


def _arguments(c: Candidate, grammar: Grammar, name: str, start: int, pos: int) -> Wait[int | None]:
    name = name.removeprefix("functions.")
    flat = _FLAT_ID.fullmatch(name)
    if c.names.resolve(name) is None and flat and c.names.resolve(flat.group(1)):
        name = flat.group(1)
    pos = yield from c.scan.skip(pos)
    return (yield from read_arguments(c, grammar, name, start, pos))


DIALECT = Dialect(
    name="kimi",
    wrappers=tuple(
        Wrapper(opener=opener, closers=_CLOSERS, tag=False)
        for opener in (
            "<|tool_calls_section_begin|>",
            "<|tool_call_section_begin|>",
            "<|tool_call_begin|>",
        )
    ),
    after_name={"<|tool_call_argument_begin|>": _arguments},
)
