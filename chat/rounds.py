"""One round of a turn: what a response brought, and how the next request tells of it.

Invariant: pure. A round is told as two items, neither of them empty, and every call among them has
its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from prompt.dialogue import turn_item
from prompt.events import CallError, Finished, Usage
from prompt.prompt import EXCHANGE
from prompt.surface import canonical_json
from prompt.taught import result_text, written_call
from prompt.tokens import estimate, within
from prompt.values import PromptItem, ReasoningPart, TextPart, ToolCall, ToolResult, Turn

LEAST_RESULT = 100
"""Tokens that any result may have, so that a full prompt still tells how a call went."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A call that was not run because it lacks a value, and what is told of it. `call` is None
    where what was written, `raw`, cannot be a call as it stands."""

    name: str
    told: str
    raw: str = ""
    call: ToolCall | None = None

    @property
    def result(self) -> ToolResult | None:
        """What is told, where there is a call that it can answer."""
        if self.call is None:
            return None
        return ToolResult(call_id=self.call.id, name=self.name, text=self.told, outcome="invalid")


@dataclass(slots=True)
class Round:
    """What one response brought."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    errors: list[CallError] = field(default_factory=list[CallError])
    held: list[Held] = field(default_factory=list[Held])
    thinking: list[str] = field(default_factory=list[str])
    """What came in a field of its own."""
    thought_in_text: bool = False
    finished: Finished = field(default=Finished(reason=None))
    usage: Usage | None = None


def fitting(results: Sequence[ToolResult], room: int) -> list[ToolResult]:
    """The results cut so that together they keep to `room` tokens, each to its fair share."""
    cut_down: list[ToolResult] = []
    for left, result in zip(range(len(results), 0, -1), results, strict=True):
        text = within(result.text, max(room // left, LEAST_RESULT))
        if cut := len(result.text) - len(text):
            text += f"\n[cut for lack of room: {cut} more characters]"
        room -= estimate(text)
        cut_down.append(replace(result, text=text))
    return cut_down


def as_items(
    text: str, got: Round, results: Sequence[ToolResult], notes: Sequence[str]
) -> tuple[PromptItem, PromptItem]:
    """A round as two items: what the model wrote, and what it is told. Neither is ever empty,
    for an empty one would let the other lengthen the message before it."""
    words = [text.strip(), *(_written(error) for error in got.errors)]
    # Held calls go last: they wait for what the others bring.
    calls = [*got.calls, *(each.call for each in got.held if each.call)]
    results = [*results, *(each.result for each in got.held if each.result)]
    written = [each for each in got.held if each.call is None]
    waits = [result_text(each.name, each.told) for each in written]
    lines = [*(_told(error) for error in got.errors), *waits, *notes]
    texts = [each.raw for each in written]
    parts = (*thought_parts(got.thinking), *_texts(words), *calls, *_texts(texts))
    said = Turn(role="assistant", parts=parts)
    told = Turn(role="tool", parts=(*results, *_texts(lines)))
    return turn_item(said, tag=EXCHANGE), turn_item(told, tag=EXCHANGE)


def thought_parts(thinking: Sequence[str]) -> tuple[ReasoningPart, ...]:
    """Thinking as the parts of a turn, none where there is none."""
    text = "".join(thinking)
    return (ReasoningPart(text=text),) if text.strip() else ()


def thoughtless(item: PromptItem) -> PromptItem:
    """The item without thinking."""
    parts = tuple(part for part in item.parts if not isinstance(part, ReasoningPart))
    return replace(item, parts=parts)


def _texts(texts: Sequence[str]) -> list[TextPart]:
    return [TextPart(text=text) for text in texts if text]


def _written(error: CallError) -> str:
    """The failed call as the model wrote it; of a native one only the arguments are raw."""
    if error.origin == "native":
        return written_call(error.name, error.raw)
    return error.raw.strip() or written_call(error.name, "")


def _told(error: CallError) -> str:
    return result_text(
        error.name or "tool call",
        canonical_json({"error": error.code, "tool": error.name, "message": error.message}),
    )
