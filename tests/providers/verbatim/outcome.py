"""Runs the parser over a text, cut in any way, and brings its events into a form to compare."""

from collections.abc import Iterable, Sequence

from prompt.events import (
    CallError,
    CallStarted,
    Decided,
    Dropped,
    FinishReason,
    ParserEvent,
    ReasoningDelta,
    Reclassified,
    TextDelta,
)
from prompt.surface import ToolSurface
from prompt.values import Json, ToolCall
from providers.verbatim import ParserSettings, VerbatimParser
from tests.providers.verbatim.surface import SURFACE

DEFAULT = ParserSettings()


def pieces(text: str, size: int) -> list[str]:
    """`text` in pieces of `size` characters; 0 leaves it whole."""
    if not size:
        return [text]
    return [text[at : at + size] for at in range(0, len(text), size)]


def parse(
    parts: Iterable[str],
    *,
    finish: FinishReason | None = "stop",
    settings: ParserSettings = DEFAULT,
    surface: ToolSurface = SURFACE,
    native_calls: bool = False,
) -> list[ParserEvent]:
    """All events of a response, neighbours merged."""
    parser = VerbatimParser(surface, settings, id_seed="turn")
    events: list[ParserEvent] = []
    for part in parts:
        events += parser.feed(part)
    events += parser.close(finish, native_calls=native_calls)
    return merged(events)


def merged(events: Iterable[ParserEvent]) -> list[ParserEvent]:
    """Events with neighbouring text, reasoning and dropped stretches joined."""
    joined: list[ParserEvent] = []
    for event in events:
        last = joined[-1] if joined else None
        match last, event:
            case TextDelta(span=(start, end)), TextDelta(span=(begin, stop)) if end == begin:
                joined[-1] = TextDelta(text=last.text + event.text, span=(start, stop))
            case ReasoningDelta(span=(start, end)), ReasoningDelta(span=(begin, stop)) if (
                end == begin
            ):
                joined[-1] = ReasoningDelta(text=last.text + event.text, span=(start, stop))
            case ReasoningDelta(span=None), ReasoningDelta(span=None):
                joined[-1] = ReasoningDelta(text=last.text + event.text)
            case Dropped(span=(start, end)), Dropped(span=(begin, stop)) if end == begin:
                joined[-1] = Dropped(span=(start, stop), why=last.why)
            case _:
                joined.append(event)
    return joined


def untiled(text: str, events: Iterable[ParserEvent]) -> str:
    """What is wrong with the spans of `events` over `text`; empty if they tile it."""
    at = 0
    tiles = (TextDelta, ReasoningDelta, ToolCall, CallError, Dropped)
    for event in events:
        if not isinstance(event, tiles):
            continue
        span = event.span
        if span is None or span[0] != at or span[1] <= span[0]:
            return f"expected a span from {at}: {event}"
        if isinstance(event, (TextDelta, ReasoningDelta)) and event.text != text[slice(*span)]:
            return f"text differs from its span: {event}"
        at = span[1]
    return "" if at == len(text) else f"nothing covers {text[at:]!r}"


def shown(events: Sequence[ParserEvent]) -> list[dict[str, Json]]:
    """Events as the corpus writes them: reclassified text as reasoning, no announcements."""
    reasoning = [event.span for event in events if isinstance(event, Reclassified)]
    lines: list[dict[str, Json]] = []
    for event in events:
        match event:
            case TextDelta(text=text, span=span):
                thought = span and any(a <= span[0] and span[1] <= b for a, b in reasoning)
                _add(lines, "reasoning" if thought else "text", text)
            case ReasoningDelta(text=text):
                _add(lines, "reasoning", text)
            case ToolCall():
                line = {"call": event.name, "arguments": dict(event.arguments)}
                lines.append({**line, "repaired": True} if event.repaired else line)
            case CallError():
                lines.append({"error": event.code, "name": event.name})
            case CallStarted() | Dropped() | Reclassified() | Decided():
                pass
    return lines


def _add(lines: list[dict[str, Json]], kind: str, text: str) -> None:
    if lines and kind in lines[-1]:
        lines[-1] = {kind: lines[-1][kind] + text}
    else:
        lines.append({kind: text})


def calls(events: Iterable[ParserEvent]) -> list[tuple[str, Json]]:
    """The calls among events, as names with arguments."""
    return [(event.name, dict(event.arguments)) for event in events if isinstance(event, ToolCall)]


def errors(events: Iterable[ParserEvent]) -> list[CallError]:
    """The call errors among events."""
    return [event for event in events if isinstance(event, CallError)]


def answer(events: Iterable[ParserEvent]) -> str:
    """The words that a member would see in the end."""
    return "".join(line.get("text", "") for line in shown(merged(events)))
