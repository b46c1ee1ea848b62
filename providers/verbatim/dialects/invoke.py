"""Invoke elements: `<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>`.

Written by Claude-like models and Step 3 with entities, by MiniMax with a marker of its own
before each tag, and by DeepSeek from V3.2 on as DSML, where `string="false"` marks JSON and
nothing is an entity. Wrappers and namespaces around them are those of the Hermes tags.
"""

from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import ElementReader, Elements, attributes, tag_close
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.scanner import Wait

_MINIMAX = "]<]minimax[>["


def _elements(*, decode: bool) -> Elements:
    return Elements(
        parameter=("<parameter ",),
        parameter_end=("</parameter>",),
        function_end=("</invoke>",),
        wrapper_end=("</function_calls>", "</tool_call>", "</tool_calls>"),
        following=("<invoke ",),
        decode=decode,
        trim=_MINIMAX,
    )


_WITH_ENTITIES = ElementReader(_elements(decode=True))
_VERBATIM = ElementReader(_elements(decode=False))


def _read(c: Candidate, _grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    end = yield from tag_close(c, pos)
    name = attributes(c.scan.slice(pos, end)).get("name", "") if end >= 0 else ""
    if not name:
        return None
    reader = _VERBATIM if "DSML" in c.scan.slice(start, pos) else _WITH_ENTITIES
    return (yield from reader.read(c, name, start, end + 1))


DIALECT = Dialect(name="invoke", calls={"<invoke ": _read}, noise=(_MINIMAX,))
