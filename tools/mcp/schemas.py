"""Reads a server's schema of arguments down to what is safe to check against and to show.

Invariant: what comes out has no references and no regular expressions, so that checking takes time
that depends on its size alone. It admits at least what the server's own schema admits: what was
left out is the server's to check.
"""

from collections.abc import Mapping
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from prompt.schema_level import offered, written
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject
from tools.mcp.cleaning import clean, is_clean

LONGEST_SCHEMA = 4_000
"""Characters of one tool's schema."""

DEEPEST_SCHEMA = 8
"""Levels of schemas within schemas."""

DROPPED = "x-dropped"
"""A key beside `properties` that lists those which were taken out of a schema before it is read."""

_LONGEST_WORDS = 400
_NAMED = ("properties",)
_ONE = ("items", "additionalProperties")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_VALUES = frozenset(
    {
        *("type", "required", "enum", "const", "default", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"),
    }
)


class SchemaRefused(Exception):
    """A schema that no tool is offered with; the text says why."""


def safe_schema(schema: Json) -> JsonObject:
    """The schema as it is offered and checked against. Raises SchemaRefused."""
    if not isinstance(schema, Mapping):
        raise SchemaRefused("its schema is no object")
    root = cast("JsonObject", schema)
    if root.get("type", "object") != "object":
        raise SchemaRefused("its arguments are no object")
    try:
        # References are written out first; that stops at a depth and a number of parts.
        safe = _safe(offered(root, "full"), 1)
        length = len(canonical_json(safe))
        if length > LONGEST_SCHEMA:
            raise SchemaRefused(
                f"its schema has {length:,} characters, more than {LONGEST_SCHEMA:,}"
            )
        Draft202012Validator.check_schema(safe)
    except (SchemaError, RecursionError, AttributeError, TypeError, ValueError):
        pass
    else:
        return safe
    raise SchemaRefused("its schema is not valid JSON Schema")


def dropped_of(schema: JsonObject) -> tuple[str, ...]:
    """The properties that `safe_schema` leaves out, or somebody before it, since their value is no
    schema."""
    before = schema.get(DROPPED)
    names = [
        name
        for name in cast("list[Json]", before if isinstance(before, list) else [])
        if isinstance(name, str)
    ]
    return tuple(dict.fromkeys((*names, *written(schema, "full").dropped)))


def _safe(schema: Json, level: int) -> dict[str, Json]:
    if not isinstance(schema, Mapping):
        return {}
    if level > DEEPEST_SCHEMA:
        raise SchemaRefused(f"its schema is more than {DEEPEST_SCHEMA} levels deep")
    safe: dict[str, Json] = {}
    for key, value in cast("JsonObject", schema).items():
        if key == "description" and isinstance(value, str):
            safe[key] = clean(value, most=_LONGEST_WORDS)
        elif key in _VALUES:
            safe[key] = _seen(value)
        elif key in _NAMED and isinstance(value, Mapping):
            fields = cast("JsonObject", value)
            safe[key] = {_seen(name): _safe(field, level + 1) for name, field in fields.items()}
        elif key in _ONE and isinstance(value, bool):
            safe[key] = value
        elif key in _ONE:
            safe[key] = _safe(value, level + 1)
        elif key in _SEVERAL and isinstance(value, list):
            safe[key] = [_safe(one, level + 1) for one in cast("list[Json]", value)]
    return safe


def _seen(value: Json) -> Json:
    """A value that arguments must match to the letter, so that it cannot be cleaned."""
    if not is_clean_json(value):
        raise SchemaRefused("its schema has characters that cannot be seen, or a template's marks")
    return value


def is_clean_json(value: Json) -> bool:
    """Whether no string in it would have to be cleaned."""
    if isinstance(value, str):
        return is_clean(value)
    if isinstance(value, Mapping):
        entries = cast("JsonObject", value).items()
        return all(is_clean(name) and is_clean_json(one) for name, one in entries)
    if isinstance(value, list):
        return all(is_clean_json(one) for one in cast("list[Json]", value))
    return True
