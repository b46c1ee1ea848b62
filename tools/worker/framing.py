"""What passes between the bot and its worker process: a small JSON object and bytes.

Invariant: a frame says both lengths first, so neither side ever reads more than was promised, and
nothing in a frame is code: a job is a name.
"""

import json
import struct
from typing import BinaryIO

from prompt.values import JsonObject

LENGTHS = struct.Struct(">II")
"""Bytes of the JSON object, then bytes of what follows it."""

LARGEST = 64 * 1024 * 1024
"""Bytes that either part may have."""


class Broken(Exception):
    """The other side closed the pipe, or wrote something that is no frame."""


def packed(fields: JsonObject, data: bytes = b"") -> bytes:
    """A frame. ValueError if a part is too large."""
    written = json.dumps(fields).encode()
    if max(len(written), len(data)) > LARGEST:
        raise ValueError("too large for a frame")
    return LENGTHS.pack(len(written), len(data)) + written + data


def lengths(head: bytes) -> tuple[int, int]:
    """The lengths that a frame begins with. Raises Broken."""
    if len(head) != LENGTHS.size:
        raise Broken
    first, second = LENGTHS.unpack(head)
    if max(first, second) > LARGEST:
        raise Broken
    return first, second


def unpacked(written: bytes) -> JsonObject:
    """The JSON object of a frame. Raises Broken."""
    try:
        fields = json.loads(written)
    except ValueError as error:
        raise Broken from error
    if not isinstance(fields, dict):
        raise Broken
    return fields  # pyright: ignore[reportUnknownVariableType] - JSON, see prompt.values.Json


def read_frame(stream: BinaryIO) -> tuple[JsonObject, bytes]:
    """The next frame of a blocking stream. Raises Broken at its end."""
    first, second = lengths(stream.read(LENGTHS.size))
    written, data = stream.read(first), stream.read(second)
    if len(written) != first or len(data) != second:
        raise Broken
    return unpacked(written), data
