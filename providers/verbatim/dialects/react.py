"""ReAct: `Action: get_weather` and `Action Input: {...}` on lines of their own.

Only an offered name makes it a call, since people write such lines too. A `Thought:` before it
was thinking, and a `Final Answer:` behind a thought is the answer. Command writes `Action:`
before a JSON fence.
"""

import re

from providers.verbatim.arguments import Written
from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.literals import CallArguments
from providers.verbatim.payloads import ending_of, read_name, read_payload
from providers.verbatim.scanner import Wait, Words

_REST = re.compile(r"[^\n]*")
_QUOTES = re.compile(r"[`*\"'\[\] \t\r]*")
_FENCE = re.compile(r"[`\s]*")
_SURPLUS = re.compile(r"[ \t}`]*")
_JSON = Words(("json",))
_INPUT = Words(("Action Input:", "Action_Input:"))


def _action(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    begin = yield from c.scan.blanks(pos)
    if (yield from c.scan.peek(begin)) in ("`", "\n"):
        return (yield from _fenced_action(c, grammar, begin))
    begin = yield from c.scan.skip(begin, _QUOTES)
    end = yield from read_name(c, begin)
    if end is None:
        return None
    name = c.scan.slice(begin, end)
    end = yield from c.scan.skip(end, _QUOTES)
    if c.names.resolve(name) is None or (yield from c.scan.peek(end)) not in ("", "\n"):
        return None
    after = yield from c.scan.skip(end)
    marker, body = yield from c.scan.word(after, _INPUT)
    c.after_thought = True
    if marker is None:
        c.propose(name, None, start, end)
        return end
    return (yield from _input(c, name, start, body))


def _fenced_action(c: Candidate, grammar: Grammar, pos: int) -> Wait[int | None]:
    begin = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(begin)) not in ("`", "[", "{"):
        return None
    c.after_thought = True
    if c.scan.at(begin) == "[":
        begin += 1
    return (yield from read_payload(c, grammar, begin))


def _input(c: Candidate, name: str, start: int, pos: int) -> Wait[int]:
    begin = yield from c.scan.blanks(pos)
    if (yield from c.scan.peek(begin)) in ("{", "`", "\n"):
        begin = yield from c.scan.skip(begin, _FENCE)
        _, begin = yield from c.scan.word(begin, _JSON)
        begin = yield from c.scan.skip(begin, _FENCE)
    arguments: Written
    if (yield from c.scan.peek(begin)) == "{":
        frame = yield from c.scan.value(begin)
        size = frame.end - begin
        arguments = None if size > c.limit else c.scan.slice(begin, frame.end)
        end = yield from c.scan.skip(frame.end, _SURPLUS)
        c.propose(name, arguments, start, end, ending=ending_of(frame), size=size)
        return end
    end = yield from c.scan.skip(begin, _REST)
    text = c.scan.slice(begin, end).strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        text = text[1:-1]
    closed = c.scan.at(end) == "\n"
    arguments = CallArguments(positional=(text,)) if text else None
    c.propose(name, arguments, start, end, ending="closed" if closed else "forgiven")
    return end


def _thought(c: Candidate, _grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    c.thought = True
    return None
    yield


def _answer(c: Candidate, _grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    if not c.setting.thought:
        return None
    end = yield from c.scan.blanks(pos)
    c.after_thought = True
    c.hide(end, "a label")
    return end


DIALECT = Dialect(
    name="react",
    lines={"Action:": _action, "Thought:": _thought, "Final Answer:": _answer},
)
