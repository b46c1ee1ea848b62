"""Finds where two requests of a channel part, and what that costs the endpoint's prompt cache.

Invariant: pure. A cache serves the beginning that a request shares with the one before; tokens are
estimated as the budget does it. Templates put tools before everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from chat.sent import Sent
from prompt.surface import canonical_json
from prompt.tokens import estimate
from prompt.values import Json, JsonObject

_EXCERPT = 60
"""Characters that are shown of each side."""

_NEAR = 3
"""Messages in which the text of the next item is looked for: the present one and those behind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Where the text of item number `item` stands: from `start` to `end` in a message's content."""

    item: int
    message: int
    start: int
    end: int


def placed(request: Sent) -> Iterator[Placed]:
    """The items of a request whose text stands in a message as it is; calls in fields of their own
    do not."""
    contents = [_content(message) for message in _messages(request.body)]
    reached = [0] * len(contents)
    present = 0
    for number, item in enumerate(request.items):
        text = item.text
        near = range(present, min(present + _NEAR, len(contents)))
        # System text is merged into the first message, whatever was said before it.
        for message in (*near, 0) if contents else ():
            start = contents[message].find(text, reached[message]) if text else -1
            if start >= 0:
                reached[message] = start + len(text)
                present = max(present, message)
                yield Placed(item=number, message=message, start=start, end=start + len(text))
                break


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The first difference of a request from the one before, None where it only grew.

    `byte` counts from the body's beginning, in UTF-8. Estimated tokens: `shared` by both, `lost` of
    the earlier one's cache, `fresh` to be read.
    """

    byte: int
    where: str
    before: str
    after: str
    shared: int
    lost: int
    fresh: int


def difference(before: Sent, after: Sent) -> Difference | None:
    """Where `after` stops being like `before`."""
    for name in ("model", "tools"):
        if before.body.get(name) != after.body.get(name):
            return _all_lost(name, before, after)
    old, new = _messages(before.body), _messages(after.body)
    same = _common(old, new)
    if same == len(old):
        return None
    shared_text = 0
    if same < len(new):
        shared_text = _common(_content(old[same]), _content(new[same]))
        if old[same].get("role") != new[same].get("role"):
            shared_text = 0
    shared = sum(map(_tokens, old[:same]))
    if shared_text:
        shared += estimate(_content(old[same])[:shared_text])
    rest = _content(new[same])[shared_text:] if same < len(new) else ""
    return Difference(
        byte=_byte(before.body, after.body),
        where=_where(after, same, shared_text),
        before=_content(old[same])[shared_text : shared_text + _EXCERPT],
        after=rest[:_EXCERPT],
        shared=shared,
        lost=sum(map(_tokens, old)) - shared,
        fresh=sum(map(_tokens, new)) - shared,
    )


def _all_lost(name: str, before: Sent, after: Sent) -> Difference:
    def tokens(request: Sent) -> int:
        tools = request.body.get("tools")
        own = estimate(canonical_json(tools)) if tools else 0
        return own + sum(map(_tokens, _messages(request.body)))

    values = [canonical_json(each.body.get(name)) for each in (before, after)]
    start = _common(*values)
    excerpts = [value[start : start + _EXCERPT] for value in values]
    return Difference(
        byte=_byte(before.body, after.body),
        where=f"the field {name}",
        before=excerpts[0],
        after=excerpts[1],
        shared=0,
        lost=tokens(before),
        fresh=tokens(after),
    )


def _where(request: Sent, message: int, offset: int) -> str:
    """The item that holds a place of a message, else the message."""
    messages = _messages(request.body)
    if message == len(messages):
        return "the end: the earlier request had more messages"
    role = messages[message].get("role")
    for each in placed(request):
        if each.message == message and each.end > offset:
            item = request.items[each.item]
            return f"{item.tag} ({item.zone}), in message {message + 1} ({role})"
    return f"message {message + 1} ({role})"


def _byte(before: JsonObject, after: JsonObject) -> int:
    one, other = (canonical_json(body).encode("utf-8", "replace") for body in (before, after))
    return _common(one, other)


def _common(one: Sequence[object], other: Sequence[object]) -> int:
    """How many elements two sequences begin with alike."""
    for place, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return place
    return min(len(one), len(other))


def _tokens(message: JsonObject) -> int:
    calls = message.get("tool_calls")
    return estimate(_content(message) + (canonical_json(calls) if calls else ""))


def _messages(body: JsonObject) -> Sequence[JsonObject]:
    return cast("Sequence[JsonObject]", body.get("messages") or ())


def _content(message: JsonObject) -> str:
    """The words of a message, those of all its parts."""
    content: Json = message.get("content")
    if isinstance(content, str):
        return content
    parts = cast("list[Json]", content) if isinstance(content, list) else []
    texts = [cast("JsonObject", part).get("text") for part in parts if isinstance(part, Mapping)]
    return "\n\n".join(text for text in texts if isinstance(text, str))
