"""GLM: `<tool_call>get_weather`, then `<arg_key>city</arg_key><arg_value>Oslo</arg_value>` pairs.

Ling, Laguna and Spark write it without line breaks, Hunyuan with `<tool_sep>` after the name.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import ElementReader, Elements
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.scanner import Wait, Words

_KEY_LIMIT = 256
_TAG = re.compile(r"<")
_KEY_END = Words(("</arg_key>",))
_VALUE = Words(("<arg_value>",))


class _Pairs(ElementReader):
    def _opening(
        self, c: Candidate, marker: str, pos: int
    ) -> Wait[tuple[str, bool | None, int] | None]:
        found, where, end = yield from c.scan.until(pos, _TAG, _KEY_END, _KEY_LIMIT)
        if found is None:
            return None
        begin = yield from c.scan.skip(end)
        value, begin = yield from c.scan.word(begin, _VALUE)
        return (c.scan.slice(pos, where).strip(), None, begin) if value else None


_READER = _Pairs(
    Elements(
        parameter=("<arg_key>",),
        parameter_end=("</arg_value>",),
        function_end=(),
        wrapper_end=("</tool_call>", "</tool_calls>"),
        following=("<tool_call>",),
    )
)


def _arguments(
    c: Candidate, _grammar: Grammar, name: str, start: int, pos: int
) -> Wait[int | None]:
    return (yield from _READER.read(c, name, start, pos - len("<arg_key>")))


def _separated(
    c: Candidate, _grammar: Grammar, name: str, start: int, pos: int
) -> Wait[int | None]:
    return (yield from _READER.read(c, name, start, pos))


DIALECT = Dialect(name="glm", after_name={"<arg_key>": _arguments, "<tool_sep>": _separated})
