"""Writes a conversation as the stable dispatcher's model is to see it.

Invariant: a pure function of the items and of which tools stand in the array. What is stored are
the real calls; the same history therefore gives the same bytes after a restart, and with the
dispatcher off nothing is changed.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from prompt.dialogue import turn_text
from prompt.dispatcher import TOOL_SEARCH, USE_LOADED_TOOL, wrapped
from prompt.surface import ToolSurface, canonical_json
from prompt.values import Json, Part, PromptItem, ToolCall, ToolResult, Turn


def projected(items: Sequence[PromptItem], surface: ToolSurface) -> tuple[PromptItem, ...]:
    """`items` with calls of tools outside of the array as calls of the dispatcher, and with the
    definitions that a search has loaded behind its result, each one where it was loaded first."""
    if surface.dispatcher != USE_LOADED_TOOL:
        return tuple(items)
    direct = frozenset(spec.name for spec in surface.direct)
    loaded = set(direct)
    return tuple(_item(item, direct, loaded) for item in items)


def _item(item: PromptItem, direct: Collection[str], loaded: set[str]) -> PromptItem:
    parts = tuple(_part(part, direct, loaded) for part in item.parts)
    if parts == item.parts:
        return item
    return replace(item, parts=parts, text=turn_text(Turn(role=item.role, parts=parts)))


def _part(part: Part, direct: Collection[str], loaded: set[str]) -> Part:
    if isinstance(part, ToolCall) and part.name not in direct:
        return replace(
            part,
            name=USE_LOADED_TOOL,
            arguments={"name": part.name, "arguments": part.arguments},
            raw_arguments=wrapped(part.name, _object_text(part)),
        )
    if isinstance(part, ToolResult) and part.name == TOOL_SEARCH and part.outcome == "ok":
        fresh: list[str] = []
        for name, definition in _found(part.text):
            if name not in loaded:
                loaded.add(name)
                fresh.append(definition)
        return replace(part, text="\n".join((part.text, *fresh)))
    return part


def _object_text(call: ToolCall) -> str:
    """The arguments as the model wrote them, if that is a JSON object."""
    try:
        written: Json = json.loads(call.raw_arguments)
    except (ValueError, RecursionError):
        written = None
    return call.raw_arguments if isinstance(written, Mapping) else canonical_json(call.arguments)


def _found(text: str) -> Iterator[tuple[str, str]]:
    """Names and definitions of the tools that a search's result tells of; none where the result
    was cut."""
    try:
        result: Json = json.loads(text)
    except (ValueError, RecursionError):
        return
    tools: Json = cast("Mapping[str, Json]", result).get("tools") if _is_map(result) else None
    for tool in cast("list[Json]", tools) if isinstance(tools, list) else []:
        name: Json = cast("Mapping[str, Json]", tool).get("name") if _is_map(tool) else None
        if isinstance(name, str):
            yield name, canonical_json({"type": "function", "function": tool})


def _is_map(value: Json) -> bool:
    return isinstance(value, Mapping)
