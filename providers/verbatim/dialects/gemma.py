"""Gemma: `call:get_weather{city:<escape>Oslo<escape>,days:2}` with a token for quotation marks.

FunctionGemma writes it between `<start_function_call>` tags, Gemma 4 between `<|tool_call>` and
`<tool_call|>` with `<|"|>` for quotes. Older ones write a `tool_code` fence of Python calls.
"""

import re
from typing import cast

from prompt.values import JsonObject
from providers.verbatim.arguments import Written
from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.literals import Leniency, Unreadable, read_value
from providers.verbatim.scanner import Frame, Scanner, Wait, Words

_QUOTE_TOKENS = ("<escape>", '<|"|>')
_STRUCTURE = re.compile(r"[{}\[\]<\"]")
_TAG = re.compile(r"<")
_CLOSERS = ("<end_function_call>", "<tool_call|>")


def _read(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    end = yield from c.name(pos)
    name = c.scan.slice(pos, end)
    open_brace = yield from c.scan.blanks(end)
    if not name or (yield from c.scan.peek(open_brace)) != "{":
        return None
    spec = c.names.resolve(name)
    if spec:
        c.started(spec, start)
    frame = yield from _frame(c.scan, open_brace, grammar.closing)
    size = frame.end - open_brace
    arguments = None if size > c.limit else _values(c.scan.slice(open_brace, frame.end), frame)
    ending = "closed" if frame.closed or frame.stop else "cut" if frame.open_string else "open"
    c.propose(name, arguments, start, frame.end, ending=ending, size=size)
    return frame.end


def _frame(scan: Scanner, start: int, stops: Words) -> Wait[Frame]:
    """The braces that open at `start`; nothing between two quote tokens counts."""
    words = {token: Words((token,)) for token in _QUOTE_TOKENS}
    quotes = Words(_QUOTE_TOKENS)
    depth = 0
    pos = start
    while True:
        found = _STRUCTURE.search(scan.text, pos - scan.base)
        if found is None:
            pos = scan.end
            if scan.ended:
                return Frame(start=start, end=pos, closed=False)
            yield
            continue
        pos = found.start() + scan.base
        char = found.group()
        if char == '"':
            pos = yield from scan.string(pos)
            if pos < 0:
                return Frame(start=start, end=scan.end, closed=False, open_string=True)
        elif char == "<":
            token, end = yield from scan.word(pos, quotes)
            if token:
                closing, _, pos = yield from scan.until(end, _TAG, words[token])
                if closing is None:
                    return Frame(start=start, end=pos, closed=False, open_string=True)
                continue
            stop, _ = yield from scan.word(pos, stops)
            if stop:
                return Frame(start=start, end=pos, closed=False, stop=stop)
            pos += 1
        else:
            depth += 1 if char in "{[" else -1
            pos += 1
            if depth <= 0:
                return Frame(start=start, end=pos, closed=True)


def _values(text: str, frame: Frame) -> Written:
    """The arguments, JSON text if that is what stands there."""
    if not any(token in text for token in _QUOTE_TOKENS) and text[1:].lstrip()[:1] == '"':
        return text
    leniency = Leniency(
        quote_tokens=_QUOTE_TOKENS, bare_words=True, close_missing=not frame.open_string
    )
    try:
        value = read_value(text, leniency)
    except Unreadable:
        return text
    return cast("JsonObject", value) if isinstance(value, dict) else text


DIALECT = Dialect(
    name="gemma",
    wrappers=(
        Wrapper(opener="<start_function_call>", closers=_CLOSERS),
        Wrapper(opener="<|tool_call>", closers=_CLOSERS, tag=False),
    ),
    prefixes={"call:": _read},
)
