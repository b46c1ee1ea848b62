"""The verbatim parser: text in, events out.

Invariant: sans-IO. Any partition of the same text gives the same events once neighbours are
merged, and the spans of TextDelta, ReasoningDelta, ToolCall, CallError and Dropped tile it.
"""

from prompt.events import FinishReason, ParserEvent
from prompt.surface import ToolSurface
from providers.verbatim.dialects.registry import GRAMMAR
from providers.verbatim.engine import Engine
from providers.verbatim.ledger import Ledger
from providers.verbatim.markers import Markers
from providers.verbatim.names import NameIndex
from providers.verbatim.settings import ParserSettings

_MARKERS = Markers(GRAMMAR)
_DEFAULT = ParserSettings()


class VerbatimParser:
    """Reads one response. Feed it the content as it comes, then close it."""

    def __init__(
        self, surface: ToolSurface, settings: ParserSettings = _DEFAULT, *, id_seed: str = ""
    ) -> None:
        self._names = NameIndex(surface)
        self._settings = settings
        self._ledger = Ledger(self._names, settings, id_seed)
        self._engine = Engine(GRAMMAR, _MARKERS, self._names, self._ledger, settings)
        self._field: Engine | None = None
        self._closed = False

    def feed(self, text: str) -> list[ParserEvent]:
        """The events that the next piece of content settles."""
        if not text or self._closed:
            return []
        if self._field is not None:
            self._end_field()
        out = self._engine.out
        if out.idle is not None and not out.idle.search(text):
            event = self._ledger.more(text, out.pos, thinking=out.thinking)
            if event is not None:
                out.skim(text)
                return [event]
        self._engine.feed(text)
        return self._ledger.take()

    def feed_reasoning(self, text: str) -> list[ParserEvent]:
        """The events that the next piece of a separate reasoning field settles; without spans."""
        if not text or self._closed:
            return []
        if self._field is None:
            self._field = Engine(
                GRAMMAR, _MARKERS, self._names, self._ledger, self._settings, field=True
            )
        self._field.feed(text)
        return self._ledger.take()

    def close(
        self, finish_reason: FinishReason | None, *, native_calls: bool = False
    ) -> list[ParserEvent]:
        """The events that the end of the response settles.

        `finish_reason` is the server's word for why it ended; a call that was cut by the length
        limit is never repaired. `native_calls` tells that the response also called natively.
        """
        if self._closed:
            return []
        self._closed = True
        self._ledger.finish = finish_reason
        if self._field is not None:
            self._end_field()
        self._engine.end()
        self._ledger.close(native_calls=native_calls)
        return self._ledger.take()

    def _end_field(self) -> None:
        if self._field is not None:
            self._field.end()
            self._field = None
