"""Splits the bytes of a streamed answer into server-sent events, sans-IO.

Invariant: any split of the same bytes gives the same events, each byte is searched once, and
no more than `max_event_bytes` are held.

Wider than the standard where servers are. JSON data ends its event as soon as it is complete,
so a missing blank line costs nothing. An `error:` field is an event. A line that begins with
`{` begins bare JSON: a whole reply although a stream was asked for, one chunk a line, or the
error of a proxy in the middle of a stream.
"""

import re
from dataclasses import dataclass

from providers.openai.extent import JsonExtent

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BYTE_ORDER_MARK = "\ufeff"

DEFAULT_MAX_EVENT_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvent:
    """One event. `name` is its `event:` field, or `error` for an `error:` field; often empty."""

    data: str
    name: str = ""

    @property
    def done(self) -> bool:
        """Whether this is the mark that the stream is over."""
        return self.data.strip() == "[DONE]"


class EventTooLarge(ValueError):
    """The server sends an event that is larger than we are ready to hold."""


class SseReader:
    """Feed bytes as they arrive; close when no more come."""

    def __init__(self, *, max_event_bytes: int = DEFAULT_MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._buffer = bytearray()
        self._searched = 0
        self._after_return = False
        self._at_start = True
        self._data: list[str] = []
        self._held = 0
        self._name = ""
        self._extent: JsonExtent | None = None
        self._bare = False

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Events that these bytes complete. Raises EventTooLarge."""
        events: list[ServerEvent] = []
        for line in self._lines(data):
            self._take(line, events)
        if self._held + len(self._buffer) > self._max_event_bytes:
            raise EventTooLarge(f"an event of more than {self._max_event_bytes} bytes")
        return events

    def close(self) -> list[ServerEvent]:
        """The event that the last bytes hold although nothing terminated it."""
        events: list[ServerEvent] = []
        rest = bytes(self._buffer)
        self._buffer.clear()
        self._searched = 0
        if rest:
            self._take(rest, events)
        self._dispatch(events)
        return events

    def _lines(self, data: bytes) -> list[bytes]:
        if self._after_return and data:
            # The second half of a CRLF whose first half ended the line already.
            data = data.removeprefix(b"\n")
            self._after_return = False
        self._buffer += data
        lines: list[bytes] = []
        start = 0
        position = self._searched
        while end := _LINE_END.search(self._buffer, position):
            lines.append(bytes(self._buffer[start : end.start()]))
            start = position = end.end()
            self._after_return = end[0] == b"\r" and start == len(self._buffer)
        del self._buffer[:start]
        self._searched = len(self._buffer)
        return lines

    def _take(self, raw: bytes, events: list[ServerEvent]) -> None:
        line = raw.decode("utf-8", "replace")
        if self._at_start:
            line = line.removeprefix(_BYTE_ORDER_MARK)
            self._at_start = False
        if self._bare and not line.startswith("data:"):
            self._add(line, events)
            return
        if not line:
            self._dispatch(events)
            return
        if line.lstrip().startswith("{"):
            self._dispatch(events)
            self._bare = True
            self._add(line, events)
            return
        if self._bare:
            self._dispatch(events)
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "data":
                self._add(value, events)
            case "error":
                self._name = "error"
                self._add(value, events)
            case "event":
                self._name = value.strip()
            case _:
                pass  # comments, `id`, `retry` and what no standard names carry no answer

    def _add(self, value: str, events: list[ServerEvent]) -> None:
        if not self._data and value.lstrip().startswith(("{", "[")):
            self._extent = JsonExtent()
        self._data.append(value)
        self._held += len(value) + 1
        if self._extent is not None and self._extent.feed(value):
            self._dispatch(events)

    def _dispatch(self, events: list[ServerEvent]) -> None:
        data = "\n".join(self._data)
        if data.strip():
            events.append(ServerEvent(data=data, name=self._name))
        self._data.clear()
        self._held = 0
        self._name = ""
        self._extent = None
        self._bare = False
