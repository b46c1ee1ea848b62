"""A model that plays a script, and a channel and presenter that keep what they see."""

import asyncio
import json
import mimetypes
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeAlias

from chat.ports import ChannelMessage, Member, Place, Quote
from chat.reply import Reply, ReplyState
from prompt.events import (
    CallError,
    CallErrorCode,
    Finished,
    FinishReason,
    ReasoningDelta,
    StreamEvent,
    TextDelta,
)
from prompt.prompt import Prompt
from prompt.values import Attachment, JsonObject, Origin, ToolCall
from providers.base import EndpointError, Exchange, RequestOptions
from providers.openai.encode import request_body
from providers.tokenizers import TOKENIZERS
from providers.verbatim import call_id
from tests.providers.openai.encoded import encode_messages
from tools.registry import FileGone

Piece: TypeAlias = StreamEvent | EndpointError | Callable[[], Awaitable[object]]
"""Something that streams, a failure, or something to wait for before the stream goes on."""

Step: TypeAlias = Sequence[Piece]

NOW = datetime(2026, 5, 4, 12, 30, tzinfo=UTC)
GUILD, CHANNEL = 7, 70
ADA, BOB, BOT = Member(id=10, name="Ada"), Member(id=11, name="Bob"), Member(id=99, name="Verbatim")
PLACE = Place(guild_id=GUILD, channel_id=CHANNEL)


async def soon(awaited: Awaitable[object]) -> None:
    """Wait for something that is due at once, so that a test fails rather than hangs."""
    await asyncio.wait_for(awaited, 5)


def say(text: str, start: int | None = None) -> TextDelta:
    span = None if start is None else (start, start + len(text))
    return TextDelta(text=text, span=span)


def think(text: str) -> ReasoningDelta:
    return ReasoningDelta(text=text)


def call(name: str, /, *, origin: Origin = "text", **arguments: Any) -> ToolCall:
    """Its id is set when it streams, as an adapter does it."""
    raw = json.dumps(arguments)
    return ToolCall(id="", name=name, arguments=arguments, raw_arguments=raw, origin=origin)


def wrong(
    code: CallErrorCode, raw: str, *, name: str = "", message: str = "wrong", native: bool = False
) -> CallError:
    origin: Origin = "native" if native else "text"
    return CallError(code=code, name=name, message=message, raw=raw, origin=origin)


def end(reason: FinishReason | None) -> Finished:
    return Finished(reason=reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request as it was made."""

    prompt: Prompt
    options: RequestOptions

    @property
    def messages(self) -> list[dict[str, Any]]:
        return encode_messages(self.prompt)

    @property
    def body(self) -> dict[str, Any]:
        return request_body(self.prompt, self.options, model="scripted")

    @property
    def last(self) -> str:
        """What the model was told last."""
        return self.messages[-1]["content"]

    @property
    def words(self) -> str:
        """All messages as one text."""
        return "\n".join(message["content"] for message in self.messages)


class ScriptedModel:
    """providers.base.Provider; every request takes one step.

    A request too many, a step too many, and a request that does not begin with the messages of
    the one before it in its turn are noted, and `check` fails on them.
    """

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self.requests: list[Request] = []
        self.problems: list[str] = []
        self.open = 0
        """Streams that have not been closed."""

    @property
    def endpoint(self) -> str:
        return "http://127.0.0.1:1/v1"

    @property
    def model(self) -> str:
        return "scripted"

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject:
        return Request(prompt=prompt, options=options).body

    def add(self, *steps: Step) -> None:
        self._steps += steps

    def check(self) -> None:
        left = [f"step not asked for: {step}" for step in self._steps]
        assert not [*self.problems, *left]
        assert self.open == 0

    @asynccontextmanager
    async def stream(
        self, prompt: Prompt, options: RequestOptions
    ) -> AsyncGenerator[AsyncIterator[StreamEvent], None]:
        request = Request(prompt=prompt, options=options)
        self._check_growth(request)
        self.requests.append(request)
        if not self._steps:
            self.problems.append(f"request {len(self.requests)} has no step")
            raise AssertionError(self.problems[-1])
        step = self._steps.pop(0)
        if step and isinstance(step[0], EndpointError):
            raise step[0]
        self.open += 1
        try:
            yield self._events(step, options)
        finally:
            self.open -= 1

    async def list_models(self) -> Sequence[str]:
        return [self.model]

    async def resolve_model(self) -> str:
        return self.model

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        if path not in {each.path for each in TOKENIZERS}:
            raise AssertionError("a script has no answers to requests outside of turns")
        return Exchange(status=404, text="")

    async def slots(self) -> int | None:
        return None

    async def close(self) -> None:
        pass

    async def _events(self, step: Step, options: RequestOptions) -> AsyncIterator[StreamEvent]:
        ordinal = 0
        for piece in step:
            if isinstance(piece, EndpointError):
                raise piece
            if isinstance(piece, ToolCall):
                yield replace(piece, id=call_id(f"{options.turn_id}:{options.round}", ordinal))
                ordinal += 1
            elif callable(piece):
                await piece()
            else:
                yield piece
        if not any(isinstance(piece, Finished) for piece in step):
            yield Finished(reason="stop")

    def _check_growth(self, request: Request) -> None:
        if not self.requests or request.options.round == 1:
            return
        before, now = self.requests[-1], request
        if before.options.turn_id != now.options.turn_id:
            return
        if before.options.round == now.options.round:
            return  # a replan starts anew
        earlier, later = before.messages, now.messages
        if later[: len(earlier)] != earlier or len(later) <= len(earlier):
            self.problems.append(f"round {now.options.round} does not begin with the one before")
        if before.body.get("tools") != now.body.get("tools"):
            self.problems.append("the tools field changed within a turn")


class Channel:
    """chat.ports.History over messages that a test, or a presenter, puts there."""

    def __init__(self, first_id: int = 1000) -> None:
        self.messages: list[ChannelMessage] = []
        self.reads: list[tuple[int, int | None, int]] = []
        self.files: dict[int, bytes] = {}
        """Bytes by the id of the attachment; taking one out deletes it."""
        self.downloads: list[str] = []
        self._next = first_id

    def add(
        self,
        author: Member,
        text: str,
        *,
        reply_to: Quote | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> ChannelMessage:
        """A message with `files` by name, whose endings tell what they are."""
        self._next += 10
        attachments = tuple(
            Attachment(
                id=self._next * 100 + place,
                message_id=self._next,
                name=name,
                content_type=mimetypes.guess_type(name)[0] or "",
                size=len(data),
                url="",
            )
            for place, (name, data) in enumerate((files or {}).items())
        )
        self.files.update(
            zip((each.id for each in attachments), (files or {}).values(), strict=True)
        )
        message = ChannelMessage(
            id=self._next,
            author=author,
            text=text,
            at=NOW,
            ours=author is BOT,
            reply_to=reply_to,
            attachments=attachments,
        )
        self.messages.append(message)
        return message

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        self.reads.append((before, after, limit))
        found = [m for m in self.messages if (after or 0) < m.id < before]
        return found[-limit:]

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        self.downloads.append(attachment.name)
        data = self.files.get(attachment.id)
        if data is None or len(data) > most:
            raise FileGone(f"{attachment.name} is gone")
        return data


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What a member could see at one moment."""

    state: ReplyState
    text: str
    notices: tuple[str, ...]
    running: tuple[str, ...]


@dataclass(slots=True)
class Recorder:
    """chat.ports.Presenter that keeps every state and posts the answer in pieces of `limit`."""

    channel: Channel
    limit: int = 2000
    seen: list[Seen] = field(default_factory=list[Seen])
    reply: Reply = field(default_factory=Reply)
    finishes: int = 0
    ids: tuple[int, ...] = ()
    before_finish: Callable[[], Awaitable[object]] | None = None

    def changed(self, reply: Reply) -> None:
        self.seen.append(
            Seen(
                state=reply.state,
                text=reply.text,
                notices=tuple(reply.notices),
                running=tuple(run.call.name for run in reply.running),
            )
        )

    async def finish(self, reply: Reply) -> Sequence[int]:
        self.changed(reply)
        self.reply = reply
        if self.before_finish is not None:
            await self.before_finish()
        self.finishes += 1
        text = reply.text
        pieces = [text[at : at + self.limit] for at in range(0, len(text), self.limit)]
        notices = "\n".join(f"-# {notice}" for notice in reply.notices)
        if notices:
            pieces = [*pieces[:-1], "\n".join([*pieces[-1:], notices])]
        self.ids = tuple(self.channel.add(BOT, piece).id for piece in pieces)
        return self.ids

    @property
    def states(self) -> list[ReplyState]:
        """States in their order, repetitions left out."""
        found: list[ReplyState] = []
        for seen in self.seen:
            if found[-1:] != [seen.state]:
                found.append(seen.state)
        return found

    @property
    def ever_shown(self) -> str:
        """Everything that was ever to be seen."""
        return "\n".join("\n".join((seen.text, *seen.notices)) for seen in self.seen)
