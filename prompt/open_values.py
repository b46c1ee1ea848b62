"""Values that a model knows to lack, and the tools that may tell them.

Invariant: pure. A call with an open value is never run with it: what the worked turns teach to
write for a number that is not known yet stands for no value at all.

Small models make up the number of a thing that was only described to them. With a sign for what is
not known they use it instead, and look it up once they are told where.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from prompt.values import Json, JsonObject, ToolSpec

ASK = "Nobody has named it. Answer in words."
"""Told where no tool can tell what a call waits for."""

OPEN = "?"
"""Stands in the arguments of a call for a value that has to be found first."""

_MOST = 2
"""Tools that are named as possible sources."""

_LOOKUP_WORDS = (
    "browse check fetch find get list look lookup query read recall retrieve search show tell view"
)
_EMPTY_WORDS = (
    "a an and any are by for from has id ids in is it its most no number of on one or the their to "
    "who with you your"
)
_LOOKUP = frozenset(_LOOKUP_WORDS.split())
_EMPTY = frozenset(_EMPTY_WORDS.split())
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_A-Za-z]+")


def open_parameters(arguments: Json) -> tuple[str, ...]:
    """The parameters that are left open."""
    if not isinstance(arguments, Mapping):
        return ()
    given = cast("JsonObject", arguments)
    return tuple(name for name, value in given.items() if value == OPEN)


def waits_for(
    parameters: Iterable[str], sources: Sequence[str] = (), *, why: str = "", then: str = ""
) -> str:
    """What a model is told of a call that waits for values. `sources` are tools to call first;
    `then` is what else is said."""
    told = f"waits for {' and '.join(parameters)}{why and f': {why}'}"
    told += f". First call {' or '.join(sources)}." if sources else ""
    return f"{told}. {then}" if then else told


def sources(spec: ToolSpec, parameters: Sequence[str], offered: Sequence[ToolSpec]) -> list[str]:
    """The tools that look like telling values for `parameters` of `spec`, the likeliest first.

    A tool that the schema names comes first; else one that looks things up by its name or
    description, says something of the same things, and does not need the same value itself.
    """
    schemas = [schema_of(spec, name) for name in parameters]
    told_of = [str(each.get("description", "")) for each in schemas]
    described = " ".join([spec.description, *told_of])
    things = _words(" ".join([spec.name, *parameters, described]))
    named = _words(" ".join([spec.name, *parameters]))
    found: list[tuple[int, str]] = []
    for other in offered:
        if other.name == spec.name or set(_required(other)) & set(parameters):
            continue
        if re.search(rf"(?<!\w){re.escape(other.name)}(?!\w)", described):
            found.append((100, other.name))
            continue
        own, told = _listed(other.name), _listed(other.description)
        if not {*own[:1], *told[:1]} & _LOOKUP:
            continue
        own_words, told_words = set(own), set(told)
        score = 3 * len(named & own_words) + 2 * len(named & told_words) + len(things & own_words)
        if score:
            found.append((score, other.name))
    best = max((score for score, _ in found), default=0)
    return [name for score, name in found if score == best][:_MOST]


def _words(text: str) -> set[str]:
    return set(_listed(text)) - _EMPTY - _LOOKUP


def _listed(text: str) -> list[str]:
    """The words of a name or text, each without the `s` of a plural."""
    words = [word.casefold() for word in _WORD.findall(text)]
    return [word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words]


def _required(spec: ToolSpec) -> Sequence[str]:
    required = spec.parameters.get("required")
    return cast("Sequence[str]", required) if isinstance(required, list | tuple) else ()


def schema_of(spec: ToolSpec, parameter: str) -> JsonObject:
    """What a tool tells of a parameter; empty where it tells nothing."""
    properties = spec.parameters.get("properties")
    schema = cast("JsonObject", properties).get(parameter) if _is_map(properties) else None
    return cast("JsonObject", schema) if _is_map(schema) else {}


def _is_map(value: Json) -> bool:
    return isinstance(value, Mapping)
