"""Measures what each request of a turn used: tokens, and time.

Invariant: what the endpoint reported counts as it is; what it did not report is estimated and
marked so. A request that brought nothing at all, not even its first token, cost nothing.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from chat.ports import Place
from prompt.events import CallError, ReasoningDelta, StreamEvent, TextDelta, Usage
from prompt.prompt import Prompt
from prompt.tokens import estimate
from prompt.values import ToolCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """What one request used. `prompt_tokens` includes `cached_tokens`. Times are in seconds;
    `first_token` is None where none came. `owner` is the guild whose endpoint it was, 0 for the
    operator's."""

    model: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    first_token: float | None
    seconds: float
    estimated: bool = False
    owner: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnUsed:
    """What a whole turn used: its requests, the tools that ran, and its time in seconds."""

    place: Place
    member_id: int
    requests: Sequence[Used]
    tool_calls: int
    seconds: float


class UsageRecorder(Protocol):
    """Keeps what turns use."""

    async def record(self, used: TurnUsed) -> None:
        """Called once a turn, when it is over. Raises StoreError."""
        ...


@dataclass(slots=True)
class Meter:
    """Listens to the requests of a turn; `clock` tells seconds. `owner` is whose endpoint serves
    at the moment, see Used."""

    clock: Callable[[], float] = time.monotonic
    owner: int = 0
    used: list[Used] = field(default_factory=list[Used])
    began: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def turn(self, place: Place, member_id: int, *, tool_calls: int) -> TurnUsed:
        """What the turn has used until now."""
        return TurnUsed(
            place=place,
            member_id=member_id,
            requests=tuple(self.used),
            tool_calls=tool_calls,
            seconds=self.clock() - self.began,
        )

    @contextmanager
    def request(self, model: str, prompt: Prompt) -> Generator[Callable[[StreamEvent], None]]:
        """Measure what happens inside; what is yielded is to be told each event."""
        heard = _Heard(clock=self.clock, started=self.clock())
        try:
            yield heard.event
        finally:
            if heard.reported is not None or heard.first is not None:
                read, wrote, cached = _counts(heard.reported)
                estimated = prompt.report.tokens + prompt.report.room - prompt.room
                words = "".join(heard.words)
                self.used.append(
                    Used(
                        model=model,
                        prompt_tokens=estimated if read is None else read,
                        cached_tokens=0 if read is None else cached,
                        completion_tokens=estimate(words) if wrote is None else wrote,
                        first_token=heard.first,
                        seconds=self.clock() - heard.started,
                        estimated=read is None or wrote is None,
                        owner=self.owner,
                    )
                )


@dataclass(slots=True, kw_only=True)
class _Heard:
    """What came of one request until now."""

    clock: Callable[[], float]
    started: float
    first: float | None = None
    words: list[str] = field(default_factory=list[str])
    reported: Usage | None = None

    def event(self, event: StreamEvent) -> None:
        if isinstance(event, Usage):
            self.reported = event
            return
        if self.first is None:
            self.first = self.clock() - self.started
        self.words.append(_written(event))


def _counts(reported: Usage | None) -> tuple[int | None, int | None, int]:
    """Tokens that were read, written, and read from a cache, as far as they were reported."""
    if reported is None:
        return None, None, 0
    read, cached = reported.prompt_tokens, reported.cached_tokens or 0
    if read is not None and cached > read:
        read += cached  # they were counted apart
    return read, reported.completion_tokens, cached


def _written(event: StreamEvent) -> str:
    """What of an event the model wrote."""
    match event:
        case TextDelta(text=text) | ReasoningDelta(text=text):
            return text
        case ToolCall(name=name, raw_arguments=raw) | CallError(name=name, raw=raw):
            return name + raw
        case _:
            return ""
