"""Checks arguments against a tool's JSON schema.

Invariant: one validator decides everywhere. The parser (does a repair count?), the adapter
(is a native call sound?) and dispatch (may it run?) ask here, so they never disagree.
"""

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from prompt.surface import canonical_json
from prompt.values import Json, JsonObject

_SHOWN = 4


@lru_cache(maxsize=512)
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator(json.loads(schema))


def problems(schema: JsonObject, arguments: Json) -> Sequence[str]:
    """What keeps `arguments` from satisfying `schema`, in words; empty when nothing does.

    A broken schema is not the model's fault: it admits any object.
    """
    validator = _validator(canonical_json(schema))
    try:
        found: Iterator[ValidationError] = validator.iter_errors(arguments)  # pyright: ignore[reportUnknownMemberType]
        errors = sorted(found, key=_position)
    except (SchemaError, RecursionError):
        return ()
    return [_in_words(error) for error in errors[:_SHOWN]]


def _position(error: ValidationError) -> tuple[str, str]:
    return ("/".join(map(str, error.absolute_path)), error.message)


def _in_words(error: ValidationError) -> str:
    where = "/".join(str(step) for step in error.absolute_path)
    return f"{where}: {error.message}" if where else error.message
