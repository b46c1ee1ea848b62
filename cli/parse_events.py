"""Stream events as the records that `bot.py parse` prints.

Invariant: order is kept. Neighbouring text is one record, text taken back stands as reasoning
at its own place, and the last record is `finish`.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from prompt.events import (
    CallError,
    Finished,
    ReasoningDelta,
    Reclassified,
    StreamEvent,
    TextDelta,
    Usage,
)
from prompt.values import Span, ToolCall
from providers.openai.fault import Fault


@dataclass(slots=True)
class _Words:
    kind: Literal["text", "reasoning"]
    text: str
    span: Span | None


def printable(events: Iterable[StreamEvent], *, fault: Fault | None) -> list[dict[str, Any]]:
    """One record an event; CallStarted and Dropped have none. `fault` is the endpoint's error."""
    pieces: list[_Words | dict[str, Any]] = []
    finish: dict[str, Any] = {"type": "finish", "reason": None, "usage": None}
    for event in events:
        match event:
            case TextDelta():
                pieces.append(_Words("text", event.text, event.span))
            case ReasoningDelta():
                pieces.append(_Words("reasoning", event.text, event.span))
            case Reclassified():
                _take_back(pieces, event.span)
            case ToolCall():
                pieces.append(_call(event))
            case CallError():
                pieces.append(_error(event.code, event.name, event.message))
            case Usage():
                finish["usage"] = _usage(event)
            case Finished():
                finish["reason"] = event.reason
            case _:
                pass
    records = _merged(pieces)
    if fault is not None:
        records.append(_error("endpoint_error", "", fault.message))
        finish["reason"] = "error"
    return [*records, finish]


def _take_back(pieces: list[_Words | dict[str, Any]], span: Span) -> None:
    """Turns the text of `span` into reasoning. It lies near the end: nothing before is read."""
    position = len(pieces)
    while position > 0:
        position -= 1
        piece = pieces[position]
        if not isinstance(piece, _Words) or piece.span is None:
            continue
        if piece.span[1] <= span[0]:
            break
        if piece.kind == "text":
            pieces[position : position + 1] = _split(piece, piece.span, span)


def _split(words: _Words, own: Span, taken: Span) -> list[_Words]:
    start, end = max(own[0], taken[0]), min(own[1], taken[1])
    if start >= end:
        return [words]
    cuts = [own[0], start, end, own[1]]
    parts: list[_Words] = []
    for low, high in pairwise(cuts):
        if low < high:
            text = words.text[low - own[0] : high - own[0]]
            parts.append(_Words("reasoning" if low == start else "text", text, (low, high)))
    return parts


def _merged(pieces: Iterable[_Words | dict[str, Any]]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for piece in pieces:
        if not isinstance(piece, _Words):
            records.append(piece)
        elif records and records[-1]["type"] == piece.kind:
            records[-1]["text"].append(piece.text)
        elif piece.text:
            records.append({"type": piece.kind, "text": [piece.text]})
    for record in records:
        if record["type"] in {"text", "reasoning"}:
            record["text"] = "".join(record["text"])
    return records


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "type": "call",
        "name": call.name,
        "arguments": call.arguments,
        "raw_arguments": call.raw_arguments,
        "origin": call.origin,
        "repaired": call.repaired,
    }


def _error(code: str, name: str, message: str) -> dict[str, Any]:
    return {"type": "error", "code": code, "name": name, "message": message}


def _usage(usage: Usage) -> dict[str, int]:
    """What the endpoint told; a count that it did not tell is absent."""
    counts = {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "cached_tokens": usage.cached_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}
