"""Reads a captured model output as a live turn reads its answer.

Invariant: the same code as a live turn reads the input, in whatever pieces it is fed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias, cast

from chat.parse_events import printable
from prompt.events import StreamEvent
from prompt.surface import ToolSurface, canonical_json
from prompt.values import Json, JsonObject, ToolSpec
from providers.base import CallKey
from providers.openai.fault import as_object
from providers.openai.fold import ChunkFold
from providers.openai.response import ResponseReader, decode
from providers.verbatim import ParserSettings
from providers.wire import AnswerTool

Format: TypeAlias = Literal["text", "chunks", "sse"]
Record: TypeAlias = dict[str, Any]

FORMATS = ("text", "chunks", "sse")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ON_PARSER: Mapping[str, Mapping[str, tuple[str, Json]]] = {
    "text_calls": {
        "on": ("text_calls", "on"),
        "tagged_only": ("text_calls", "tagged_only"),
        "off": ("text_calls", "off"),
    },
    "tool_mode": {"off": ("text_calls", "off")},
    "has_tools": {"off": ("text_calls", "off")},
    "call_in_reasoning": {
        "if_silent": ("call_in_reasoning", "if_silent"),
        "on": ("call_in_reasoning", "if_silent"),
        "never": ("call_in_reasoning", "never"),
        "off": ("call_in_reasoning", "never"),
    },
    "template_opens_think": {
        "yes": ("reasoning_open", True),
        "on": ("reasoning_open", True),
        "no": ("reasoning_open", False),
        "off": ("reasoning_open", False),
    },
}
"""Workaround switches that change how text is read, value by value. Other switches and values,
`learn` among them, leave the reading as it is."""

_ON_ANSWER: Mapping[str, Mapping[str, tuple[str, Json]]] = {
    "parallel_calls": {
        "one": ("first_call_only", True),
        "leave": ("first_call_only", False),
        "send_true": ("first_call_only", False),
    },
    "server_answer_tool": {
        "ignore": ("answer_tool", "ignore"),
        "show_text": ("answer_tool", "show_text"),
    },
}
"""Switches that change what is made of a whole answer."""

ON_READING = ("text_calls", "call_in_reasoning", "template_opens_think", *_ON_ANSWER)
"""The switches among these that an adapter obeys."""


class BadInput(ValueError):
    """The input is not what `bot.py parse` asks for; the message says which part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One captured output and how it is to be read. Its settings may ask for explanations."""

    surface: ToolSurface
    input: Json
    format: Format = "text"
    finish: str = "stop"
    chunk: int = 0
    settings: ParserSettings = field(default_factory=ParserSettings)
    first_call_only: bool = False
    answer_tool: AnswerTool = "show_text"


class Surfaces:
    """Tool surfaces by the JSON that they were made from: a batch repeats a few thousand times."""

    def __init__(self) -> None:
        self._made: dict[str, ToolSurface] = {}

    def of(self, tools: Json) -> ToolSurface:
        """The surface of a tools array. Raises BadInput."""
        key = canonical_json(tools)
        if key not in self._made:
            self._made[key] = surface_of(tools)
        return self._made[key]


def surface_of(tools: Json) -> ToolSurface:
    """A tools array, OpenAI shape or bare functions, as a surface. Raises BadInput.

    Of two tools with one name the first counts.
    """
    if tools is None:
        return ToolSurface()
    if not isinstance(tools, list):
        raise BadInput("tools: a JSON array is wanted")
    specs: dict[str, ToolSpec] = {}
    for entry in cast("list[Json]", tools):
        fields = as_object(entry) or {}
        function = as_object(fields.get("function")) or fields
        name: Json = function.get("name")
        if not isinstance(name, str) or not name:
            raise BadInput("tools: an entry has no name")
        parameters = as_object(function.get("parameters"))
        description: Json = function.get("description")
        specs.setdefault(
            name,
            ToolSpec(
                name=name,
                description=description if isinstance(description, str) else "",
                parameters=parameters or {"type": "object", "properties": {}},
            ),
        )
    return ToolSurface(direct=tuple(specs.values()))


def case_of(fields: JsonObject, surfaces: Surfaces) -> Case:
    """The case that a line of a batch describes. Raises BadInput."""
    if "input" not in fields:
        raise BadInput("a JSON object with an input is wanted")
    format_: Json = fields.get("format") or "text"
    if format_ not in FORMATS:
        raise BadInput(f"format: one of {', '.join(FORMATS)} is wanted")
    chunk: Json = fields.get("chunk") or 0
    if not isinstance(chunk, int):
        raise BadInput("chunk: a number of characters is wanted")
    switches = as_object(fields.get("settings")) or {}
    read = ParserSettings(reasoning_open=bool(fields.get("reasoning_open")))
    case = Case(
        surface=surfaces.of(fields.get("tools")),
        input=fields["input"],
        format=format_,
        finish=str(fields.get("finish") or "stop"),
        chunk=chunk,
        settings=replace(
            read,
            copied=_call_keys(fields, "copied"),
            quoted=_call_keys(fields, "quoted"),
            **_changes(_ON_PARSER, switches),
        ),
    )
    return replace(case, **_changes(_ON_ANSWER, switches))


def parse(case: Case) -> list[Record]:
    """The events of one captured output, as they are printed. Raises BadInput."""
    fold = ChunkFold(
        case.surface,
        case.settings,
        id_seed="parse",
        first_call_only=case.first_call_only,
        answer_tool=case.answer_tool,
    )
    match case.format:
        case "sse":
            events = _read_sse(fold, _text(case.input), case.chunk)
        case "chunks":
            events = _read_chunks(fold, case.input, case.chunk)
        case _:
            finish = _chunk({}, finish=case.finish)
            deltas = [_chunk({"content": piece}) for piece in _cut(_text(case.input), case.chunk)]
            events = [event for chunk in (*deltas, finish) for event in fold.feed(chunk)]
            events += fold.close(done=True)
    return printable(events, fault=fold.fault, explain=case.settings.explain)


def _read_sse(fold: ChunkFold, text: str, size: int) -> list[StreamEvent]:
    reader = ResponseReader(fold)
    events = [
        event
        for piece in _cut(text, size)
        for event in reader.feed(piece.encode("utf-8", "replace"))
    ]
    return [*events, *reader.close()]


def _read_chunks(fold: ChunkFold, given: Json, size: int) -> list[StreamEvent]:
    events: list[StreamEvent] = []
    done = False
    for chunk in _entries(given):
        if chunk is None:
            done = True
            break
        for part in _resplit(chunk, size):
            events += fold.feed(part)
        if fold.fault:
            break
    return [*events, *fold.close(done=done)]


def _entries(given: Json) -> Iterator[JsonObject | None]:
    """The chunks of an input, None for `[DONE]`; a line that is no chunk counts as a fault."""
    if isinstance(given, str):
        try:
            given = decode(given)
        except ValueError:
            given = [line for line in _LINE_END.split(given) if line.strip()]
    for entry in cast("list[Json]", given) if isinstance(given, list) else [given]:
        found: Json = entry
        if isinstance(entry, str):
            text = entry.strip().removeprefix("data:").strip()
            if text == "[DONE]":
                yield None
                continue
            try:
                found = decode(text)
            except ValueError:
                found = None
        yield as_object(found) or {"error": {"message": f"not a chunk: {canonical_json(entry)}"}}


def _resplit(chunk: JsonObject, size: int) -> Iterator[JsonObject]:
    """The chunk with its text in pieces of `size` characters, the rest of it first."""
    choices: Json = chunk.get("choices")
    choice = as_object(choices[0]) if isinstance(choices, list) and choices else None
    delta = as_object(choice.get("delta")) if choice else None
    content: Json = delta.get("content") if delta else None
    if choice is None or delta is None or not isinstance(content, str) or size <= 0:
        yield chunk
        return
    yield {**chunk, "choices": [{**choice, "delta": {**delta, "content": ""}}]}
    for piece in _cut(content, size):
        yield _chunk({"content": piece})


def _chunk(delta: Record, *, finish: str | None = None) -> JsonObject:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _cut(text: str, size: int) -> Sequence[str]:
    if size <= 0:
        return [text]
    return [text[start : start + size] for start in range(0, len(text), size)]


def _text(given: Json) -> str:
    if not isinstance(given, str):
        raise BadInput("input: a text is wanted")
    return given


def _call_keys(fields: JsonObject, name: str) -> frozenset[CallKey]:
    """Pairs of a tool's name and its arguments as canonical JSON."""
    given: Json = fields.get(name) or []
    pairs = cast("list[Json]", given) if isinstance(given, list) else [None]
    keys: set[CallKey] = set()
    for pair in pairs:
        match pair:
            case [str(tool), str(arguments)]:
                keys.add((tool, arguments))
            case _:
                raise BadInput(f"{name}: pairs of a name and arguments are wanted")
    return frozenset(keys)


def _changes(
    table: Mapping[str, Mapping[str, tuple[str, Json]]], switches: JsonObject
) -> dict[str, Any]:
    """The fields that the switches change, by name; of two on one field the last counts."""
    changes: dict[str, Any] = {}
    for name, value in switches.items():
        spelled = {True: "on", False: "off"}[value] if isinstance(value, bool) else value
        change = table.get(name, {}).get(spelled) if isinstance(spelled, str) else None
        if change is not None:
            changes |= [change]
    return changes
