"""Harmony, the channels of gpt-oss.

A header names a channel and perhaps a recipient; a recipient makes a call on any channel.
`analysis` is thinking, `final` the answer, and `commentary` without recipient a preamble,
unless its body is a JSON object: arguments whose tool got lost.
"""

import re

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.payloads import ending_of
from providers.verbatim.scanner import Wait, Words

_TOKEN = re.compile(r"<")
_HEADER_ENDS = Words(("<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|start|>"))
_BODY_ENDS = ("<|call|>", "<|end|>", "<|return|>")
_BODY_STOPS = Words((*_BODY_ENDS, "<|start|>", "<|channel|>"))
_HEADER_LIMIT = 256
_RECIPIENT = re.compile(r"to=(?:functions\.)?([\w.\-:/]+)")
_CHANNEL = re.compile(r"<[|｜]channel[|｜]>\s*(\w+)", re.IGNORECASE)
_NOT_TOOLS = frozenset({"assistant", "user", "all", "system"})


def _read(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    marker, where, end = yield from c.scan.until(pos, _TOKEN, _HEADER_ENDS, _HEADER_LIMIT)
    header = c.scan.slice(start, where)
    recipient = _RECIPIENT.search(header)
    if marker is None and where < pos + _HEADER_LIMIT and recipient and c.setting.calls:
        c.propose(recipient.group(1), None, start, where, ending="cut")
        return where
    if marker != "<|message|>":
        c.hide(pos, "a channel marker")
        return pos
    channel = _CHANNEL.search(header)
    name = channel.group(1).lower() if channel else ""
    if recipient and recipient.group(1) not in _NOT_TOOLS and c.setting.calls:
        c.channel()
        return (yield from _call(c, recipient.group(1), start, end))
    if name == "commentary" and c.setting.calls:
        lost = yield from _lost_call(c, end)
        if lost is not None:
            return lost
    c.hide(end, "a channel header")
    c.channel(_BODY_ENDS if name == "analysis" else (), final=name == "final")
    return end


def _call(c: Candidate, name: str, start: int, pos: int) -> Wait[int]:
    spec = c.names.resolve(name)
    if spec:
        c.started(spec, start)
    begin = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(begin)) == "{":
        frame = yield from c.scan.value(begin, _BODY_STOPS)
        body_end, ending = frame.end, ending_of(frame)
    else:
        _, body_end, _ = yield from c.scan.until(begin, _TOKEN, _BODY_STOPS)
        ending = "closed"
    size = body_end - begin
    text = None if size > c.limit else c.scan.slice(begin, body_end)
    after = yield from c.scan.skip(body_end)
    closer, end = yield from c.scan.word(after, _BODY_STOPS)
    closed = closer in _BODY_ENDS
    if ending == "closed" and not closer:
        ending = "forgiven"
    stop = end if closed else body_end
    c.propose(name, text, start, stop, ending=ending, size=size)
    return stop


def _lost_call(c: Candidate, pos: int) -> Wait[int | None]:
    begin = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(begin)) != "{":
        return None
    frame = yield from c.scan.value(begin, _BODY_STOPS)
    after = yield from c.scan.skip(frame.end)
    closer, end = yield from c.scan.word(after, _BODY_STOPS)
    if closer is None and (yield from c.scan.peek(after)):
        return None
    stop = end if closer in _BODY_ENDS else frame.end
    c.malformed("it names no tool", stop, cut=not frame.closed and not frame.stop)
    return stop


DIALECT = Dialect(name="harmony", channels={"<|channel|>": _read, "<|start|>": _read})
