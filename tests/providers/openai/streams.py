"""Reads the stream corpus: recorded answers and what is to come out of them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from prompt.events import (
    CallError,
    Finished,
    ReasoningDelta,
    Reclassified,
    StreamEvent,
    TextDelta,
    Usage,
)
from prompt.surface import ToolSurface
from prompt.values import ToolCall, ToolSpec
from providers.openai.fault import Fault

CORPUS = Path(__file__).parents[2] / "corpus" / "streams"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCase:
    """`source` is where the case stands, for the test's name."""

    source: str
    lines: tuple[str, ...]
    expected: tuple[str, ...]

    @property
    def chunks(self) -> list[dict[str, Any]]:
        """The lines as chunks: a delta each, a whole chunk, or a finish reason."""
        return [chunk for line in self.lines if (chunk := _chunk(line)) is not None]

    @property
    def body(self) -> bytes:
        """The chunks as server-sent events."""
        events = [f"data: {json.dumps(chunk)}\n\n" for chunk in self.chunks]
        return ("".join(events) + ("" if "end" in self.lines else "data: [DONE]\n\n")).encode()

    @property
    def wire(self) -> bytes:
        """The lines as a body, as they are."""
        return "\n".join(self.lines).encode()


def _chunk(line: str) -> dict[str, Any] | None:
    word, _, rest = line.partition(" ")
    match word:
        case "chunk":
            return cast("dict[str, Any]", json.loads(rest))
        case "finish":
            return {"choices": [{"index": 0, "delta": {}, "finish_reason": rest}]}
        case "end":
            return None
        case _:
            delta = json.loads(line)
            return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def split_anew(chunks: Iterable[dict[str, Any]], size: int) -> list[dict[str, Any]]:
    """The chunks with words that follow each other joined, and cut into so many characters."""
    made: list[dict[str, Any]] = []
    text = ""

    def flush() -> None:
        for start in range(0, len(text), size):
            piece = {"content": text[start : start + size]}
            made.append({"choices": [{"index": 0, "delta": piece, "finish_reason": None}]})

    for chunk in chunks:
        words = _words_alone(chunk)
        if words:
            text += words
            continue
        flush()
        text = ""
        made.append(chunk)
    flush()
    return made


def _words_alone(chunk: dict[str, Any]) -> str:
    """The words of a chunk that has nothing else."""
    for choice in chunk["choices"]:
        if choice["delta"].keys() == {"content"} and choice["finish_reason"] is None:
            return choice["delta"]["content"] or ""
    return ""


def cases(name: str) -> list[StreamCase]:
    """The cases of one corpus file."""
    found: list[StreamCase] = []
    _, *blocks = (CORPUS / name).read_text(encoding="utf-8").split("\n=== ")
    for block in blocks:
        given, _, wanted = block.partition("\n---\n")
        title, *lines = given.split("\n")
        found.append(
            StreamCase(
                source=f"{name}: {title}",
                lines=tuple(lines),
                expected=tuple(line for line in wanted.split("\n") if line),
            )
        )
    return found


def surface() -> ToolSurface:
    """The tools of the corpus."""
    tools = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
    return ToolSurface(direct=tuple(ToolSpec(**tool) for tool in tools))


def summary(events: Iterable[StreamEvent], fault: Fault | None) -> list[str]:
    """Events in the notation of the corpus, neighbouring text merged."""
    lines: list[str] = []
    for kind, word in _merged(events):
        lines.append(f"{kind} {word}")
    if fault is not None:
        lines.insert(-1, f"fault {fault.message}")
    return lines


def _merged(events: Iterable[StreamEvent]) -> Iterator[tuple[str, str]]:
    kind, text = "", ""
    for event in events:
        assert not isinstance(event, Reclassified)
        current = {TextDelta: "text", ReasoningDelta: "reasoning"}.get(cast("Any", type(event)), "")
        line = _line(event)
        if not current and line is None:
            continue
        if current != kind:
            if kind:
                yield kind, json.dumps(text, ensure_ascii=False)
            kind, text = current, ""
        if isinstance(event, TextDelta | ReasoningDelta):
            text += event.text
        elif line is not None:
            yield line


def _line(event: StreamEvent) -> tuple[str, str] | None:
    match event:
        case ToolCall():
            arguments = json.dumps(event.arguments, sort_keys=True, separators=(",", ":"))
            return "call", f"{event.name} {arguments} {event.origin}"
        case CallError():
            return "error", f"{event.code} {event.name} {event.origin}"
        case Usage():
            counts = (event.prompt_tokens, event.completion_tokens, event.cached_tokens)
            return "usage", " ".join(map(str, counts))
        case Finished():
            return "finish", str(event.reason) if event.marked else "unmarked"
        case _:
            return None


def matches(found: list[str], expected: Iterable[str]) -> bool:
    """Whether the lines are equal; of a fault only a part need be given, text is compared as it
    reads."""
    wanted = list(expected)
    if len(found) != len(wanted):
        return False
    return all(_same(one, other) for one, other in zip(found, wanted, strict=True))


def _same(found: str, wanted: str) -> bool:
    kind, _, rest = wanted.partition(" ")
    if kind == "fault":
        return found.startswith("fault ") and rest in found
    if kind in {"text", "reasoning"} and found.startswith(kind):
        return json.loads(found.partition(" ")[2]) == json.loads(rest)
    return found == wanted
