"""Blots secrets out of a recorded answer.

Invariant: a secret is found however the answer's pieces cut it, and everything else keeps its
place, so that what is left reads as before.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

from chat.account import REDACTED, redacted, spellings
from providers.openai.response import decode
from providers.openai.sse import EventTooLarge, ServerEvent, SseReader

_Path: TypeAlias = tuple[str | int, ...]
_Leaf: TypeAlias = tuple[dict[str, Any] | list[Any], str | int]
"""A container, and where in it a text stands."""


def blotted(body: str, secrets: Sequence[str]) -> str:
    """The body of a streamed answer without the secrets; as it came, if it holds none."""
    wanted = spellings(secrets)
    events = _events(body)
    chunks = [_decoded(event) for event in events]
    pieces: dict[_Path, list[_Leaf]] = {}
    for chunk in chunks:
        for path, leaf in _leaves(chunk, ()):
            pieces.setdefault(path, []).append(leaf)
    found = [_blot(leaves, wanted) for leaves in pieces.values()]
    if any(found):
        body = "".join(map(_written, events, chunks))
    return redacted(body, secrets)


def _events(body: str) -> list[ServerEvent]:
    reader = SseReader()
    try:
        return [*reader.feed(body.encode("utf-8", "replace")), *reader.close()]
    except EventTooLarge:
        return []


def _decoded(event: ServerEvent) -> Any:
    try:
        return decode(event.data)
    except ValueError:
        return None


def _leaves(value: Any, path: _Path) -> Iterator[tuple[_Path, _Leaf]]:
    """Every text below `value`. Calls go by their `index`, which tells the pieces of parallel ones
    apart; choices do not, there is one, whatever index a server gives it."""
    if isinstance(value, dict):
        container = cast("dict[str, Any]", value)
        places = [(key, key, below) for key, below in container.items()]
    elif isinstance(value, list):
        container = cast("list[Any]", value)
        choices = path[-1:] == ("choices",)
        places = [
            (at, at if choices else _index(below, at), below) for at, below in enumerate(container)
        ]
    else:
        return
    for at, name, below in places:
        if isinstance(below, str):
            yield (*path, name), (container, at)
        else:
            yield from _leaves(below, (*path, name))


def _index(entry: Any, position: int) -> int:
    index = cast("dict[str, Any]", entry).get("index") if isinstance(entry, dict) else None
    return index if isinstance(index, int) else position


def _blot(leaves: Sequence[_Leaf], wanted: Sequence[str]) -> bool:
    """Blot what stands in the joined texts, each text keeping its part; whether there was any."""
    texts = [cast("str", cast("Any", container)[at]) for container, at in leaves]
    joined = "".join(texts)
    marks = list(joined)
    for spelling in wanted:
        start = joined.find(spelling)
        while start >= 0:
            end = start + len(spelling)
            if any(marks[start:end]):
                marks[start:end] = [REDACTED, *[""] * (end - start - 1)]
            start = joined.find(spelling, end)
    if marks == list(joined):
        return False
    start = 0
    for (container, at), text in zip(leaves, texts, strict=True):
        cast("Any", container)[at] = "".join(marks[start : start + len(text)])
        start += len(text)
    return True


def _written(event: ServerEvent, chunk: Any) -> str:
    name = f"event: {event.name}\n" if event.name else ""
    if chunk is not None:
        return f"{name}data: {json.dumps(chunk)}\n\n"
    return name + "".join(f"data: {line}\n" for line in event.data.split("\n")) + "\n"
