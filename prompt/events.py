"""What a model's response is made of, in the order in which it streams.

Invariant: every event that comes from response text has a span. The spans of TextDelta,
ReasoningDelta, ToolCall, CallError and Dropped tile that text: no gap, no overlap. CallStarted
and Reclassified only announce or re-label a span that other events cover.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from prompt.values import Origin, Span, ToolCall

FinishReason: TypeAlias = Literal["stop", "length", "tool_calls", "content_filter", "error"]

CallErrorCode: TypeAlias = Literal[
    "unknown_tool",
    "malformed",
    "invalid_arguments",
    "truncated",
    "copied",
    "too_large",
    "open_argument",
]

AFTER_CALLS = "words after the last call"
"""`why` of a Dropped that ends a response: what follows a call was written without its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDelta:
    """Words of the answer. `span` is None where the text did not pass through the parser."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningDelta:
    """Thinking. Never shown as an answer. `span` is None for a separate reasoning field."""

    text: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reclassified:
    """Text sent earlier, exactly that of `span`, turns out to be reasoning: take it back."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """The name of a call is certain; its arguments are still being written."""

    name: str
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """The model tried to call and failed; `message` is written for the model.

    `name` is the name as the model wrote it, empty where none could be read. `raw` is what it
    wrote: the model may be shown it again, a member never. `waits` are the parameters of an
    `open_argument`, which is no mistake: the model says that it has yet to find their values.
    """

    code: CallErrorCode
    name: str
    message: str
    origin: Origin = "text"
    raw: str = ""
    span: Span | None = None
    waits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Text that reaches nobody, such as a marker or words after the last call, and why."""

    span: Span
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """The rule that decided what the next event is; sent only where explanations are asked for."""

    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """The model writes, but what it wrote so far may still become a call and is held back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Token counts as the endpoint reports them; None where it does not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The response is over. `reason` is None where the stream ended without telling why. `marked`
    tells whether the server said in any way that this is the end."""

    reason: FinishReason | None
    marked: bool = True

    @property
    def broke_off(self) -> bool:
        """Whether the model was stopped by something else than itself or a limit."""
        return self.reason == "error" or not self.marked


ParserEvent: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | Reclassified
    | CallStarted
    | ToolCall
    | CallError
    | Dropped
    | Decided
)
StreamEvent: TypeAlias = ParserEvent | Begun | Usage | Finished
