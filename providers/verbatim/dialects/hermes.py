"""Hermes tags and their aliases: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.

Written by Qwen 2.5 and 3, Hermes, Granite, Ernie, InternLM, Jamba, LongCat and by any model
that was shown it. What stands inside may have any shape.
"""

from providers.verbatim.candidate import Candidate
from providers.verbatim.elements import attributes, tag_close
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import ending_of, read_arguments, read_wrapper
from providers.verbatim.scanner import Wait

_NAMES = ("tool_call", "tool_calls", "toolcall", "function_call", "function_calls", "tool_use")
_CLOSERS = (
    *(f"</{name}>" for name in _NAMES),
    "</tools>",
    "</tool>",
    "</functioncall>",
    "</longcat_tool_call>",
    "</dots_function_call>",
    "</tool_code>",
)


def _with_attributes(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    """`<functioncall {...}>` holds the call where attributes would stand; other tags may name
    the tool in one, or have any that say nothing."""
    inside = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(inside)) == "{":
        return (yield from _inside_the_tag(c, grammar, start, inside))
    end = yield from tag_close(c, inside)
    if end < 0:
        return None
    name = attributes(c.scan.slice(inside, end)).get("name", "")
    if not name:
        return (yield from read_wrapper(c, grammar, _WRAPPER, end + 1))
    body = yield from c.scan.skip(end + 1)
    return (yield from read_arguments(c, grammar, name, start, body))


def _inside_the_tag(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    frame = yield from c.watch(pos, c.scan.value(pos, grammar.closing))
    end = yield from c.scan.skip(frame.end)
    closed = (yield from c.scan.peek(end)) == ">"
    calls = c.read_object(frame)
    if not calls:
        return None
    stop = end + 1 if closed else frame.end
    c.propose_all(calls, start, stop, ending="closed" if closed else ending_of(frame))
    return stop


_WRAPPER = Wrapper(opener="<tool_call>", closers=_CLOSERS)

DIALECT = Dialect(
    name="hermes",
    wrappers=(
        *(Wrapper(opener=f"<{name}>", closers=_CLOSERS) for name in _NAMES),
        Wrapper(opener="<functioncall>", closers=_CLOSERS),
        Wrapper(opener="<longcat_tool_call>", closers=_CLOSERS),
        Wrapper(opener="<dots_function_call>", closers=_CLOSERS),
        Wrapper(opener="<tool_code>", closers=_CLOSERS),
        # Also the tag around tool definitions, so that prose in it is no attempt to call.
        Wrapper(opener="<tools>", closers=_CLOSERS, strict=False),
    ),
    calls={f"<{name} ": _with_attributes for name in (*_NAMES, "functioncall")},
)
