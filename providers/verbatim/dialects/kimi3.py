"""Kimi K3: nested blocks, `<|open|>call tool="get_weather"<|sep|>...<|close|>call<|sep|>`.

A `tools` block holds `call` blocks with an `argument` block for each parameter; the answer
stands in a `response` block, thinking in a `think` block.
"""

import re

from prompt.values import Json
from providers.verbatim.arguments import read_json
from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import attributes
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.scanner import Wait, Words

_TAG = re.compile(r"<")
_SEPARATOR = Words(("<|sep|>",))
_BLOCK = Words(("<|open|>", "<|close|>"))
_ARGUMENT_END = Words(("<|close|>argument",))
_HEADER_LIMIT = 512
_THINKING = frozenset({"think", "thinking", "reasoning", "analysis", "thought"})


def _header(c: Candidate, pos: int) -> Wait[tuple[str, str, int]]:
    """A block's word, its attributes and where the header ends; no word where it does not."""
    marker, where, end = yield from c.scan.until(pos, _TAG, _SEPARATOR, _HEADER_LIMIT)
    text = c.scan.slice(pos, where).strip()
    if marker is None:
        return "", "", where
    word, _, rest = text.partition(" ")
    return word.lower(), rest, end


def _open(c: Candidate, _grammar: Grammar, start: int, pos: int) -> Wait[int]:
    word, rest, end = yield from _header(c, pos)
    if not word:
        c.hide(pos, "a block marker")
        return pos
    if word == "call" and c.setting.calls:
        return (yield from _call(c, attributes(rest).get("tool", ""), start, end))
    c.hide(end, "a block header")
    if word in _THINKING:
        c.channel((f"<|close|>{word}<|sep|>",))
    elif word != "tools":
        c.channel()
    return end


def _close(c: Candidate, _grammar: Grammar, _start: int, pos: int) -> Wait[int]:
    word, _, end = yield from _header(c, pos)
    stop = end if word else pos
    c.hide(stop, "a block marker")
    return stop


def _call(c: Candidate, name: str, start: int, pos: int) -> Wait[int]:
    spec = c.names.resolve(name)
    if spec:
        c.started(spec, start)
    values: dict[str, Json] = {}
    size = 0
    while True:
        inside = yield from c.scan.skip(pos)
        marker, end = yield from c.scan.word(inside, _BLOCK)
        if marker == "<|close|>":
            word, _, after = yield from _header(c, end)
            stop = after if word == "call" else end
            c.propose(name, None if size > c.limit else values, start, stop, size=size)
            return stop
        if marker is None:
            ending = "cut" if inside >= c.scan.end else "closed"
            c.propose(name, values, start, inside, ending=ending, size=size)
            return inside
        word, rest, pos = yield from _header(c, end)
        key = attributes(rest)
        closer, where, after = yield from c.scan.until(pos, _TAG, _ARGUMENT_END)
        if word != "argument" or closer is None:
            c.propose(name, values, start, where, ending="cut", size=size)
            return where
        text = c.scan.slice(pos, where)
        size += where - pos
        values[key.get("key", "")] = text if key.get("type") == "string" else _json(text)
        _, pos = yield from c.scan.word(after, _SEPARATOR)


def _json(text: str) -> Json:
    try:
        return read_json(text)
    except ValueError:
        return text


DIALECT = Dialect(name="kimi3", channels={"<|open|>": _open, "<|close|>": _close})
