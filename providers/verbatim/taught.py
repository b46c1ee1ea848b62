"""Reads the form that our prompts teach: `name({...})` alone on a line, bare or as inline code.

Invariant: a line is a call only if it holds nothing else. Signatures and prose that look alike
at first are given back.
"""

import re
from dataclasses import replace

from providers.verbatim.arguments import Written
from providers.verbatim.candidate import Candidate
from providers.verbatim.literals import CallArguments
from providers.verbatim.payloads import ending_of, parse_parentheses, read_name
from providers.verbatim.scanner import NO_WORDS, Frame, Wait, Words
from providers.verbatim.sites import Ending
from providers.verbatim.tokens import FOREIGN_TURN, NAMED_TURN, ORPHANS, OWN_TURN, STOPS

_INLINE_STOPS = Words(("`",))
_SURPLUS = re.compile(r"\}*")
_PRINT = Words(("print(",))
_WORD = re.compile(r"\w*")
# What a template puts behind a message ends a line as well.
_LINE_ENDS = Words((*STOPS, *FOREIGN_TURN, *OWN_TURN, *NAMED_TURN, *ORPHANS))
_TICKS = re.compile(r"`*")
_JOINTS = re.compile(r"[ \t\r;,]*")
_ARGUMENT_BEGINS = re.compile(
    r"[)\]{\"'“‘\[\d*-]|(?:true|false|null|True|False|None)\s*[,)]|[^\W\d]\w*\s*[=:]"
)
_PARAMETER = re.compile(
    r"\*{0,2}(?!(?:true|false|null|True|False|None)\b)[^\W\d]\w*\??"
    r"(?: ?: ?(?!(?:true|false|null)\b)[^\W\d][\w.\[\]| ]*(?:= ?\w+)?)?"
)
_SIGNATURE_LIMIT = 500


def read_line(
    c: Candidate,
    pos: int,
    *,
    ticks: int,
    alone: bool = True,
    printed: bool = False,
    stops: Words = NO_WORDS,
) -> Wait[int | None]:
    """Calls in the taught form from `pos` on, up to the end of their line.

    `ticks`: backticks around each. Not `alone`: one call with an object closes the message.
    `printed`: each may stand in `print(...)`. `stops`: markers that a call cannot reach beyond.
    """
    if ticks:
        stops = _INLINE_STOPS
    while True:
        unwrapped = pos
        if printed:
            _, unwrapped = yield from c.scan.word(pos, _PRINT)
        end = yield from _read_call(c, unwrapped, ticks=ticks, objects_only=not alone, stops=stops)
        if end is None:
            return None
        if unwrapped > pos:
            if (yield from c.scan.peek(end)) != ")":
                return None
            end += 1
            c.extend(end)
        after = yield from c.scan.skip(end, _JOINTS)
        char = yield from c.scan.peek(after)
        ends = not char or char == "\n"
        if char in ("<", "`"):
            token, _ = yield from c.scan.word(after, _LINE_ENDS if char == "<" else stops)
            ends = token is not None and (char == "<" or not ticks)
        if ends:
            if not alone:
                c.last = True
            end += len(c.scan.slice(end, after).rstrip(" \t\r"))
            c.extend(end)
            return end
        if not alone:
            return None
        if ticks:
            run = yield from c.scan.skip(after, _TICKS)
            if run - after != ticks:
                return None
            after = run
        pos = after


def _read_call(
    c: Candidate, start: int, *, ticks: int, objects_only: bool, stops: Words
) -> Wait[int | None]:
    """One call, with its closing ticks."""
    end = yield from read_name(c, start)
    if end is None:
        return None
    name = c.scan.slice(start, end)
    spec = c.names.resolve(name)
    if ticks and spec and (yield from c.scan.peek(end)) == "`":
        # `name`({...}): only the name stands in ticks.
        run = yield from c.scan.skip(end, _TICKS)
        if run - end != ticks or (yield from c.scan.peek(run)) != "(":
            return None
        end, ticks = run, 0
    blanks = yield from c.scan.blanks(end)
    char = yield from c.scan.peek(blanks)
    if char == "{" and spec and blanks - end <= 1:
        frame = yield from c.scan.value(blanks, stops)
        arguments: Written = c.scan.slice(blanks, frame.end)
    elif char == "(" and (blanks == end or (spec and blanks == end + 1)):
        spaced = blanks > end
        begins = yield from _begins(
            c, blanks + 1, object_only=objects_only or spec is None or spaced
        )
        if not begins:
            return None
        frame = yield from c.scan.value(blanks, stops)
        inner = c.scan.slice(blanks + 1, frame.end - 1 if frame.closed else frame.end)
        if _is_signature(inner):
            return None
        arguments = parse_parentheses(inner)
        if isinstance(arguments, CallArguments) and objects_only:
            return None
    else:
        return None
    if spec is None:
        if not frame.closed:
            return None
        if not c.names.closest(name):
            # Like no name on offer: code, unless it is the last thing said.
            c.last = True
    if frame.closed and spec:
        surplus = yield from c.scan.skip(frame.end, _SURPLUS)
        frame = replace(frame, end=surplus)
    stop, ending = yield from _closing_ticks(c, frame, ticks)
    if stop is None:
        return None
    c.propose(name, arguments, start if c.found else c.start, stop, ending=ending)
    return stop


def _is_signature(inner: str) -> bool:
    """Whether parentheses hold parameters with their types rather than values."""
    if not inner.strip() or len(inner) > _SIGNATURE_LIMIT:
        return False
    return all(_PARAMETER.fullmatch(part.strip()) for part in inner.split(","))


def _begins(c: Candidate, pos: int, *, object_only: bool) -> Wait[bool]:
    """Whether what stands behind the opening parenthesis can be arguments."""
    pos = yield from c.scan.skip(pos)
    char = yield from c.scan.peek(pos)
    if object_only:
        if char != "{":
            return False
        inside = yield from c.scan.skip(pos + 1)
        return (yield from c.scan.peek(inside)) in ("", '"', "'", "“", "‘", "}")
    if not char.isalpha() and char != "_":
        return not char or _ARGUMENT_BEGINS.match(char) is not None
    end = yield from c.scan.skip(pos, _WORD)
    after = yield from c.scan.skip(end)
    yield from c.scan.peek(after)
    return _ARGUMENT_BEGINS.match(c.scan.slice(pos, after + 1)) is not None or (
        c.scan.at(after) == ""
    )


def _closing_ticks(c: Candidate, frame: Frame, ticks: int) -> Wait[tuple[int | None, Ending]]:
    """Where a call ends with its ticks, None where it goes on instead."""
    ending = ending_of(frame)
    if not ticks or not (frame.closed or frame.stop):
        return frame.end, ending
    semicolon = frame.end
    if (yield from c.scan.peek(semicolon)) == ";":
        semicolon += 1
    run = yield from c.scan.skip(semicolon, _TICKS)
    if run - semicolon == ticks:
        return run, ending
    if run == semicolon and not c.scan.at(run):
        return frame.end, "forgiven"
    return (semicolon, ending) if c.scan.at(run) == "\n" and run == semicolon else (None, ending)


def read_list(c: Candidate, pos: int) -> Wait[int | None]:
    """Calls of offered tools in a Python list that is alone on its line."""
    pos = yield from c.scan.skip(pos + 1)
    if not (yield from c.scan.peek(pos)).isalpha():
        return None
    while True:
        end = yield from c.name(pos)
        name = c.scan.slice(pos, end)
        if (yield from c.scan.peek(end)) != "(" or c.names.resolve(name) is None:
            return None
        frame = yield from c.scan.value(end)
        inner = c.scan.slice(end + 1, frame.end - 1 if frame.closed else frame.end)
        if _is_signature(inner):
            return None
        start = pos if c.found else c.start
        c.propose(name, parse_parentheses(inner), start, frame.end, ending=ending_of(frame))
        pos = yield from c.scan.skip(frame.end)
        char = yield from c.scan.peek(pos)
        if not char:
            c.settle(frame.end, "forgiven")
            return frame.end
        pos = yield from c.scan.skip(pos + 1)
        if char == "]":
            c.extend(c.scan.slice(frame.end, pos).index("]") + frame.end + 1)
            break
        if char != ",":
            return None
    end = c.reach
    after = yield from c.scan.blanks(end)
    return end if (yield from c.scan.peek(after)) in ("", "\n", "<") else None
