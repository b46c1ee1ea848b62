"""Bends values to the types that a schema asks for.

Invariant: a value that its schema admits stays as it is, and nothing is invented: what cannot
be bent without guessing is left for the validator to refuse.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import cast

from prompt.schema import problems
from prompt.values import Json, JsonObject
from providers.verbatim.literals import (
    MAX_DEPTH,
    SpelledFloat,
    Unreadable,
    no_constant,
    read_float,
    read_int,
)

_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_UNIONS = ("anyOf", "oneOf")


def coerce(value: Json, schema: Json, root: JsonObject, depth: int = 0) -> Json:
    """`value` bent to `schema`, whose references lead into `root`."""
    schema = _resolved(schema, root)
    if not isinstance(schema, Mapping) or depth > MAX_DEPTH:
        return plain(value)
    schema = cast("JsonObject", schema)
    for union in _UNIONS:
        variants = schema.get(union)
        if isinstance(variants, list):
            value = _coerce_union(value, cast("list[Json]", variants), root, depth)
    parts = schema.get("allOf")
    if isinstance(parts, list):
        for part in cast("list[Json]", parts):
            value = coerce(value, part, root, depth + 1)
    types = _types(schema)
    if types and not any(_is_type(value, name) for name in types):
        value = _to_types(value, types, schema)
    value = _to_enum(value, schema)
    if isinstance(value, Mapping):
        return _coerce_object(cast("JsonObject", value), schema, root, depth)
    if isinstance(value, list):
        return _coerce_array(cast("list[Json]", value), schema, root, depth)
    if "integer" in types and "number" not in types and _is_whole(value):
        return int(cast("float", value))
    return plain(value)


def plain(value: Json) -> Json:
    """`value` as JSON knows it: without remembered spellings."""
    if isinstance(value, SpelledFloat):
        return float(value)
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [plain(inner) for inner in cast("list[Json]", value)]
    return value


def _resolved(schema: Json, root: JsonObject) -> Json:
    seen: set[str] = set()
    while isinstance(schema, Mapping):
        reference = cast("JsonObject", schema).get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#") or reference in seen:
            return cast("JsonObject", schema)
        seen.add(reference)
        target: Json = root
        for step in reference.lstrip("#").strip("/").split("/"):
            if not step:
                continue
            name = step.replace("~1", "/").replace("~0", "~")
            target = cast("JsonObject", target).get(name) if isinstance(target, Mapping) else None
        schema = target
    return schema


def _types(schema: JsonObject) -> Sequence[str]:
    written = schema.get("type")
    if isinstance(written, str):
        return (written,)
    if isinstance(written, list):
        return [name for name in cast("list[Json]", written) if isinstance(name, str)]
    if "properties" in schema:
        return ("object",)
    return ()


def _is_type(value: Json, name: str) -> bool:
    match name:
        case "string":
            return isinstance(value, str)
        case "integer":
            return (isinstance(value, int) and not isinstance(value, bool)) or _is_whole(value)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case _:
            return True


def _is_whole(value: Json) -> bool:
    return isinstance(value, float) and value.is_integer()


def _coerce_union(value: Json, variants: Sequence[Json], root: JsonObject, depth: int) -> Json:
    for variant in variants:
        if _admits(plain(value), variant, root):
            return value
    for variant in variants:
        bent = coerce(value, variant, root, depth + 1)
        if _admits(bent, variant, root):
            return bent
    return value


def _admits(value: Json, schema: Json, root: JsonObject) -> bool:
    if not isinstance(schema, Mapping):
        return bool(schema)
    definitions = {key: root[key] for key in ("$defs", "definitions") if key in root}
    return not problems({**definitions, **cast("JsonObject", schema)}, value)


def _to_types(value: Json, types: Sequence[str], schema: JsonObject) -> Json:
    for name in types:
        bent = _to_type(value, name)
        if _is_type(bent, name):
            return bent
    if "array" in types and value is not None and _takes(schema.get("items"), value):
        return [value]
    return value


def _to_type(value: Json, name: str) -> Json:
    if name == "string":
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, SpelledFloat):
            return value.spelling
        return str(value) if isinstance(value, (int, float)) else value
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        if name == "integer" and _INTEGER.fullmatch(text):
            return read_int(text)
        if name == "integer" and _NUMBER.fullmatch(text) and float(text).is_integer():
            return int(float(text))
        if name == "number" and _NUMBER.fullmatch(text):
            return read_int(text) if _INTEGER.fullmatch(text) else float(read_float(text))
    except (Unreadable, OverflowError):
        return value
    if name == "boolean":
        return {"true": True, "false": False}.get(text.lower(), value)
    if name == "null":
        return None if text.lower() in ("null", "none") else value
    if name in ("array", "object") and text[:1] in ("[", "{"):
        return _inner_json(text, value)
    return value


def _inner_json(text: str, otherwise: Json) -> Json:
    try:
        return plain(
            json.loads(text, parse_float=read_float, parse_int=read_int, parse_constant=no_constant)
        )
    except (ValueError, RecursionError):
        return otherwise


def _takes(items: Json, value: Json) -> bool:
    """Whether a lone value is plausibly the only member of an array of `items`."""
    if not isinstance(items, Mapping):
        return True
    types = _types(cast("JsonObject", items))
    return not types or any(
        _is_type(value, name) or _is_type(_to_type(value, name), name) for name in types
    )


def _to_enum(value: Json, schema: JsonObject) -> Json:
    written = schema.get("enum")
    choices = list(cast("list[Json]", written)) if isinstance(written, list) else []
    if "const" in schema:
        choices.append(schema["const"])
    if not choices or value in choices:
        return value
    folded = str(value).strip().casefold()
    same = [choice for choice in choices if str(choice).casefold() == folded]
    return same[0] if len(same) == 1 else value


def _coerce_object(value: JsonObject, schema: JsonObject, root: JsonObject, depth: int) -> Json:
    properties = schema.get("properties")
    known: JsonObject = cast("JsonObject", properties) if isinstance(properties, Mapping) else {}
    others = schema.get("additionalProperties")
    required = schema.get("required")
    needed = cast("list[Json]", required) if isinstance(required, list) else []
    bent: dict[str, Json] = {}
    for key, inner in value.items():
        inner_schema: Json = known.get(key, others)
        if (
            inner is None
            and key in known
            and key not in needed
            and not _admits(None, inner_schema, root)
        ):
            continue
        bent[key] = coerce(inner, inner_schema, root, depth + 1)
    return bent


def _coerce_array(value: Sequence[Json], schema: JsonObject, root: JsonObject, depth: int) -> Json:
    items = schema.get("items")
    first = schema.get("prefixItems")
    places = cast("list[Json]", first) if isinstance(first, list) else []
    return [
        coerce(inner, places[at] if at < len(places) else items, root, depth + 1)
        for at, inner in enumerate(value)
    ]
