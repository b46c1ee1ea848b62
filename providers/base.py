"""What a turn needs from a model endpoint, whichever adapter speaks to it.

Invariant: an adapter hands out StreamEvents and raises only EndpointError. Nothing of its SDK
or wire format passes this boundary.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from prompt.events import StreamEvent
from prompt.prompt import Prompt
from prompt.values import JsonObject
from providers.wire import Change, Wire

CallKey: TypeAlias = tuple[str, str]
"""A tool's name and its arguments as canonical JSON: two calls with one key do the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOptions:
    """What one request asks for beside its prompt.

    `turn_id` and `round` make call ids deterministic. `copied` are calls that stand in foreign
    text of this turn, `quoted` those that stand in the asking member's own message: a call among
    them, in text or native, that is not read-only does not run. `slot` names one of the server's
    slots, where it has such, None leaves the choice to it. `record` is given the body of a streamed
    answer as it comes, byte for byte.
    """

    turn_id: str
    round: int = 1
    max_tokens: int | None = None
    temperature: float | None = None
    copied: frozenset[CallKey] = field(default=frozenset())
    quoted: frozenset[CallKey] = field(default=frozenset())
    slot: int | None = None
    wire: Wire = field(default=Wire())
    record: Callable[[bytes], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """The answer to one request outside of any turn, as it came.

    `first` and `seconds` are the times, in seconds since the request was sent, of the first byte
    of the body and of the last one.
    """

    status: int
    text: str
    first: float = 0.0
    seconds: float = 0.0


class Provider(Protocol):
    """An endpoint together with a model."""

    @property
    def endpoint(self) -> str:
        """Base URL, without credentials."""
        ...

    @property
    def model(self) -> str:
        """Name as sent in requests; empty while no model is set and the endpoint has named none."""
        ...

    async def resolve_model(self) -> str:
        """`model`, asked of the endpoint first if it is empty. Raises EndpointError."""
        ...

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject:
        """The exact JSON body of the request; carries no key."""
        ...

    def stream(
        self, prompt: Prompt, options: RequestOptions
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamEvent]]:
        """Send the request. Entering raises EndpointError if no stream starts; leaving, by any
        way, closes the connection. The last event is Finished."""
        ...

    async def list_models(self) -> Sequence[str]:
        """Names of the models that the server offers. Raises EndpointError."""
        ...

    async def slots(self) -> int | None:
        """How many requests the server works on at once, None where it does not tell. Raises
        EndpointError where no answer came, so that asking later may help."""
        ...

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        """POST `body` to `path`, or GET it, outside of any turn; an answer of any status is a
        value. `aside` paths lie beside the API. Raises EndpointError where none came in time."""
        ...

    async def close(self) -> None:
        """Release the connection pool."""
        ...


class EndpointError(Exception):
    """The endpoint failed. Says what happened, to a member and to an operator.

    `member` is one line that names no address and no key. `remedy` tells the operator what to
    do. `detail` is the server's own text, clipped, for operators only.
    """

    def __init__(self, member: str, *, remedy: str, detail: str = "") -> None:
        super().__init__(f"{member} {remedy} {detail}".strip())
        self.member = member
        self.remedy = remedy
        self.detail = detail


class Unavailable(EndpointError):
    """Refused, unreachable, silent past its timeout, or a 5xx answer."""


class AuthFailed(EndpointError):
    """The key is missing, wrong, or lacks a right (401, 403)."""


class RateLimited(EndpointError):
    """Too many requests (429). `retry_after` is in seconds, None where not told."""

    def __init__(
        self, member: str, *, remedy: str, detail: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(member, remedy=remedy, detail=detail)
        self.retry_after = retry_after


class ContextTooLong(EndpointError):
    """The prompt does not fit the model's window."""


class ToolsRefused(EndpointError):
    """The endpoint answered the `tools` field with an error; without it the request may pass."""


class Replan(EndpointError):
    """The endpoint's error names one thing; with `change` made, the request may pass.

    `cause` is the error without that knowledge. Where the change may not be made by itself, the
    remedy names it.
    """

    def __init__(self, change: Change, cause: EndpointError) -> None:
        hint = f"It may help to set {change.name} to {change.value} in /config workarounds."
        super().__init__(cause.member, remedy=f"{cause.remedy} {hint}", detail=cause.detail)
        self.change = change
        self.cause = cause


class Refused(EndpointError):
    """Any other 4xx answer: the request as such is not accepted (wrong model name, say)."""


class BadResponse(EndpointError):
    """The answer is not what the protocol promises."""
