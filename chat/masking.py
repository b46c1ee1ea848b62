"""Masks what members said and did in a request, so that its snapshot can be shared.

Invariant: pure. What admins wrote, tools, the form of calls and results, lengths, lines and
punctuation stay; every letter of a member, of an answer, a result, a document or an argument is an
x and every digit a 0. Text of which it is not known whose it is counts as a member's.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from chat.differing import Placed, placed
from chat.sent import Sent
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject, PromptItem, Zone

_PLAIN_TAGS = {"verbatim_nudge"}
"""Items of the tail that hold nothing of members."""

_SIGNED = re.compile(r"\n\[from ([^\]\n]+)\]$")
_CLOCK = re.compile(r"in this conversation: ([^\]]+)\]")
_RESULT = re.compile(r"\A\[tool result\] ([\w.-]+): ")
_CALL = re.compile(r"`([\w.-]+)\((\{.*?\})\)`", re.DOTALL)
_CALLS = re.compile(r"(`[\w.-]+\(\{.*?\}\)`)", re.DOTALL)


def masked(request: Sent) -> Sent:
    """`request` without members' names and words. The same name has the same number all through."""
    members = _members(request.items)
    items = tuple(_item(item, members) for item in request.items)
    spots: dict[int, list[Placed]] = {}
    for each in placed(request):
        spots.setdefault(each.message, []).append(each)
    messages = [
        _message(message, spots.get(number, []), items)
        for number, message in enumerate(cast("Sequence[JsonObject]", request.body["messages"]))
    ]
    return replace(request, items=items, body={**request.body, "messages": messages})


def crossed_out(text: str) -> str:
    """`text` with x for letters and 0 for digits."""
    return "".join("x" if c.isalpha() else "0" if c.isnumeric() else c for c in text)


def _members(items: Sequence[PromptItem]) -> Mapping[str, str]:
    """Numbers for the names in a request, in the order in which they come up."""
    names: dict[str, None] = {}
    for item in items:
        if item.zone is not Zone.STABLE:
            if found := _SIGNED.search(item.text):
                names[found[1]] = None
            if item.tag == "clock" and (found := _CLOCK.search(item.text)):
                names.update(dict.fromkeys(found[1].split(", ")))
    return {name: f"Member {number}" for number, name in enumerate(names, 1)}


def _item(item: PromptItem, members: Mapping[str, str]) -> PromptItem:
    if item.zone is Zone.STABLE or item.tag in _PLAIN_TAGS:
        return item
    if item.tag == "clock":
        return replace(item, text=_CLOCK.sub(lambda found: _listed(found, members), item.text))
    signature = ""
    words = item.text
    if found := _SIGNED.search(words):
        signature = f"\n[from {members[found[1]]}]"
        words = words[: found.start()]
    if found := _RESULT.match(words):
        return replace(item, text=found[0] + crossed_out(words[found.end() :]) + signature)
    if item.role == "assistant":
        pieces = _CALLS.split(words)
        words = "".join(
            _call(piece) if place % 2 else crossed_out(piece) for place, piece in enumerate(pieces)
        )
        return replace(item, text=words)
    return replace(item, text=crossed_out(words) + signature)


def _listed(found: re.Match[str], members: Mapping[str, str]) -> str:
    names = ", ".join(members[name] for name in found[1].split(", "))
    return f"in this conversation: {names}]"


def _call(text: str) -> str:
    """A call in the form that is taught, with its arguments masked."""
    found = _CALL.fullmatch(text)
    return f"`{found[1]}({_arguments(found[2])})`" if found else crossed_out(text)


def _arguments(raw: str) -> str:
    try:
        return canonical_json(_value(json.loads(raw)))
    except (ValueError, RecursionError):
        return crossed_out(raw)


def _value(value: Json) -> Json:
    """A JSON value whose names stay."""
    if isinstance(value, Mapping):
        return {name: _value(below) for name, below in cast("JsonObject", value).items()}
    if isinstance(value, list):
        return [_value(below) for below in cast("list[Json]", value)]
    if isinstance(value, str):
        return crossed_out(value)
    return 0 if isinstance(value, int | float) and not isinstance(value, bool) else value


def _message(
    message: JsonObject, spots: Sequence[Placed], items: Sequence[PromptItem]
) -> JsonObject:
    made = dict(message)
    content: Json = message.get("content")
    if isinstance(content, str):
        made["content"] = _content(content, spots, items)
    elif isinstance(content, list):
        made["content"] = [_part(part) for part in cast("list[JsonObject]", content)]
    if calls := message.get("tool_calls"):
        made["tool_calls"] = [_native_call(call) for call in cast("list[JsonObject]", calls)]
    for name in made.keys() - {"role", "content", "tool_calls", "tool_call_id"}:
        made[name] = _value(made[name])
    return made


def _content(content: str, spots: Sequence[Placed], items: Sequence[PromptItem]) -> str:
    pieces: list[str] = []
    reached = 0
    for spot in sorted(spots, key=lambda each: each.start):
        pieces += [crossed_out(content[reached : spot.start]), items[spot.item].text]
        reached = spot.end
    return "".join([*pieces, crossed_out(content[reached:])])


def _part(part: JsonObject) -> JsonObject:
    if part.get("type") == "text":
        return {**part, "text": crossed_out(str(part.get("text")))}
    return {"type": "text", "text": "[image]"} if part.get("type") == "image_url" else part


def _native_call(call: JsonObject) -> JsonObject:
    function = cast("JsonObject", call["function"])
    given: Json = function.get("arguments")
    arguments = _arguments(given) if isinstance(given, str) else _value(given)
    return {**call, "function": {**function, "arguments": arguments}}
