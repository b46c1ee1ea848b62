"""tool_search: finds tools whose definitions the prompt does not hold.

Invariant: only the catalog of the turn's surface is looked through, so a search never tells of a
tool that the turn could not run.
"""

from collections.abc import Sequence
from typing import cast

from prompt.dispatcher import META_SOURCE, TOOL_SEARCH
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject, ToolSpec

MOST_FOUND = 10
"""Tools in one answer."""

_MOST_TEXT = 6_000
"""Characters of definitions in one answer; the first tool is told whatever its size."""

_SELECT = "select:"

SEARCH_SPEC = ToolSpec(
    name=TOOL_SEARCH,
    description="Find more tools by words that say what they do, or by name with select:name.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "words, or select:name,other_name"}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
    source=META_SOURCE,
    read_only=True,
)


def tool_search(query: str, catalog: Sequence[ToolSpec]) -> dict[str, Json]:
    """The tools that `query` names or describes, best first, with their schemas."""
    words = query.strip()
    if not words:
        return {"tools": [], "error": "empty_query"}
    if words.startswith(_SELECT):
        by_name = {spec.name: spec for spec in catalog}
        asked = dict.fromkeys(name.strip() for name in words.removeprefix(_SELECT).split(","))
        return _answer([by_name[name] for name in asked if name in by_name])
    ranked = [(rank, spec) for spec in catalog if (rank := _rank(spec, words.casefold())) < _NO]
    ranked.sort(key=lambda found: found[0])  # stable: ties stay in the order of the registry
    return _answer([spec for _, spec in ranked])


_NO = 5


def _rank(spec: ToolSpec, words: str) -> int:
    """How well a tool fits: name, its beginning, a part of it, the description, its words."""
    name, description = spec.name.casefold(), spec.description.casefold()
    if name == words:
        return 0
    if name.startswith(words):
        return 1
    if words in name:
        return 2
    if words in description:
        return 3
    text = f"{name.replace('_', ' ')} {description}"
    return 4 if all(word in text for word in words.split()) else _NO


def _answer(found: Sequence[ToolSpec]) -> dict[str, Json]:
    told: list[JsonObject] = []
    size = 0
    for spec in found[:MOST_FOUND]:
        entry: JsonObject = {
            "name": spec.name,
            "description": spec.description,
            "parameters": cast("Json", spec.parameters if spec.offered is None else spec.offered),
        }
        size += len(canonical_json(entry))
        if told and size > _MOST_TEXT:
            break
        told.append(entry)
    omitted = len(found) - len(told)
    return {"tools": told, **({"omitted": omitted} if omitted else {})}
