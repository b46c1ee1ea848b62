"""Hermes tags and their aliases: `<tool_call>{"name": ..., "arguments": {...}}</tool_call>`.

Written by Qwen 2.5 and 3, Hermes, Granite, Ernie, InternLM, Jamba, LongCat and by any model
that was shown it. What stands inside may have any shape.
"""

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import ending_of
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


def _inside_the_tag(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    """`<functioncall {...}>`: the object stands where attributes would."""
    pos = yield from c.scan.skip(pos)
    if (yield from c.scan.peek(pos)) != "{":
        return None
    frame = yield from c.watch(pos, c.scan.value(pos, grammar.closing))
    end = yield from c.scan.skip(frame.end)
    closed = (yield from c.scan.peek(end)) == ">"
    calls = c.read_object(frame)
    if not calls:
        return None
    stop = end + 1 if closed else frame.end
    c.propose_all(calls, start, stop, ending="closed" if closed else ending_of(frame))
    return stop


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
    calls={"<functioncall ": _inside_the_tag, "<tool_call ": _inside_the_tag},
)
