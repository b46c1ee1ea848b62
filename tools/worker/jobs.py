"""The jobs that a worker process knows.

Invariant: a job is one of this table, takes JSON and bytes and returns JSON. What a job needs is
imported when the first of its kind comes: most processes never see a PDF.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from prompt.values import JsonObject

Job: TypeAlias = Callable[[JsonObject, bytes], JsonObject]
"""Raises JobRefused."""

LONGEST_EXPRESSION = 500
"""Characters."""


def extract(arguments: JsonObject, data: bytes) -> JsonObject:
    """The text of a document; see tools.worker.documents."""
    from tools.worker.documents import extracted

    return extracted(data, name=arguments["name"], content_type=arguments["content_type"])


def calculate(arguments: JsonObject, data: bytes) -> JsonObject:
    """The value of an expression; see tools.worker.arithmetic."""
    from tools.worker.arithmetic import calculated

    return {"text": calculated(arguments["expression"])}


def picture(arguments: JsonObject, data: bytes) -> JsonObject:
    """The format of a picture; see tools.worker.pictures."""
    from tools.worker.pictures import inspected

    return inspected(data)


JOBS: Mapping[str, Job] = {"extract": extract, "calculate": calculate, "picture": picture}
