"""Finds the error that a server reports inside a stream that began with 200.

Invariant: an answer is never taken for an error. A fault is read only from the places that
servers use for it, and text of the model stands in none of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from prompt.surface import canonical_json
from prompt.values import Json, JsonObject

_TEXT_KEYS = ("message", "detail", "msg", "error")
_STATUS_KEYS = ("statusCode", "status_code", "code", "status")
_CODE_KEYS = (*_STATUS_KEYS, "type")
_STATUS = re.compile(r"[45]\d\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a server says went wrong, in its own words, and the code that it gives it."""

    message: str
    code: str = ""


def as_object(value: Json) -> JsonObject | None:
    """`value` if it is a JSON object."""
    return cast("JsonObject", value) if isinstance(value, Mapping) else None


def fault_in(chunk: JsonObject, *, event_name: str = "") -> Fault | None:
    """The fault that a decoded chunk reports, None for an ordinary chunk.

    Shapes seen: `{"error": {...}}`, `{"error": "text"}`, `{"object": "error", "message": ...}`,
    an event or field named `error` with any data, `{"detail": ...}` or a message with a status in
    place of an answer, and an `error` object inside a choice.
    """
    if error := chunk.get("error"):
        return describe(error)
    if event_name == "error" or chunk.get("object") == "error":
        return describe(chunk)
    choices: Json = chunk.get("choices")
    if isinstance(choices, list):
        for choice in cast("list[Json]", choices):
            if (found := as_object(choice)) is not None and (error := found.get("error")):
                return describe(error)
        return None
    return describe(chunk) if chunk.get("detail") or _is_status(chunk) else None


def _is_status(fields: JsonObject) -> bool:
    """Whether a message stands beside the status of an error, as gateways answer with it."""
    if not any(isinstance(fields.get(key), str) for key in ("message", "msg")):
        return False
    return any(_STATUS.fullmatch(str(fields.get(key))) for key in _STATUS_KEYS)


def describe(error: Json) -> Fault:
    """The words and the code of an error value, whatever its shape."""
    fields = as_object(error)
    if fields is None:
        return Fault(message=error if isinstance(error, str) else canonical_json(error))
    message = next((value for key in _TEXT_KEYS if (value := fields.get(key))), fields)
    if (nested := as_object(message)) is not None and nested is not fields:
        return describe(nested)
    code = next((str(value) for key in _CODE_KEYS if (value := fields.get(key))), "")
    return Fault(
        message=message if isinstance(message, str) else canonical_json(message), code=code
    )
