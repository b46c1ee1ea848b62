import json
from typing import Any

import pytest

from prompt.events import CallError, Dropped, Finished, StreamEvent, TextDelta
from prompt.surface import ToolSurface
from prompt.values import ToolCall, ToolSpec
from providers.openai.fold import ChunkFold
from providers.wire import AnswerTool
from tests.providers.openai.test_adapter import SURFACE

FIRST, SECOND = '{"sides": 6}', '{"sides": 8}'


def native(*calls: tuple[str, str]) -> dict[str, Any]:
    entries = [
        {"index": n, "id": f"c{n}", "function": {"name": name, "arguments": arguments}}
        for n, (name, arguments) in enumerate(calls)
    ]
    return {"choices": [{"delta": {"tool_calls": entries}, "finish_reason": "tool_calls"}]}


def text(words: str) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": words}, "finish_reason": "stop"}]}


def read(
    chunk: dict[str, Any],
    *,
    first: bool = False,
    answer: AnswerTool = "show_text",
    surface: ToolSurface = SURFACE,
) -> list[StreamEvent]:
    fold = ChunkFold(surface, first_call_only=first, answer_tool=answer)
    return [*fold.feed(chunk), *fold.close(done=True)]


def sides(events: list[StreamEvent]) -> list[Any]:
    return [event.arguments["sides"] for event in events if isinstance(event, ToolCall)]


@pytest.mark.parametrize(("first", "ran"), [(False, [6, 8]), (True, [6])])
def test_only_the_first_call_runs_if_that_is_wanted(first: bool, ran: list[int]) -> None:
    both = native(("roll_dice", FIRST), ("roll_dice", SECOND))
    assert sides(read(both, first=first)) == ran
    written = f"`roll_dice({FIRST})`\n`roll_dice({SECOND})`"
    events = read(text(written), first=first)
    assert sides(events) == ran
    spans = [span for event in events if (span := getattr(event, "span", None))]
    assert (min(spans)[0], max(spans)[1]) == (0, len(written))
    assert any(isinstance(event, Dropped) for event in events) or not first


def said(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def errors(events: list[StreamEvent]) -> list[str]:
    return [event.code for event in events if isinstance(event, CallError)]


ANSWERS = [
    native(("answer", json.dumps({"message": "Hello there."}))),
    text(json.dumps({"name": "answer", "arguments": {"message": "Hello there."}})),
]


@pytest.mark.parametrize("chunk", ANSWERS, ids=["native", "text"])
def test_what_a_servers_own_function_says_is_shown_or_ignored(chunk: dict[str, Any]) -> None:
    shown, ignored = read(chunk), read(chunk, answer="ignore")
    assert (said(shown), errors(shown)) == ("Hello there.", [])
    assert (said(ignored), errors(ignored)) == ("", [])
    assert isinstance(ignored[-1], Finished)


def test_a_call_of_it_that_says_nothing_is_no_error_either() -> None:
    for arguments in ("{}", '{"message": 5}', "", "[1]"):
        events = read(native(("answer", arguments)))
        assert (said(events), errors(events)) == ("", [])


def test_a_tool_of_ours_with_that_name_runs() -> None:
    parameters = {"type": "object", "properties": {"message": {"type": "string"}}}
    spec = ToolSpec(name="answer", description="a", parameters=parameters)
    events = read(ANSWERS[0], surface=ToolSurface(direct=(spec,)))
    assert [event.name for event in events if isinstance(event, ToolCall)] == ["answer"]


def test_other_unknown_tools_stay_errors() -> None:
    assert errors(read(native(("reply", "{}")))) == ["unknown_tool"]
