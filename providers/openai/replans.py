"""Reads out of a server's error which switch would let the request pass.

Invariant: pure. A change is named only where the error's words point to one thing that the request
has, and where the request does not have it as the change wants it already.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from prompt.values import Json, JsonObject
from providers.base import ContextTooLong, EndpointError, Replan, ToolsRefused
from providers.openai.errors import UnknownModel
from providers.wire import WIRE_NAMES, Change, Wire

_NO_CHANGE = frozenset({401, 403, 429, 503})
"""Answers about the key or the load: the request as such may be fine."""

_WINDOW = re.compile(
    r"context (?:size|window|length)[^.\d]{0,40}?(\d{3,8})|n_ctx\W{0,6}(\d{3,8})"
    r"|(?:num_ctx|max_model_len|max_seq_len)\W{0,6}(\d{3,8})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Where an error `says` this about a request that `has` something, these changes may help,
    the first one that is not made yet."""

    says: re.Pattern[str]
    has: Callable[[JsonObject], bool]
    changes: tuple[tuple[str, str], ...]


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def _messages(body: JsonObject) -> list[Mapping[str, Any]]:
    return cast("list[Mapping[str, Any]]", body["messages"])


def _has_field(name: str) -> Callable[[JsonObject], bool]:
    return lambda body: name in body


def _has_role(role: str) -> Callable[[JsonObject], bool]:
    return lambda body: any(message["role"] == role for message in _messages(body))


def _has_in_message(name: str) -> Callable[[JsonObject], bool]:
    return lambda body: any(name in message for message in _messages(body))


def _calls_without_words(body: JsonObject) -> bool:
    return any("tool_calls" in each and not each["content"] for each in _messages(body))


def _has_images(body: JsonObject) -> bool:
    return any(isinstance(message["content"], list) for message in _messages(body))


def _anything(body: JsonObject) -> bool:
    return True


_TEMPLATE = r"jinja|chat.?template|template(error| error)|raise_exception"

RULES: tuple[Rule, ...] = (
    Rule(
        _words(
            r"(image|vision|multi.?modal|mmproj).{0,80}"
            r"(not? (currently )?(support|available|load|allow|accept|enabled|provide)"
            r"|unsupported|missing|no longer|cannot|can't|does ?n.t|disabled)"
            r"|(not? (currently )?(support|accept|allow|a |an |have )|unsupported|without|missing"
            r"|does ?n.t|at most 0|no endpoints|unknown|unexpected|only).{0,60}"
            r"(image|vision|multi.?modal|mmproj|'text' content)"
            r"|(unsupported|invalid) content|content.?type"
            r"|content.{0,60}(must be|should be|valid|expected|be a) ?(a |an )?str"
            r"|expected (a |an )?string|valid string|concatenate str|cannot unmarshal array"
        ),
        _has_images,
        (("vision", "off"),),
    ),
    Rule(
        _words(r"stream_options|include_usage"),
        _has_field("stream_options"),
        (("usage_in_stream", "off"),),
    ),
    Rule(
        _words(r"reasoning_content"),
        _has_in_message("reasoning_content"),
        (("reasoning_echo", "drop"),),
    ),
    Rule(
        _words(
            r"grammar|failed to initialize samplers|json.?schema|invalid schema|schema conver"
            r"|unrecognized schema|function parameters|\bparameters\b.{0,40}(schema|properties)"
        ),
        _has_field("tools"),
        (("schema_level", "names_only"),),
    ),
    Rule(
        _words(
            r"(item pairs|\bitems\b).{0,80}(mapping|string|filter)|filter:? '?items"
            r"|arguments.{0,60}(must be|should be|expected|valid|be a) ?(an? )?"
            r"(object|dict|mapping)|cannot unmarshal string into.{0,60}arguments"
        ),
        _has_in_message("tool_calls"),
        (("arguments_in_history", "object"),),
    ),
    Rule(
        _words(
            r"content.{0,60}(empty|blank|at least|non.?empty|too short)|empty.{0,20}content"
            r"|text content blocks must"
        ),
        _calls_without_words,
        (("empty_content", "null"),),
    ),
    Rule(
        _words(r"content.{0,60}(null|none\b|must be a string|required|is missing)|null content"),
        _calls_without_words,
        (("empty_content", "empty_string"),),
    ),
    Rule(
        _words(
            r"\btool\b.{0,20}\brole|\brole\W.{0,20}\btool\b|roles? .{0,40}(supported|allowed)"
            r"|unknown role|unexpected role|invalid role|unsupported role|tool_call_id"
            r"|only user.{0,20}assistant|tool messages?\b"
        ),
        _has_role("tool"),
        (("tool_role", "as_user"),),
    ),
    Rule(
        # Llama's template, of a message in the history that made several.
        _words(r"\b(single|one) tool.?calls?\b"),
        _has_role("tool"),
        (("tool_role", "as_user"),),
    ),
    Rule(
        _words(
            r"system.{0,20}(role|message|prompt).{0,60}(support|allow|first|begin|start|one|once)"
            r"|system role|only (one|the first|a single).{0,30}system"
            r"|role\W.{0,12}system|only user.{0,20}assistant"
        ),
        _has_role("system"),
        (("system_layout", "merge_first"), ("system_layout", "fold_into_user")),
    ),
    Rule(
        _words(r"alternat|consecutive|two .{0,30}in a row|after the optional system"),
        _anything,
        (
            ("merge_same_role", "on"),
            ("tool_role", "as_user"),
            ("system_layout", "fold_into_user"),
        ),
    ),
    Rule(_words(_TEMPLATE), _has_role("tool"), (("tool_role", "as_user"),)),
    Rule(_words(_TEMPLATE), _has_images, (("vision", "off"),)),
)
"""The first that fits counts; what several causes share stands last."""

_NEEDS = {"tool_role": _has_role("tool"), "system_layout": _has_role("system")}
"""What a request must have for a change to make a difference."""


def replanned(error: EndpointError, status: int, said: str, body: JsonObject, wire: Wire) -> Replan:
    """The Replan that an error answer asks for. Raises `error` if it asks for none.

    `said` are the server's words about `body`, which was written as `wire` wants it.
    """
    if status in _NO_CHANGE or isinstance(error, UnknownModel):
        raise error
    change = _window_in(said) if isinstance(error, ContextTooLong) else named(said, body, wire)
    if change is None:
        raise error
    if isinstance(error, ToolsRefused) and change.name != "schema_level":
        raise error  # it is the field as such that is refused
    return Replan(change, error)


def named(said: str, body: JsonObject, wire: Wire) -> Change | None:
    """The change that the words of an error name."""
    for rule in RULES:
        if not rule.says.search(said) or not rule.has(body):
            continue
        for name, value in rule.changes:
            made = name in WIRE_NAMES and wire.value(name) == value
            if not made and _NEEDS.get(name, _anything)(body) and not _is_back(name, value, wire):
                return Change(name=name, value=value)
    return None


def _is_back(name: str, value: str, wire: Wire) -> bool:
    """Whether the change would lead back from where an earlier one led."""
    return (name, value) == ("system_layout", "merge_first") and wire.system_layout != "as_is"


def _window_in(said: str) -> Change | None:
    """The context window that an error tells."""
    found = _WINDOW.search(said)
    number: Json = next((group for group in found.groups() if group), None) if found else None
    return None if number is None else Change(name="context_window", value=str(int(number)))
