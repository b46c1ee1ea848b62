"""Reads JSON objects that are calls, in all the shapes in which models write them.

Invariant: pure. An object is a call only by its keys; whether the name is offered and the
arguments fit is for others to say.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from prompt.surface import canonical_json
from prompt.values import Json, JsonObject
from providers.verbatim.arguments import Written, parameter_names, read_json
from providers.verbatim.coercion import plain
from providers.verbatim.literals import CallArguments, Leniency, Unreadable, read_value
from providers.verbatim.names import NameIndex

NAME_KEYS = ("name", "function", "tool", "tool_name", "action", "recipient_name")
ARGUMENT_KEYS = (
    "arguments",
    "parameters",
    "args",
    "input",
    "tool_input",
    "action_input",
    "params",
)
LIST_KEYS = ("tool_calls", "function_calls", "tool_uses")
SINGLE_KEYS = ("tool_call", "function_call")
SIDE_KEYS = ("type", "id", "index", "call_id", "tool_call_id", "role", "content")
CALL_KEYS = frozenset((*NAME_KEYS, *ARGUMENT_KEYS, *LIST_KEYS, *SINGLE_KEYS, *SIDE_KEYS))
_STRING_ARGUMENT_KEYS = ("input", "tool_input", "action_input")
_PARALLEL = "multi_tool_use.parallel"


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectCall:
    """A call read from a JSON object.

    `exact`: it has a name, an arguments object and nothing else. `flat`: the arguments stand
    beside the name. `bare`: no arguments at all. `odd`: the arguments are no object.
    `schema`: they are a tool's definition rather than arguments for it.
    """

    name: str
    arguments: Written
    exact: bool = False
    flat: bool = False
    bare: bool = False
    odd: bool = False
    schema: bool = False
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class _Member:
    value: Json
    raw: str


_Members = Mapping[str, _Member]


def read_calls(text: str, names: NameIndex, *, complete: bool) -> Sequence[Sequence[ObjectCall]]:
    """The readings of one object, most literal first; empty when it is no call object.

    `complete`: brackets that are still open at its end may be closed.
    """
    try:
        value = read_json(text)
    except ValueError:
        readings = _repaired_readings(text, names, complete=complete)
        if readings:
            return readings
        value = _outlined(text)
    if not isinstance(value, dict):
        return ()
    calls = _calls(_members(cast("JsonObject", value), text), names)
    return (calls,) if calls else ()


def _outlined(text: str) -> Json:
    """JSON with numbers, or a depth, that no call may have: which call it is meant to be. What its
    arguments hold is found out when they are bound. None where it is no JSON."""
    try:
        return json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None


def _repaired_readings(
    text: str, names: NameIndex, *, complete: bool
) -> Sequence[Sequence[ObjectCall]]:
    readings: list[Sequence[ObjectCall]] = []
    for guess_quotes in (False, True):
        try:
            value = read_value(text, Leniency(guess_quotes=guess_quotes, close_missing=complete))
        except Unreadable:
            continue
        if isinstance(value, dict):
            calls = _calls(_members(cast("JsonObject", value), None), names, repaired=True)
            if calls:
                readings.append(calls)
    return readings


def _members(value: JsonObject, text: str | None) -> _Members:
    """The members of an object with the JSON that stands for each; `text` is strict JSON."""
    if text is None:
        return {key: _Member(inner, canonical_json(plain(inner))) for key, inner in value.items()}
    members: dict[str, _Member] = {}
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    pos = _next(text, text.index("{") + 1)
    while text[pos] != "}":
        key, pos = decoder.raw_decode(text, pos)
        start = _next(text, _next(text, pos) + 1)
        _, pos = decoder.raw_decode(text, start)
        members[key] = _Member(value[key], text[start:pos])
        pos = _next(text, pos)
        if text[pos] == ",":
            pos = _next(text, pos + 1)
    return members


def _next(text: str, pos: int) -> int:
    while text[pos] in " \t\r\n":
        pos += 1
    return pos


def _inner(member: _Member, *, repaired: bool) -> _Members | None:
    value = member.value
    if not isinstance(value, Mapping):
        return None
    return _members(cast("JsonObject", value), None if repaired else member.raw)


def _calls(members: _Members, names: NameIndex, *, repaired: bool = False) -> Sequence[ObjectCall]:
    for key in LIST_KEYS:
        if key in members and isinstance(members[key].value, list):
            return _list_calls(members[key], names, repaired=repaired)
    for key in (*SINGLE_KEYS, "function"):
        inner = _inner(members[key], repaired=repaired) if key in members else None
        if inner is not None:
            return _calls(inner, names, repaired=repaired)
    call = _named_call(members, names, repaired=repaired)
    if call is None:
        return _keyed_call(members, names, repaired=repaired)
    inner = isinstance(call.arguments, str) and parallel_calls(call.name, call.arguments, names)
    return inner or (call,)


def parallel_calls(name: str, arguments: str, names: NameIndex) -> Sequence[ObjectCall]:
    """The calls inside one of `multi_tool_use.parallel`, which some models have learnt by heart;
    none where it is another call, or any of them has no tool."""
    readings = read_calls(arguments, names, complete=True) if name == _PARALLEL else ()
    inner = readings[0] if readings else ()
    return inner if all(names.resolve(call.name) for call in inner) else ()


def _list_calls(member: _Member, names: NameIndex, *, repaired: bool) -> Sequence[ObjectCall]:
    calls: list[ObjectCall] = []
    for value in cast("list[Json]", member.value):
        if not isinstance(value, Mapping):
            return ()
        inner = cast("JsonObject", value)
        text = None if repaired else canonical_json(plain(inner))
        found = _calls(_members(inner, text), names, repaired=repaired)
        if not found:
            return ()
        calls.extend(found)
    return calls


def _keyed_call(members: _Members, names: NameIndex, *, repaired: bool) -> Sequence[ObjectCall]:
    """`{"get_weather": {...}}`: the name is the only key."""
    if len(members) != 1:
        return ()
    (name, member), *_ = members.items()
    if not isinstance(member.value, dict) or names.resolve(name) is None:
        return ()
    return (ObjectCall(name=name, arguments=member.raw, flat=True, repaired=repaired),)


def _named_call(members: _Members, names: NameIndex, *, repaired: bool) -> ObjectCall | None:
    written = [
        (key, cast("str", members[key].value).strip())
        for key in NAME_KEYS
        if key in members and isinstance(members[key].value, str)
    ]
    if not written:
        return None
    offered = [(key, name) for key, name in written if names.resolve(name)]
    name_key, name = (offered or written)[0]
    spec = names.resolve(name)
    parameters = parameter_names(spec) if spec else ()
    others = [key for key in members if key != name_key and key not in SIDE_KEYS]
    argument_key = next((key for key in ARGUMENT_KEYS if key in others), None)
    if argument_key and not (
        argument_key in parameters and not _holds_object(members[argument_key].value)
    ):
        member = members[argument_key]
        return _call_with(name, argument_key, member, lone=len(others) == 1, repaired=repaired)
    if not others:
        return ObjectCall(name=name, arguments=None, bare=True, repaired=repaired)
    flat = {
        key: members[key].value
        for key in members
        if key != name_key and (key not in SIDE_KEYS or key in parameters)
    }
    return ObjectCall(name=name, arguments=flat, flat=True, repaired=repaired)


def _call_with(name: str, key: str, member: _Member, *, lone: bool, repaired: bool) -> ObjectCall:
    value = member.value
    if value is None or value == "":
        return ObjectCall(name=name, arguments=None, bare=value == "", repaired=repaired)
    arguments: Written = member.raw
    odd = not _holds_object(value)
    if odd and isinstance(value, str) and key in _STRING_ARGUMENT_KEYS:
        arguments, odd = CallArguments(positional=(value,)), False
    return ObjectCall(
        name=name,
        arguments=arguments,
        exact=lone and _holds_object(value),
        odd=odd,
        schema=_is_schema(value),
        repaired=repaired,
    )


def _holds_object(value: Json) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, str) and value.strip().lstrip('"\\')[:1] == "{"
    )


def _is_schema(value: Json) -> bool:
    if not isinstance(value, dict):
        return False
    members = cast("JsonObject", value)
    return members.get("type") == "object" and isinstance(members.get("properties"), dict)
