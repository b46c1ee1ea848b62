"""Turns the arguments that a model wrote into ones that a tool can run with.

Invariant: strict JSON is read first; repair comes only after that failed, and counts only if
its result satisfies the schema. What is bound always satisfies the schema.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from prompt.dispatcher import is_dispatcher
from prompt.open_values import open_parameters
from prompt.schema import problems
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject, ToolSpec
from providers.verbatim.coercion import coerce
from providers.verbatim.literals import (
    MAX_DEPTH,
    CallArguments,
    Leniency,
    Unreadable,
    no_constant,
    read_float,
    read_int,
    read_value,
)

Written: TypeAlias = str | JsonObject | CallArguments | None
"""Arguments as a dialect hands them over: JSON text, values, call arguments, or nothing at all."""

_FENCE = re.compile(r"\s*```[\w-]*\s*(.*?)\s*(?:```\s*)?", re.DOTALL)
_STOP_TOKEN = re.compile(r"(?:\s*<[|｜][^<>|｜\s]{1,40}[|｜]>|\s*</s>|\s*<(?:eos|end_of_turn)>)+$")
_SHOWN_SCHEMA = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Arguments that satisfy the schema. `repaired`: the text was not valid as it stood."""

    arguments: dict[str, Json]
    raw_arguments: str
    repaired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BindFailure:
    """Why arguments cannot be bound. `unreadable`: no repair made an object out of them. `waits`:
    the parameters that were left open, where nothing else is wrong."""

    problems: tuple[str, ...]
    unreadable: bool = False
    waits: tuple[str, ...] = ()

    def message(self, spec: ToolSpec) -> str:
        """What the model is told: what was wrong, and the schema that holds."""
        schema = canonical_json(spec.parameters)
        if len(schema) > _SHOWN_SCHEMA:
            schema = schema[:_SHOWN_SCHEMA] + "..."
        return (
            f"The arguments of {spec.name} do not fit: {'; '.join(self.problems)}. "
            f"Write one JSON object that satisfies this schema: {schema}"
        )


def bind_call(spec: ToolSpec, raw: Written, *, complete: bool = True) -> Bound | BindFailure:
    """Bind written arguments to `spec`.

    `complete` tells that the call's own closer was seen, or that the response was not cut:
    only then may brackets that are still open at the end be closed.
    """
    if is_dispatcher(spec):
        return _bind_dispatch(raw)
    if raw is None:
        return _judge(spec, {}, "{}")
    if isinstance(raw, CallArguments):
        return _bind_call_arguments(spec, raw)
    if isinstance(raw, str):
        return _bind_text(spec, raw, complete=complete)
    return _judge(spec, dict(raw), None)


def _bind_dispatch(raw: Written) -> Bound:
    """A dispatcher's arguments as they stand. They hold the arguments of another tool, for which
    nothing can be judged here: they are neither bent nor repaired, and dispatch refuses those that
    are malformed."""
    if isinstance(raw, str):
        text = raw.strip() or "{}"
        try:
            value = read_json(text)
        except ValueError:
            value = None
        values = cast("dict[str, Json]", value) if isinstance(value, dict) else {}
        return Bound(arguments=values, raw_arguments=text)
    if isinstance(raw, CallArguments):
        alone = raw.positional[0] if len(raw.positional) == 1 and not raw.keywords else None
        raw = cast("JsonObject", alone) if isinstance(alone, Mapping) else dict(raw.keywords)
    values = dict(raw or {})
    return Bound(arguments=values, raw_arguments=canonical_json(values))


def read_json(text: str) -> Json:
    """Strict JSON with numbers that remember their spelling. Raises ValueError."""
    try:
        value = json.loads(
            text, parse_float=read_float, parse_int=read_int, parse_constant=no_constant
        )
    except RecursionError as error:
        raise Unreadable("nested too deeply") from error
    if _depth(value) > MAX_DEPTH:
        raise Unreadable("nested too deeply")
    return value


def _depth(value: Json) -> int:
    depth = 0
    level: list[Json] = [value]
    while level and depth <= MAX_DEPTH:
        depth += 1
        below: list[Json] = []
        for inner in level:
            if isinstance(inner, dict):
                below.extend(cast("dict[str, Json]", inner).values())
            elif isinstance(inner, list):
                below.extend(cast("list[Json]", inner))
        level = below
    return depth


def _bind_text(spec: ToolSpec, raw: str, *, complete: bool) -> Bound | BindFailure:
    text = raw.strip()
    if text.startswith("```"):
        fenced = _FENCE.fullmatch(text)
        text = fenced.group(1) if fenced else text
    if not text:
        return _judge(spec, {}, "{}")
    try:
        value, spelling = _unwrapped(read_json(text), text)
    except ValueError as error:
        why = str(error) if isinstance(error, Unreadable) else ""
        return _bind_repaired(spec, text, why, complete=complete)
    if value is None:
        return _judge(spec, {}, "{}")
    if not isinstance(value, dict):
        return _no_object(value)
    return _judge(spec, cast("dict[str, Json]", value), spelling)


def _unwrapped(value: Json, text: str) -> tuple[Json, str]:
    """Follow strings that hold JSON, at most twice."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        inner = value.strip()
        if inner[:1] not in ("{", '"') and inner != "null":
            return ({}, "{}") if not inner else (value, text)
        value, text = read_json(inner), inner
    return value, text


def _bind_repaired(spec: ToolSpec, text: str, why: str, *, complete: bool) -> Bound | BindFailure:
    failure: BindFailure | None = None
    for value in _repairs(text, complete=complete):
        if not isinstance(value, dict):
            failure = failure or _no_object(value)
            continue
        values = cast("dict[str, Json]", value)
        bound = _judge(spec, values, None, repaired=True)
        if isinstance(bound, Bound):
            return bound
        failure = failure or bound
    return failure or BindFailure(problems=(why or "they are not a JSON object",), unreadable=True)


def _repairs(text: str, *, complete: bool) -> Iterator[Json]:
    for guess_quotes in (False, True):
        try:
            value = read_value(text, Leniency(guess_quotes=guess_quotes, close_missing=complete))
            if isinstance(value, str) and value.strip()[:1] == "{":
                value = read_value(
                    value, Leniency(guess_quotes=guess_quotes, close_missing=complete)
                )
        except Unreadable:
            continue
        yield value


def _no_object(value: Json) -> BindFailure:
    kind = "a list" if isinstance(value, list) else "a bare value"
    return BindFailure(problems=(f"they are {kind}, not a JSON object",))


def _bind_call_arguments(spec: ToolSpec, written: CallArguments) -> Bound | BindFailure:
    failure: BindFailure | None = None
    for values in _placements(spec, written):
        bound = _judge(spec, values, None)
        if isinstance(bound, Bound):
            return bound
        failure = failure or bound
    return failure or BindFailure(problems=("more arguments than there are parameters",))


def _placements(spec: ToolSpec, written: CallArguments) -> Iterator[dict[str, Json]]:
    """Ways to read positional arguments: an object holding all, the one required, schema order."""
    keywords = dict(written.keywords)
    positional = written.positional
    names = parameter_names(spec)
    needed = required_names(spec)
    if len(positional) == 1 and isinstance(positional[0], Mapping):
        yield {**cast("JsonObject", positional[0]), **keywords}
    if len(positional) == 1 and len(needed) == 1 and needed[0] not in keywords:
        yield {needed[0]: positional[0], **keywords}
    free = [name for name in names if name not in keywords]
    if len(positional) <= len(free):
        yield {**dict(zip(free, positional, strict=False)), **keywords}


def parameter_names(spec: ToolSpec) -> Sequence[str]:
    """The parameters of a tool, in the order of its schema."""
    properties = spec.parameters.get("properties")
    return list(cast("JsonObject", properties)) if isinstance(properties, Mapping) else []


def required_names(spec: ToolSpec) -> Sequence[str]:
    """The parameters that a call cannot leave out."""
    required = spec.parameters.get("required")
    if not isinstance(required, (list, tuple)):
        return []
    return [name for name in cast("Sequence[Json]", required) if isinstance(name, str)]


def _judge(
    spec: ToolSpec, values: dict[str, Json], spelling: str | None, *, repaired: bool = False
) -> Bound | BindFailure:
    """Bend values to the schema; `spelling` is the JSON that stood for them, if any did."""
    cleaned = _cleaned(values)
    if cleaned != values:
        values, spelling, repaired = cleaned, None, True
    bent = cast("dict[str, Json]", coerce(values, spec.parameters, spec.parameters))
    found = problems(spec.parameters, bent)
    if found:
        return BindFailure(problems=tuple(found), waits=_waits(spec, bent))
    return Bound(arguments=bent, raw_arguments=spelling or canonical_json(bent), repaired=repaired)


def _waits(spec: ToolSpec, values: JsonObject) -> tuple[str, ...]:
    """The parameters left open, if the rest satisfies the schema."""
    waits = open_parameters(values)
    schema = dict(spec.parameters)
    schema["required"] = [name for name in required_names(spec) if name not in waits]
    rest = {name: value for name, value in values.items() if name not in waits}
    return () if waits and problems(schema, rest) else waits


def _cleaned(value: Json) -> Json:
    """Strings without a stop token at their end and without lone surrogates."""
    if isinstance(value, str):
        text = _STOP_TOKEN.sub("", value) if value[-1:] == ">" else value
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return text
    if isinstance(value, dict):
        return {key: _cleaned(inner) for key, inner in cast("dict[str, Json]", value).items()}
    if isinstance(value, list):
        return [_cleaned(inner) for inner in cast("list[Json]", value)]
    return value
