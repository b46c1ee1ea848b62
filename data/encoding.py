"""The JSON form in which turns are stored.

Invariant: decoding what was encoded gives equal values, and the text of a call's arguments
comes back to the character. The form carries a version; keys that a reader does not know are
passed over, so a newer writer may add some without raising it.

Characters outside ASCII are escaped: a model can write half of a surrogate pair, which JSON
can spell and UTF-8 cannot.
"""

import json
from collections.abc import Sequence
from datetime import datetime

from prompt.values import (
    ImageReference,
    Json,
    JsonObject,
    Part,
    ReasoningPart,
    TextPart,
    ToolCall,
    ToolResult,
    Turn,
)

FORM = 1


class EncodingError(Exception):
    """Stored text is not in a form that this version reads. Carries none of it."""


def encode_turns(turns: Sequence[Turn]) -> str:
    """The text that stands for `turns` in the database."""
    return json.dumps({"form": FORM, "turns": [_turn_to_json(turn) for turn in turns]})


def decode_turns(text: str) -> tuple[Turn, ...]:
    """The turns that `text` stands for. Raises EncodingError."""
    try:
        document = json.loads(text)
        if document["form"] == FORM:
            return tuple(_turn_from_json(value) for value in document["turns"])
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise EncodingError(f"stored turns are damaged: {type(error).__name__}") from error
    raise EncodingError(f"stored turns have form {document['form']}, this version reads {FORM}")


def _turn_to_json(turn: Turn) -> JsonObject:
    return {
        "role": turn.role,
        "author": turn.author,
        "at": turn.at.isoformat() if turn.at else None,
        "parts": [_part_to_json(part) for part in turn.parts],
    }


def _turn_from_json(value: Json) -> Turn:
    at = value["at"]
    return Turn(
        role=value["role"],
        author=value["author"],
        at=datetime.fromisoformat(at) if at else None,
        parts=tuple(_part_from_json(part) for part in value["parts"]),
    )


def _part_to_json(part: Part) -> JsonObject:
    match part:
        case TextPart():
            return {"kind": "text", "text": part.text}
        case ImageReference():
            return {
                "kind": "image",
                "url": part.url,
                "description": part.description,
                "width": part.width,
                "height": part.height,
            }
        case ToolCall():
            return {
                "kind": "call",
                "id": part.id,
                "name": part.name,
                "arguments": dict(part.arguments),
                "raw_arguments": part.raw_arguments,
                "origin": part.origin,
                "span": part.span,
                "repaired": part.repaired,
            }
        case ToolResult():
            return {
                "kind": "result",
                "call_id": part.call_id,
                "name": part.name,
                "text": part.text,
                "outcome": part.outcome,
            }
        case ReasoningPart():
            return {"kind": "reasoning", "text": part.text}


def _part_from_json(value: Json) -> Part:
    match value["kind"]:
        case "text":
            return TextPart(text=value["text"])
        case "image":
            return ImageReference(
                url=value["url"],
                description=value["description"],
                width=value.get("width", 0),
                height=value.get("height", 0),
            )
        case "call":
            span = value["span"]
            return ToolCall(
                id=value["id"],
                name=value["name"],
                arguments=value["arguments"],
                raw_arguments=value["raw_arguments"],
                origin=value["origin"],
                span=(span[0], span[1]) if span else None,
                repaired=value["repaired"],
            )
        case "result":
            return ToolResult(
                call_id=value["call_id"],
                name=value["name"],
                text=value["text"],
                outcome=value["outcome"],
            )
        case "reasoning":
            return ReasoningPart(text=value["text"])
        case _:
            raise EncodingError("stored turns hold a part of a kind unknown to this version")
