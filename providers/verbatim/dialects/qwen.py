"""Qwen's XML: `<function=get_weather><parameter=city>Oslo</parameter></function>`.

Written by Qwen3-Coder, Qwen 3.5, Nemotron, MiMo, Step 3.5 and Seed-OSS inside `<tool_call>`,
often without it; MiniCPM writes `<function name="..."><param name="...">` with CDATA; Llama
puts a JSON object where the parameters would stand.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import ElementReader, Elements, attributes, tag_close
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.scanner import Wait

_NAME = re.compile(r"[\w.\-:/]{1,128}")

_READER = ElementReader(
    Elements(
        parameter=("<parameter=", "<parameter ", "<param ", "<param="),
        parameter_end=("</parameter>", "</param>"),
        function_end=("</function>",),
        wrapper_end=("</tool_call>", "</tool_calls>", "</function_calls>"),
        following=("<function=", "<function ", "<tool_call>"),
    )
)


def read_function(c: Candidate, _grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    """Read the function element whose attributes begin right before `pos`."""
    end = yield from tag_close(c, pos)
    if end < 0:
        return None
    name = attributes(c.scan.slice(pos - 1, end)).get("name", "")
    if not _NAME.fullmatch(name):
        return None
    return (yield from _READER.read(c, name, start, end + 1))


DIALECT = Dialect(name="qwen", calls={"<function=": read_function, "<function ": read_function})
