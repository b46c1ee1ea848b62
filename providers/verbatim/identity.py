"""Names a call: its id, and the key under which two calls count as the same.

Invariant: both depend on content alone, so a replayed turn gives the same ids and a call copied
out of foreign text gives the key of its source, however either was spelled.
"""

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import cast

from prompt.dispatcher import DISPATCHERS, dispatched
from prompt.values import Json, JsonObject
from providers.base import CallKey

_ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_ID_LENGTH = 9


def call_id(seed: str, ordinal: int) -> str:
    """The id of a turn's `ordinal`-th call: 9 letters and digits, as the strictest servers ask."""
    digest = blake2b(f"{seed}\x00{ordinal}".encode("utf-8", "surrogatepass"), digest_size=16)
    number = int.from_bytes(digest.digest(), "big")
    letters: list[str] = []
    for _ in range(_ID_LENGTH):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)


def canonical_arguments(arguments: Json) -> str:
    """Arguments in the one spelling that comparison uses: sorted keys, `2.0` as `2`."""
    return json.dumps(
        _plain_numbers(arguments), ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )


def call_key(name: str, arguments: JsonObject) -> CallKey:
    """What two calls that do the same have in common, be it through a dispatcher."""
    inner = dispatched(arguments) if name in DISPATCHERS else None
    name, arguments = inner or (name, arguments)
    return name, canonical_arguments(arguments)


def _plain_numbers(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain_numbers(inner) for key, inner in cast("JsonObject", value).items()}
    if isinstance(value, (list, tuple)):
        return [_plain_numbers(inner) for inner in cast("Sequence[Json]", value)]
    return value
