"""Checks arguments against a tool's JSON schema.

Invariant: one validator decides everywhere. The parser (does a repair count?), the adapter
(is a native call sound?) and dispatch (may it run?) ask here, so they never disagree.
"""

import json
import re
from functools import lru_cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UnknownType, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from prompt.surface import canonical_json
from prompt.values import Json, JsonObject

_SHOWN = 4
_HEAD, _END = 200, 100
"""Characters of a problem that are shown; what is between them is the value that was wrong."""

_ANY_OBJECT: JsonObject = {"type": "object"}


@lru_cache(maxsize=512)
def _validator(schema: str) -> Draft202012Validator:
    decoded: Json = json.loads(schema)
    try:
        Draft202012Validator.check_schema(decoded)
    except (SchemaError, RecursionError):
        decoded = _ANY_OBJECT
    # A registry of our own: the default one would fetch what a schema refers to.
    return Draft202012Validator(decoded, registry=Registry[Json]())


def problems(schema: JsonObject, arguments: Json) -> list[str]:
    """What keeps `arguments` from satisfying `schema`, in words; empty when nothing does.

    A broken schema is not the model's fault: it admits any object.
    """
    try:
        errors = _errors(schema, arguments)
    except (UnknownType, Unresolvable, re.error, RecursionError):
        errors = _errors(_ANY_OBJECT, arguments)
    return [_in_words(error) for error in errors[:_SHOWN]]


def _errors(schema: JsonObject, arguments: Json) -> list[ValidationError]:
    found = _validator(canonical_json(schema)).iter_errors(arguments)  # pyright: ignore[reportUnknownMemberType]
    return sorted(found, key=_position)


def _position(error: ValidationError) -> tuple[str, str]:
    return ("/".join(map(str, error.absolute_path)), error.message)


def _in_words(error: ValidationError) -> str:
    where = "/".join(str(step) for step in error.absolute_path)
    words = f"{where}: {error.message}" if where else error.message
    return words if len(words) <= _HEAD + _END else f"{words[:_HEAD]} ... {words[-_END:]}"
