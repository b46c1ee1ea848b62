"""The tools that lead to other tools, and what a dispatcher's call asks for.

Invariant: pure. A payload is read strictly and never repaired: either it is a well-formed
`{name, arguments?}`, whose argument text is kept to the letter, or there is no call in it.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Never, cast

from prompt.values import Json, JsonObject, ToolSpec

TOOL_SEARCH = "tool_search"
EXECUTE_TOOL = "execute_tool"
USE_LOADED_TOOL = "use_loaded_tool"

DISPATCHERS = frozenset({EXECUTE_TOOL, USE_LOADED_TOOL})
META_TOOLS = frozenset({TOOL_SEARCH, *DISPATCHERS})
"""Names that no other tool may have."""

META_SOURCE = "exposure"
"""`source` of the tools that lead to other tools."""

_BLANK = " \t\r\n"


def _finite(spelling: str) -> float:
    if math.isfinite(number := float(spelling)):
        return number
    raise ValueError(f"{spelling} is too large a number")


def _no_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=_no_constant)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """The call inside a dispatcher's call."""

    name: str
    arguments: JsonObject
    raw_arguments: str


def is_dispatcher(spec: ToolSpec) -> bool:
    """Whether a call of this tool asks for another one."""
    return spec.source == META_SOURCE and spec.name in DISPATCHERS


def dispatched(arguments: JsonObject) -> tuple[str, JsonObject] | None:
    """Name and arguments that a dispatcher is given, None where they are malformed."""
    if not arguments.keys() <= {"name", "arguments"}:
        return None
    name, given = arguments.get("name"), arguments.get("arguments", {})
    if not isinstance(name, str) or not name or name == USE_LOADED_TOOL:
        return None
    return (name, cast("JsonObject", given)) if isinstance(given, Mapping) else None


def unwrapped(raw: str) -> Inner | None:
    """The call that stands in a dispatcher's arguments `raw`, its own arguments cut out of the
    text as they are; None where it is malformed."""
    try:
        fields = _fields(raw)
    except (ValueError, RecursionError):
        return None
    found = dispatched({name: value for name, (value, _) in fields.items()})
    if found is None:
        return None
    _, text = fields.get("arguments", ({}, "{}"))
    return Inner(name=found[0], arguments=found[1], raw_arguments=text)


def wrapped(name: str, raw_arguments: str) -> str:
    """The arguments with which a dispatcher is asked for a call; the inverse of `unwrapped`."""
    return f'{{"name":{json.dumps(name, ensure_ascii=False)},"arguments":{raw_arguments}}}'


def _fields(text: str) -> dict[str, tuple[Json, str]]:
    """The members of one JSON object, each with its text. Raises ValueError."""
    found: dict[str, tuple[Json, str]] = {}
    at = _past_blanks(text, 0)
    at = _past(text, at, "{")
    if text[at : at + 1] == "}":
        at += 1
    else:
        while True:
            name, at = _value(text, at)
            at = _past(text, _past_blanks(text, at), ":")
            value, end = _value(text, at)
            if not isinstance(name, str) or name in found:
                raise ValueError("a key that is no string, or stands there twice")
            found[name] = (value, text[at:end])
            at = _past_blanks(text, end)
            if text[at : at + 1] == "}":
                at += 1
                break
            at = _past(text, at, ",")
    if _past_blanks(text, at) != len(text):
        raise ValueError("text after the object")
    return found


def _value(text: str, at: int) -> tuple[Json, int]:
    return _DECODER.raw_decode(text, at)


def _past(text: str, at: int, sign: str) -> int:
    if text[at : at + 1] != sign:
        raise ValueError(f"no {sign}")
    return _past_blanks(text, at + 1)


def _past_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at] in _BLANK:
        at += 1
    return at
