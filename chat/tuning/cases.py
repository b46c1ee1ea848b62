"""Reads cases of tool calling: a request, the tools that are on, and what is right.

Invariant: a case that could be misread is refused with its line, never guessed at.

One JSON object a line. `user` is a member's message. `tools` is a list of definitions (with or
without the `{"type": "function"}` around them), or the name of a set in the `tools.json` that lies
beside the file, or a list of such names. `expect` is null where an answer in words is right, else
`{"name": ..., "arguments": {parameter: value}}`; a value may be `{"contains": text}` or
`{"contains": [text, ...]}`, one of which must stand in it. Arguments that are not named may be
anything. Optional are:

- `history`: earlier messages in the shape of the API, calls and results among them; an
  assistant's message may have `tool_calls`, a tool's has `tool_call_id`.
- `called`: calls that this turn has already made, each with `name`, `arguments` and `result`;
  `expect` then tells what is right after the results.
- `results`: what tools answer, by name; a list where one answers differently each time. With it,
  `expect` is a list of calls, and the turn runs to its end.
- `unless`: by name, what a tool says to a call that is none of those expected, such as that there
  is no such thing; a call that it was said to has changed nothing, and does not count.
- `says`: a text, or a list of texts one of which the final answer must hold.
- `passages`: what the server's documents say about the message, each with `document` and `text`.
- `author`: who writes; a name is made up where it is missing.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, cast

from prompt.knowledge import Snippet
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject, Part, TextPart, ToolCall, ToolResult, ToolSpec, Turn

Kind: TypeAlias = Literal["call", "silence", "after_result", "steps"]

KINDS: tuple[Kind, ...] = ("call", "silence", "after_result", "steps")

_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}

AUTHORS = ("Alice", "jonas_k", "Priya", "xX_Nova_Xx", "Old Tom")


class BadCase(ValueError):
    """A line that is no case. Says which line and what is wrong with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A call that is right: its tool, and what its arguments must hold."""

    name: str
    arguments: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request and what is right. `id` is its line. `expect` is empty for an answer in words;
    `results` holds what each tool answers, call after call."""

    id: int
    user: str
    author: str
    tools: tuple[ToolSpec, ...]
    expect: tuple[Expected, ...]
    history: tuple[Turn, ...] = ()
    called: tuple[tuple[ToolCall, ToolResult], ...] = ()
    results: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    unless: Mapping[str, str] = field(default_factory=dict[str, str])
    says: tuple[str, ...] = ()
    passages: tuple[Snippet, ...] = ()

    @property
    def kind(self) -> Kind:
        """What is asked of the model here."""
        if self.called:
            return "after_result"
        if self.results:
            return "steps"
        return "call" if self.expect else "silence"


def read_cases(path: Path) -> list[Case]:
    """The cases of a file. Raises BadCase."""
    sets_file = path.with_name("tools.json")
    sets: Mapping[str, Json] = (
        json.loads(sets_file.read_text(encoding="utf-8")) if sets_file.exists() else {}
    )
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        _case(number, line, sets)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]


def sample(cases: Sequence[Case], size: int) -> list[Case]:
    """At most `size` cases, spread evenly over the file and over the kinds."""
    if size >= len(cases):
        return list(cases)
    taken: list[Case] = []
    for kind in KINDS:
        own = [case for case in cases if case.kind == kind]
        share = round(size * len(own) / len(cases))
        taken += [own[place * len(own) // share] for place in range(share)]
    return sorted(taken, key=lambda case: case.id)


def _case(number: int, line: str, sets: Mapping[str, Json]) -> Case:
    try:
        fields = json.loads(line)
        return Case(
            id=number,
            user=fields["user"],
            author=fields.get("author", AUTHORS[number % len(AUTHORS)]),
            tools=tuple(_tools(fields["tools"], sets)),
            expect=tuple(_expected(fields["expect"])),
            history=tuple(_history(fields.get("history", []))),
            called=tuple(_called(fields.get("called", []))),
            results={name: _texts(texts) for name, texts in fields.get("results", {}).items()},
            unless=dict(fields.get("unless", {})),
            says=_texts(fields.get("says", [])),
            passages=tuple(_passages(fields.get("passages", []))),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadCase(f"line {number}: {type(error).__name__}: {error}") from error


def _texts(found: Json) -> tuple[str, ...]:
    return (found,) if isinstance(found, str) else tuple(found)


def _tools(found: Json, sets: Mapping[str, Json]) -> Iterator[ToolSpec]:
    for entry in [found] if isinstance(found, str) else cast("list[Json]", found):
        if isinstance(entry, str):
            yield from _tools(sets[entry], {})
        else:
            function = entry.get("function", entry)
            yield ToolSpec(
                name=function["name"],
                description=function.get("description", ""),
                parameters=function.get("parameters") or _NO_PARAMETERS,
                read_only=True,
            )


def _expected(found: Json) -> Iterator[Expected]:
    entries = cast("list[Json]", found if isinstance(found, list) else [found] if found else [])
    for entry in entries:
        yield Expected(name=entry["name"], arguments=entry.get("arguments", {}))


def _passages(found: Json) -> Iterator[Snippet]:
    for place, entry in enumerate(found, 1):
        yield Snippet(document_id=place, document=entry["document"], url="", text=entry["text"])


def _called(found: Json) -> Iterator[tuple[ToolCall, ToolResult]]:
    for place, entry in enumerate(found):
        call = _call(f"called{place}", entry["name"], entry["arguments"])
        yield call, _result(call, entry["result"])


def _history(messages: Json) -> Iterator[Turn]:
    calls: dict[str, ToolCall] = {}
    for message in messages:
        parts: list[Part] = []
        if message["role"] == "tool":
            call = calls[message["tool_call_id"]]
            yield Turn(role="tool", parts=(_result(call, message["content"]),))
            continue
        if message.get("content"):
            parts.append(TextPart(text=message["content"]))
        for entry in message.get("tool_calls", []):
            function = entry["function"]
            call = _call(entry["id"], function["name"], json.loads(function["arguments"]))
            calls[call.id] = call
            parts.append(call)
        author = message.get("name", AUTHORS[0]) if message["role"] == "user" else None
        yield Turn(role=message["role"], parts=tuple(parts), author=author)


def _call(id_: str, name: str, arguments: JsonObject) -> ToolCall:
    return ToolCall(
        id=id_,
        name=name,
        arguments=arguments,
        raw_arguments=canonical_json(arguments),
        origin="text",
    )


def _result(call: ToolCall, text: str) -> ToolResult:
    return ToolResult(call_id=call.id, name=call.name, text=text, outcome="ok")
