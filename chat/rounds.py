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
from prompt.values import PromptItem, ReasoningPart, TextPart, ToolCall, ToolResult, Turn

_RAW_SHOWN = 400
"""Characters of a call that failed which the model reads again. It may have written without end."""

_NAME_SHOWN = 64
"""Characters of a name that no tool has; longer ones are not allowed anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A call that was not run because it lacks a value, and what is told of it. `key` is what tells
    it from others. `call` is None where what was written, `raw`, cannot be a call as it stands."""

    name: str
    told: str
    key: tuple[str, str]
    raw: str = ""
    call: ToolCall | None = None

    @property
    def written(self) -> str:
        """The call as it was written."""
        call = self.call
        return self.raw if call is None else written_call(call.name, call.raw_arguments)

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
    """The failed call as the model wrote it, as far as that helps to write it better; of a native
    one only the arguments are raw."""
    raw = _clipped(error.raw, _RAW_SHOWN)
    if error.origin == "native":
        return written_call(_name(error), raw)
    return raw.strip() or written_call(_name(error), "")


def _told(error: CallError) -> str:
    name = _name(error)
    return result_text(
        name or "tool call",
        canonical_json({"error": error.code, "tool": name, "message": error.message}),
    )


def _name(error: CallError) -> str:
    return _clipped(error.name, _NAME_SHOWN)


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}..."
