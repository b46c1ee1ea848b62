"""Lets pass what an admin wants of an answer: the first call alone, no call of a server's own tool.

Invariant: the spans of what passes tile what the spans of what came tiled.
"""

import json
from collections.abc import Sequence

from prompt.events import CallError, Dropped, StreamEvent, TextDelta
from prompt.surface import ToolSurface
from prompt.values import Json, JsonObject, ToolCall
from providers.openai.fault import as_object
from providers.wire import AnswerTool

_ANSWER = "answer"
"""The function that LocalAI adds to those it was sent, for a model that does not want any."""

_WORDS = ("message", "answer", "text", "content")
"""What its argument is called."""


class Sieve:
    """Takes the events of one answer, some at a time."""

    def __init__(
        self, surface: ToolSurface, *, first_call_only: bool, answer_tool: AnswerTool
    ) -> None:
        self._first_call_only = first_call_only
        self._answer_tool = answer_tool
        self._is_ours = _ANSWER in surface.callable
        self._called = False

    def passed(self, events: Sequence[StreamEvent]) -> list[StreamEvent]:
        """What is left of `events`."""
        return [kept for event in events if (kept := self._kept(event)) is not None]

    def _kept(self, event: StreamEvent) -> StreamEvent | None:
        match event:
            case ToolCall():
                if self._called and self._first_call_only:
                    return _hidden(event, "only the first call runs")
                self._called = True
                return event
            case CallError(code="unknown_tool", name="answer") if not self._is_ours:
                words = _words_in(event.raw)
                if words and self._answer_tool == "show_text":
                    return TextDelta(text=words, span=event.span)
                return _hidden(event, "a call of the server's own answer function")
            case _:
                return event


def _hidden(event: ToolCall | CallError, why: str) -> Dropped | None:
    return None if event.span is None else Dropped(span=event.span, why=why)


def _words_in(raw: str) -> str:
    """What the answer function is to say; `raw` are its arguments, or the call around them."""
    try:
        call: Json = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    arguments = _nested(call)
    words = next((value for key in _WORDS if (value := arguments.get(key))), "")
    return words if isinstance(words, str) else ""


def _nested(call: Json) -> JsonObject:
    fields = as_object(call) or {}
    for key in ("function", "arguments", "parameters"):
        inner: Json = fields.get(key)
        if isinstance(inner, str):
            try:
                inner = json.loads(inner)
            except (ValueError, RecursionError):
                continue
        if (found := as_object(inner)) is not None:
            fields = found
    return fields
