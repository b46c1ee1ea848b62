"""One turn: stream, run tools, go on, until the model has answered in words.

Invariant: requests within a turn only grow; each starts with the messages of the one before.
Every call that was read gets one result, and the reply ends with an answer, a marked partial
answer or a line that says what went wrong.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from chat.reply import Reply
from chat.toolwork import ToolWork, refused
from prompt.dialogue import turn_item, turn_text
from prompt.events import (
    AFTER_CALLS,
    CallError,
    Dropped,
    Finished,
    FinishReason,
    ReasoningDelta,
    Reclassified,
    TextDelta,
)
from prompt.prompt import Prompt
from prompt.surface import canonical_json
from prompt.taught import result_text
from prompt.values import Part, PromptItem, TextPart, ToolCall, ToolResult, Turn, Zone
from providers.base import CallKey, Provider, RequestOptions
from providers.verbatim import find_calls

log = logging.getLogger(__name__)

MAX_ROUNDS = 8
"""Requests in one turn. A call in the last one does not run."""

MAX_CALL_ERRORS = 2
"""How often in a turn the model is told that its call failed before the turn ends."""

LAST_ROUND = "No more tool calls run in this turn. Answer in words now."
ANSWER_NUDGE = "Please answer in words."

NO_ANSWER = "The model gave no answer. Ask again, or put it in other words."
CUT_BY_LENGTH = "The answer was cut off at the length limit."
CALL_FAILED = "The model tried to use a tool, but its call could not be understood."
TOO_MANY_ROUNDS = "The model kept calling tools without answering, so the turn was ended."


@dataclass(slots=True)
class _Round:
    """What one response brought."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    errors: list[CallError] = field(default_factory=list[CallError])
    finish_reason: FinishReason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignCalls:
    """Calls that stand in text of this turn which the model did not write itself."""

    copied: frozenset[CallKey] = frozenset()
    quoted: frozenset[CallKey] = frozenset()


class TurnRun:
    """Runs one turn and keeps what it said and did; `turns` is what history will replay."""

    def __init__(
        self,
        provider: Provider,
        work: ToolWork,
        reply: Reply,
        changed: Callable[[], None],
        options: RequestOptions,
    ) -> None:
        self._provider = provider
        self._work = work
        self._reply = reply
        self._changed = changed
        self._options = options
        self._call_errors = 0
        self._nudged = False
        self.turns: list[Turn] = []
        self.native_calls_seen = False

    async def run(self, prompt: Prompt) -> None:
        """Answer `prompt`. Raises EndpointError with what came before it kept in the reply."""
        for number in range(1, MAX_ROUNDS + 1):
            options = replace(
                self._options,
                round=number,
                copied=self._options.copied | self._copied(prompt),
            )
            got = await self._stream(prompt, options)
            text = self._reply.next_round()
            if not got.calls and not got.errors:
                self._record(text)
                if text.strip() or self._nudged:
                    self._end(text, got.finish_reason)
                    return
                self._nudged = True
                prompt = prompt.grown(_note(ANSWER_NUDGE))
                continue
            last = number == MAX_ROUNDS
            results = (
                [refused(call, "round_limit", message=LAST_ROUND) for call in got.calls]
                if last
                else await self._work.run(got.calls)
            )
            self._record(text, got.calls, results)
            self._call_errors += bool(got.errors)
            if last:
                self._reply.notices.append(TOO_MANY_ROUNDS)
                return
            if self._call_errors > MAX_CALL_ERRORS and not got.calls:
                self._reply.notices.append(CALL_FAILED)
                return
            prompt = prompt.grown(*_exchange(text, got, results))
            if number == MAX_ROUNDS - 1:
                prompt = prompt.grown(_note(LAST_ROUND))

    async def _stream(self, prompt: Prompt, options: RequestOptions) -> _Round:
        got = _Round()
        self._reply.state = "thinking"
        self._changed()
        async with self._provider.stream(prompt, options) as events:
            async for event in events:
                match event:
                    case TextDelta(text=text, span=span):
                        self._reply.write(text, span)
                        self._reply.state = "writing"
                        self._changed()
                    case Reclassified(span=span):
                        self._reply.take_back(span)
                        self._changed()
                    case ReasoningDelta():
                        pass  # never shown; kept nowhere
                    case ToolCall():
                        got.calls.append(event)
                        self.native_calls_seen |= event.origin == "native"
                    case CallError():
                        got.errors.append(event)
                        log.info("a call failed: %s", event.code)
                    case Dropped(why=why) if why == AFTER_CALLS:
                        # Whatever follows a call was written without its result.
                        break
                    case Finished(reason=reason):
                        got.finish_reason = reason
                    case _:
                        pass
        return got

    def _copied(self, prompt: Prompt) -> frozenset[CallKey]:
        """Calls that stand in tool results of this turn: running them would obey a page."""
        results = [
            part.text
            for item in prompt.exchanges
            for part in item.parts
            if isinstance(part, ToolResult)
        ]
        return frozenset[CallKey]().union(*(find_calls(text, prompt.surface) for text in results))

    def _end(self, text: str, finish_reason: FinishReason | None) -> None:
        if not text.strip() and not self._reply.text:
            self._reply.notices.append(NO_ANSWER)
            self._reply.state = "failed"
        elif finish_reason == "length":
            self._reply.notices.append(CUT_BY_LENGTH)

    def _record(
        self, text: str, calls: Sequence[ToolCall] = (), results: Sequence[ToolResult] = ()
    ) -> None:
        """Keep a round for the history. Calls that could not be read are left out: what failed
        once should not be an example for later turns."""
        words = (TextPart(text=text.strip()),) if text.strip() else ()
        if words or calls:
            self.turns.append(Turn(role="assistant", parts=(*words, *calls)))
        if results:
            self.turns.append(Turn(role="tool", parts=tuple(results)))


def _exchange(
    text: str, got: _Round, results: Sequence[ToolResult]
) -> tuple[PromptItem, PromptItem]:
    """A round as two items: what the model wrote, and what it is told."""
    words = [TextPart(text=text.strip())] if text.strip() else []
    parts: tuple[Part, ...] = (*words, *got.calls)
    said = Turn(role="assistant", parts=parts)
    wrong = [_told(error) for error in got.errors]
    raw = [error.raw.strip() for error in got.errors if error.raw.strip()]
    told = Turn(role="tool", parts=(*results, *(TextPart(text=line) for line in wrong)))
    item = turn_item(said, tag="exchange")
    return (
        replace(
            item,
            text="\n".join(filter(None, [item.text, *raw])),
            parts=(*parts, *(TextPart(text=line) for line in raw)),
        ),
        replace(turn_item(told, tag="exchange"), text=turn_text(told)),
    )


def _told(error: CallError) -> str:
    return result_text(
        error.name or "tool call",
        canonical_json({"error": error.code, "tool": error.name, "message": error.message}),
    )


def _note(text: str) -> PromptItem:
    return PromptItem(tag="note", role="user", text=text, zone=Zone.TAIL)
