"""Reads the bytes of one answer as StreamEvents, sans-IO.

Invariant: any split of the same bytes gives the same events after merging neighbours. What was
received before a fault is always handed out.
"""

import json
from typing import cast

import jiter

from prompt.events import StreamEvent
from prompt.values import Json
from providers.openai.fault import Fault, as_object, describe
from providers.openai.fold import ChunkFold
from providers.openai.sse import EventTooLarge, ServerEvent, SseReader


class ResponseReader:
    """Server-sent events, decoded and folded. Stops at `[DONE]` and at the first fault."""

    def __init__(self, fold: ChunkFold, *, sse: SseReader | None = None) -> None:
        self._fold = fold
        self._sse = sse or SseReader()
        self._closing = False
        self.done = False
        """The server said that the stream is over."""
        self.chunks = 0
        """Chunks of a chat completion; 0 at the end means that this was another kind of answer."""

    @property
    def fault(self) -> Fault | None:
        """What the server, or the form of its answer, says went wrong."""
        return self._fold.fault

    def feed(self, data: bytes) -> list[StreamEvent]:
        """Take bytes as they arrive."""
        if self.done or self.fault:
            return []
        try:
            received = self._sse.feed(data)
        except EventTooLarge as error:
            self._fold.fault = Fault(message=f"the server sent {error}")
            return []
        return self._read(received)

    @property
    def begun(self) -> bool:
        """Whether the model has begun to write."""
        return self._fold.begun

    def close(self, *, cut: Fault | None = None) -> list[StreamEvent]:
        """No more bytes come; `cut` tells why if that was no end. The last event is Finished."""
        self._closing = True
        events = [] if self.done or self.fault else self._read(self._sse.close())
        if not self.done and not self.fault:
            self._fold.fault = cut
        return [*events, *self._fold.close(done=self.done)]

    def _read(self, received: list[ServerEvent]) -> list[StreamEvent]:
        events: list[StreamEvent] = []
        for event in received:
            if event.done:
                self.done = True
                break
            events += self._take(event)
            if self.fault:
                break
        return events

    def _take(self, event: ServerEvent) -> list[StreamEvent]:
        try:
            decoded = decode(event.data)
        except ValueError:
            self._undecodable(event)
            return []
        events: list[StreamEvent] = []
        entries = cast("list[Json]", decoded) if isinstance(decoded, list) else [decoded]
        for entry in entries:
            if (chunk := as_object(entry)) is not None:
                self.chunks += not chunk.keys().isdisjoint(("choices", "usage"))
                events += self._fold.feed(chunk, event_name=event.name)
            elif event.name == "error":
                self._fold.fault = describe(entry)
        return events

    def _undecodable(self, event: ServerEvent) -> None:
        """Data that is no JSON: an error in words, damage, or a word that keeps a line alive."""
        text = event.data.strip()
        if event.name == "error" or text.lower().startswith(("error", "[error")):
            self._fold.fault = Fault(message=text)
        elif text.startswith("{") and not self._closing:
            self._fold.fault = Fault(message=f"the server sent a chunk that is no JSON: {text}")


def decode(text: str) -> Json:
    """`text` as JSON. Raises ValueError.

    Half a surrogate pair written as an escape is no Unicode and comes from tokenizers that cut
    an emoji in two; it is kept, as a lone surrogate, rather than losing the whole chunk. So is a
    number that has more digits than any number should.
    """
    try:
        return jiter.from_json(text.encode("utf-8", "replace"))
    except ValueError:
        try:
            return json.loads(text, parse_int=_number)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


def _number(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:
        return float(digits)
