"""Stream events as the records that `bot.py parse` prints.

Invariant: order is kept. Neighbouring text is one record, text taken back stands as reasoning
at its own place, and the last record is `finish`. Explained, a record says which rule decided it,
and what reaches nobody has a record as well; the others stay as they are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from prompt.events import (
    CallError,
    Decided,
    Dropped,
    Finished,
    ReasoningDelta,
    Reclassified,
    StreamEvent,
    TextDelta,
    Usage,
)
from prompt.values import Span, ToolCall
from providers.openai.fault import Fault

_NO_CALL = "no form of a call"
_THINKING = "thinking"
_TAKEN_BACK = "what follows shows that it was thinking"
_NATIVE = "a native call"


@dataclass(slots=True)
class _Words:
    kind: Literal["text", "reasoning"]
    text: str
    span: Span | None
    rules: list[str] = field(default_factory=list[str])


def printable(
    events: Iterable[StreamEvent], *, fault: Fault | None, explain: bool = False
) -> list[dict[str, Any]]:
    """One record an event; CallStarted and, unless explained, Dropped have none.

    `fault` is the endpoint's error. `explain` adds to each record the rule that decided it.
    """
    pieces: list[_Words | dict[str, Any]] = []
    rules: list[str] = []
    finish: dict[str, Any] = {"type": "finish", "reason": None, "usage": None}
    for event in events:
        match event:
            case Decided():
                rules.append(event.rule)
                continue
            case TextDelta():
                pieces.append(_Words("text", event.text, event.span, rules or [_NO_CALL]))
            case ReasoningDelta():
                pieces.append(_Words("reasoning", event.text, event.span, rules or [_THINKING]))
            case Reclassified():
                _take_back(pieces, event.span)
            case ToolCall():
                pieces.append({**_call(event), "rule": "; ".join(rules) or _NATIVE})
            case CallError():
                record = _error(event.code, event.name, event.message)
                pieces.append({**record, "rule": "; ".join(rules) or _NATIVE})
            case Dropped() if explain:
                size = event.span[1] - event.span[0]
                pieces.append({"type": "dropped", "characters": size, "rule": event.why})
            case Usage():
                finish["usage"] = _usage(event)
            case Finished():
                finish["reason"] = event.reason
            case _:
                continue
        rules = []
    records = _merged(pieces)
    if fault is not None:
        records.append({**_error("endpoint_error", "", fault.message), "rule": "the endpoint"})
        finish["reason"] = "error"
    records.append({**finish, "rule": "the endpoint"})
    if not explain:
        for record in records:
            del record["rule"]
    return records


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
            if low == start:
                parts.append(_Words("reasoning", text, (low, high), [_TAKEN_BACK]))
            else:
                parts.append(_Words("text", text, (low, high), words.rules))
    return parts


def _merged(pieces: Iterable[_Words | dict[str, Any]]) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = []
    for piece in pieces:
        if not isinstance(piece, _Words):
            if records and _both_dropped(records[-1], piece):
                records[-1]["characters"] += piece["characters"]
            else:
                records.append(piece)
        elif records and records[-1]["type"] == piece.kind:
            records[-1]["text"].append(piece.text)
            records[-1]["rule"].update(dict.fromkeys(piece.rules))
        elif piece.text:
            rules = dict.fromkeys(piece.rules)
            records.append({"type": piece.kind, "text": [piece.text], "rule": rules})
    for record in records:
        if record["type"] in {"text", "reasoning"}:
            record["text"] = "".join(record["text"])
            record["rule"] = _said(record["rule"])
    return records


def _both_dropped(first: dict[str, Any], second: dict[str, Any]) -> bool:
    kinds = {first["type"], second["type"]}
    return kinds == {"dropped"} and first["rule"] == second["rule"]


def _said(rules: dict[str, None]) -> str:
    """What is told of merged text: what was special about a part of it, if anything was."""
    special = [rule for rule in rules if rule not in {_NO_CALL, _THINKING}]
    return "; ".join(special or rules)


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
