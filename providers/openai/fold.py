"""Folds the chunks of one answer into StreamEvents.

Invariant: pure, chunk after chunk in order. Text goes through the verbatim parser, so that a
call is found in whatever form it comes; native calls are checked like text calls and handed
out at the end, because only the finish reason tells whether they are whole. A call that comes
natively and as text runs once.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from prompt.dispatcher import USE_LOADED_TOOL, unwrapped
from prompt.events import (
    CallError,
    CallErrorCode,
    CallStarted,
    Dropped,
    Finished,
    FinishReason,
    ParserEvent,
    StreamEvent,
    Usage,
)
from prompt.surface import ToolSurface
from prompt.values import Json, JsonObject, ToolCall
from providers.base import CallKey
from providers.openai.fault import Fault, as_object, fault_in
from providers.openai.native import NativeCall, NativeCalls
from providers.openai.sieve import Sieve
from providers.openai.surrogates import Halves
from providers.verbatim import (
    Bound,
    NameIndex,
    ParserSettings,
    VerbatimParser,
    bind_call,
    call_id,
    call_key,
    parallel_calls,
    repeat_refused,
    repeats,
)
from providers.wire import AnswerTool

_FINISH_REASONS: dict[str, FinishReason] = {
    **dict.fromkeys(("length", "max_tokens", "max_length", "model_length"), "length"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("content_filter", "safety"), "content_filter"),
    # The server gave up, not the model.
    **dict.fromkeys(("error", "abort", "aborted", "cancel", "cancelled", "canceled"), "error"),
    **dict.fromkeys(("timeout", "insufficient_system_resource"), "error"),
}
"""All others are ways to say that the model stopped by itself."""

_REASONING = ("reasoning_content", "reasoning")
MOST_CHARACTERS = 500_000
"""Of one answer, thinking and calls included: more than any model writes in a turn. A server that
goes on regardless of the limit that it was given would otherwise fill the memory."""

_TRUNCATED = "The call was cut off by the length limit and did not run. Write a shorter one."
_BROKE_OFF = "The answer broke off, so the call did not run. Write it again."


class ChunkFold:
    """Feed decoded chunks, or one whole completion; close when the stream is over.

    `first_call_only` and `answer_tool` are the switches `parallel_calls` (one) and
    `server_answer_tool`.
    """

    def __init__(
        self,
        surface: ToolSurface,
        settings: ParserSettings | None = None,
        *,
        id_seed: str = "",
        first_call_only: bool = False,
        answer_tool: AnswerTool = "show_text",
    ) -> None:
        self._surface = surface
        self._names = NameIndex(surface)
        self._settings = settings or ParserSettings()
        self._id_seed = id_seed
        self._sieve = Sieve(surface, first_call_only=first_call_only, answer_tool=answer_tool)
        self._parser = VerbatimParser(surface, self._settings, id_seed=id_seed)
        self._native = NativeCalls(
            self._names, max_argument_chars=self._settings.max_argument_chars
        )
        self._text_halves, self._thinking_halves = Halves(), Halves()
        self._text_calls: Counter[CallKey] = Counter()
        self.begun = False
        """The model has begun to write."""
        self._reason: FinishReason | None = None
        self._marked = False
        self._usage: Usage | None = None
        self._taken = 0
        self.fault: Fault | None = None
        """Set once a chunk reports an error: close then, and report it."""

    def feed(self, chunk: JsonObject, *, event_name: str = "") -> list[StreamEvent]:
        """Events that this chunk completes. `event_name` is that of the server-sent event."""
        if fault := fault_in(chunk, event_name=event_name):
            self.fault = fault
            return []
        self._note_usage(chunk)
        choices: Json = chunk.get("choices")
        # Token counts in a chunk of their own are the last that a server sends.
        self._marked |= choices == [] and as_object(chunk.get("usage")) is not None
        # One choice is asked for; its index counts up on some servers and means nothing.
        choice = as_object(choices[0]) if isinstance(choices, list) and choices else None
        if choice is None:
            return []
        if isinstance(reason := choice.get("finish_reason"), str) and reason:
            self._reason = _FINISH_REASONS.get(reason.lower(), "stop")
        delta = as_object(choice.get("delta"))
        if delta is None and (whole := as_object(choice.get("message"))) is not None:
            self._marked = True
            delta = None if self.begun else whole
        return [] if delta is None else self._take(delta)

    def close(self, *, done: bool = False) -> list[StreamEvent]:
        """Everything held back, then Usage if the server told it, then Finished.

        `done` says that the server marked the end: an answer without a finish reason is then
        whole, not cut off. So it is after token counts in a chunk of their own, and where it came
        as one message. After a fault native calls are left out: nobody knows their end.
        """
        marked = done or self._marked or self._reason is not None or self.fault is not None
        reason = "error" if self.fault else self._reason or ("stop" if marked else None)
        native = [] if self.fault else self._spread(self._native.close(), reason)
        rest: list[ParserEvent] = []
        if thinking := self._thinking_halves.close():
            rest += self._parser.feed_reasoning(thinking)
        if text := self._text_halves.close():
            rest += self._parser.feed(text)
        rest += self._parser.close(reason, native_calls=bool(native))
        checked = [self._checked(call, ordinal, reason) for ordinal, call in enumerate(native)]
        events = self._unwrapped(self._sieve.passed(self._once(rest, checked)))
        if self._usage is not None:
            events.append(self._usage)
        said = "error" if self.fault else self._reason
        return [*events, Finished(reason=said, marked=marked)]

    def _take(self, delta: JsonObject) -> list[StreamEvent]:
        events: list[ParserEvent] = []
        thinking, text = _content(delta.get("content"))
        named = next((value for key in _REASONING if (value := _text(delta.get(key)))), "")
        if thinking := self._thinking_halves.feed(named + thinking):
            events += self._parser.feed_reasoning(thinking)
        if text := self._text_halves.feed(text):
            events += self._parser.feed(text)
        self._note_calls(events)
        given: Json = delta.get("tool_calls")
        entries = cast("list[Json]", given) if isinstance(given, list) else []
        if not entries and (function := as_object(delta.get("function_call"))):
            entries = [{"function": function}]
        started = self._native.feed(entries)
        self.begun = self.begun or bool(thinking or text or entries)
        self._taken += len(thinking) + len(text)
        if self._taken + self._native.taken > MOST_CHARACTERS:
            self.fault = Fault(message=f"the answer is longer than {MOST_CHARACTERS} characters")
        announced = [CallStarted(name=call.plain_name) for call in started]
        return self._unwrapped(self._sieve.passed([*events, *announced]))

    def _unwrapped(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Calls of the stable dispatcher as calls of the tools that they are for; what is
        malformed stays as it is, for dispatch to refuse."""
        if self._surface.dispatcher != USE_LOADED_TOOL:
            return events
        return [
            _real(event) if isinstance(event, ToolCall) else event
            for event in events
            if not (isinstance(event, CallStarted) and event.name == USE_LOADED_TOOL)
        ]

    def _note_calls(self, events: Sequence[ParserEvent]) -> None:
        self._text_calls.update(_key(event) for event in events if isinstance(event, ToolCall))

    def _note_usage(self, chunk: JsonObject) -> None:
        fields = as_object(chunk.get("usage"))
        if fields is None:
            return
        details = as_object(fields.get("prompt_tokens_details")) or {}
        timings = as_object(chunk.get("timings")) or {}
        cached = _count(details.get("cached_tokens"))
        self._usage = Usage(
            prompt_tokens=_count(fields.get("prompt_tokens")),
            completion_tokens=_count(fields.get("completion_tokens")),
            cached_tokens=_count(timings.get("cache_n")) if cached is None else cached,
        )

    def _spread(self, calls: list[NativeCall], reason: FinishReason | None) -> list[NativeCall]:
        """The calls, those inside one of `multi_tool_use.parallel` each by itself."""
        if reason in {"length", "error"}:
            return calls
        return [inner for call in calls for inner in (_inner(call, self._names) or [call])]

    def _checked(
        self, call: NativeCall, ordinal: int, reason: FinishReason | None
    ) -> ToolCall | CallError:
        """The call if it may run, and why not otherwise."""
        if reason == "length":
            # Servers close the brackets of a cut call themselves: it may look whole.
            return _refused(call, "truncated", _TRUNCATED)
        if reason == "error":
            return _refused(call, "truncated", _BROKE_OFF)
        if call.size > self._settings.max_argument_chars:
            return _refused(call, "too_large", "The arguments are too long. Write a shorter call.")
        spec = self._names.resolve(call.name) or self._names.resolve(call.plain_name)
        if spec is None:
            return _refused(call, "unknown_tool", self._names.unknown(call.plain_name))
        bound = bind_call(spec, call.arguments, complete=reason is not None)
        if isinstance(bound, Bound):
            if repeated := repeats(spec, bound.arguments, self._names, self._settings):
                return _refused(call, "copied", repeat_refused(spec, repeated))
            return ToolCall(
                id=call_id(f"{self._id_seed}:native", ordinal),
                name=spec.name,
                arguments=bound.arguments,
                raw_arguments=bound.raw_arguments,
                origin="native",
                repaired=bound.repaired,
            )
        if reason is None and bound.unreadable:
            return _refused(call, "truncated", _BROKE_OFF)
        code = "open_argument" if bound.waits else "invalid_arguments"
        return replace(_refused(call, code, bound.message(spec)), waits=bound.waits)

    def _once(
        self, rest: Sequence[ParserEvent], native: Sequence[ToolCall | CallError]
    ) -> list[StreamEvent]:
        """The last events of the text and the native calls, each call in one of its forms.

        A text call that was handed out before stays; one that only the end made certain gives
        way to the native form, which tells more about the endpoint.
        """
        events: list[StreamEvent] = []
        handed_out = self._text_calls.copy()
        coming = Counter(_key(call) for call in native if isinstance(call, ToolCall)) - handed_out
        for event in rest:
            if isinstance(event, ToolCall) and coming[_key(event)] > 0:
                coming[_key(event)] -= 1
                if event.span is not None:
                    events.append(Dropped(span=event.span, why="the same call came natively"))
            else:
                events.append(event)
        for call in native:
            if isinstance(call, ToolCall) and handed_out[_key(call)] > 0:
                handed_out[_key(call)] -= 1
            else:
                events.append(call)
        return events


def _real(call: ToolCall) -> ToolCall:
    inner = unwrapped(call.raw_arguments) if call.name == USE_LOADED_TOOL else None
    if inner is None:
        return call
    return replace(
        call, name=inner.name, arguments=inner.arguments, raw_arguments=inner.raw_arguments
    )


def _inner(call: NativeCall, names: NameIndex) -> list[NativeCall]:
    found = parallel_calls(call.plain_name, call.arguments, names)
    written = [each.arguments for each in found]
    if not all(arguments is None or isinstance(arguments, str) for arguments in written):
        return []
    return [
        NativeCall(index=None, id="", name=each.name, whole=cast("str", each.arguments or "{}"))
        for each in found
    ]


def _key(call: ToolCall) -> CallKey:
    return call_key(call.name, call.arguments)


def _refused(call: NativeCall, code: CallErrorCode, message: str) -> CallError:
    return CallError(
        code=code, name=call.plain_name, message=message, origin="native", raw=call.arguments
    )


def _content(value: Json) -> tuple[str, str]:
    """Thinking and words of a `content` field; some servers send a list of typed parts."""
    if not isinstance(value, list):
        return "", _text(value)
    thinking, words = "", ""
    for part in cast("list[Json]", value):
        fields = as_object(part) or {}
        thinking += "".join(_content(fields.get("thinking")))
        words += _text(fields.get("text"))
    return thinking, words


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
