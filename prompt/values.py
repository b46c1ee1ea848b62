"""What a conversation is made of: turns, their parts, tools and prompt items.

Invariant: frozen values with equality by content. No identity of a storage row, no SDK
type and no wire format; each layer translates at its own edge.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, TypeAlias

Json: TypeAlias = Any
"""A value that JSON can hold. Not narrowed further: schemas and arguments are foreign data,
and each consumer checks the shape it needs."""

JsonObject: TypeAlias = Mapping[str, Json]

Span: TypeAlias = tuple[int, int]
"""Half-open range of characters in the text of one model response."""

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Origin: TypeAlias = Literal["native", "text"]
Outcome: TypeAlias = Literal["ok", "failed", "denied", "timeout", "invalid"]


class Zone(StrEnum):
    """How often the bytes of a prompt item may change; zones are sent in this order."""

    STABLE = "stable"
    """Only when an admin changes configuration or a verdict or tool list changes."""
    HISTORY = "history"
    """Append-only, apart from trimming whole blocks from the front."""
    TAIL = "tail"
    """Every turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPart:
    """Words, as they were written."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReference:
    """An image that a message carries.

    `url` is where its bytes are, or a data URL that holds them. `width` and `height` are in
    pixels, 0 where they are not known.
    """

    url: str = field(repr=False)
    description: str = ""
    width: int = 0
    height: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that a message carries; the bytes stay where they are.

    `size` is in bytes. `content_type` is what the sender claims, empty where nothing is said.
    `url` may stop working after some hours.
    """

    id: int
    message_id: int
    name: str
    content_type: str
    size: int
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A request by the model to run a tool that it was offered.

    `arguments` are parsed and satisfy the tool's schema. `raw_arguments` is JSON as the model
    wrote it, so that number spelling, escapes and key order survive; canonical JSON where the
    source was no JSON. `span` is None for native calls. `repaired` tells that the text was
    not valid as it stood.
    """

    id: str
    name: str
    arguments: JsonObject
    raw_arguments: str
    origin: Origin
    span: Span | None = None
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the model is told about one call, whether it ran or not."""

    call_id: str
    name: str
    text: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasoningPart:
    """What the model thought before the rest of its turn; for the model alone."""

    text: str


Part: TypeAlias = TextPart | ImageReference | ToolCall | ToolResult | ReasoningPart


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One contribution to a dialogue.

    `author` is a display name for members and None for the model and for tool results.
    """

    role: Role
    parts: tuple[Part, ...]
    author: str | None = None
    at: datetime | None = None

    @property
    def text(self) -> str:
        """The words of this turn, without calls, results and images."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often something may happen: `calls` within any `seconds`."""

    calls: int
    seconds: float


USUAL_RATE = Rate(calls=60, seconds=60)
"""For tools that say nothing of their own: nobody who talks gets there, a program does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered: wire name, description and JSON schema of the arguments.

    `source` is where it comes from (`builtin`, `mcp:<server>`). `read_only` tools may run
    side by side; `destructive` ones need consent. `egress` tools carry words of the conversation
    to a third party; `foreign` ones may bring back text that nobody here has written. `trusted`
    tells that an admin vouches for the server that it comes from. `permission` is what the asking
    member needs, as Discord's API names it (`manage_messages`); empty for none. `rate` bounds how
    often one member may call it. `seconds` is how long a call may take where that is longer than
    usual. `offered` is the schema that is sent where that is a simpler one; `parameters` is what
    arguments are checked against. `registered` is the tool's own name where endpoints would not
    take it.
    """

    name: str
    description: str
    parameters: JsonObject
    source: str = "builtin"
    read_only: bool = False
    destructive: bool = False
    egress: bool = False
    foreign: bool = False
    trusted: bool = False
    permission: str = ""
    rate: Rate = USUAL_RATE
    seconds: float | None = None
    offered: JsonObject | None = None
    registered: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptItem:
    """One tagged piece of a prompt.

    `text` is what the item says, in the form that verbatim mode sends. `parts` holds the
    structured turn behind it, for endpoints that take calls and results as fields of their own.
    `priority` ranks items that may be dropped over budget: the lowest goes first; None marks
    an item that is never dropped alone. `source` names what an item came from, for reports.
    """

    tag: str
    role: Role
    text: str
    zone: Zone
    priority: float | None = None
    source: str = ""
    parts: tuple[Part, ...] = field(default=())
