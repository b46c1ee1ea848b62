import argparse
import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast

import pytest

from cli import parse
from tests.providers.openai.streams import CORPUS, cases

TOOLS = json.loads((CORPUS / "tools.json").read_text(encoding="utf-8"))
CALL = '<tool_call>{"name":"roll_dice","arguments":{"sides":6}}</tool_call>'
CALL_EVENT = {
    "type": "call",
    "name": "roll_dice",
    "arguments": {"sides": 6},
    "raw_arguments": '{"sides":6}',
    "origin": "text",
    "repaired": False,
}
STOP = {"type": "finish", "reason": "stop", "usage": None}


def main(given: str | bytes, *options: str) -> list[dict[str, Any]]:
    """Runs the command in this process; what it printed."""
    parser = argparse.ArgumentParser()
    parse.add_parser(parser.add_subparsers())
    args = parser.parse_args(["parse", *options])
    out = io.StringIO()
    data = given.encode() if isinstance(given, str) else given
    assert parse.run(args, io.BytesIO(data), out) == 0
    return [cast("dict[str, Any]", json.loads(line)) for line in out.getvalue().splitlines()]


def batch(*lines: dict[str, Any] | str | bytes) -> list[dict[str, Any]]:
    encoded = [json.dumps(line) if isinstance(line, dict) else line for line in lines]
    data = b"\n".join(line.encode() if isinstance(line, str) else line for line in encoded)
    return main(data, "--batch")


def one(**fields: Any) -> list[dict[str, Any]]:
    """The events of one batch line."""
    (answer,) = batch({"id": 1, "tools": TOOLS, **fields})
    assert answer["id"] == 1
    return cast("list[dict[str, Any]]", answer["events"])


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([{"type": "function", "function": tool} for tool in TOOLS]))
    return str(path)


@pytest.mark.parametrize("chunk", ["0", "1", "3"])
def test_text(tools: str, chunk: str) -> None:
    events = main(f"Rolling.\n{CALL}", "--tools", tools, "--chunk", chunk)
    assert events[0]["type"] == "text"
    assert events[0]["text"].strip() == "Rolling."
    assert events[1:] == [CALL_EVENT, STOP]


def test_calls_of_other_peoples_text_do_not_run() -> None:
    barred = [["roll_dice", '{"sides":6}']]
    for name in ("copied", "quoted"):
        events = one(input=CALL, **{name: barred})
        assert [event["type"] for event in events] != ["call", "finish"], name
        assert one(input=CALL, **{name: [["roll_dice", '{"sides":8}']]}) == [CALL_EVENT, STOP]
        (error, _) = one(input=CALL, **{name: [["roll_dice"]]})
        assert f"{name}: pairs of a name and arguments are wanted" in error["message"]


def test_text_without_tools() -> None:
    assert main("Noon. é🙂") == [{"type": "text", "text": "Noon. é🙂"}, STOP]
    assert main("") == [STOP]


def test_bytes_that_are_no_text() -> None:
    assert main(b"a\xffb") == [{"type": "text", "text": "a\ufffdb"}, STOP]


def test_line_ends_of_the_text_are_kept() -> None:
    text = "a\r\nb\rc\u2028d\n"
    assert main(text) == [{"type": "text", "text": text}, STOP]


def test_finish_length_refuses_an_open_call(tools: str) -> None:
    events = main('<tool_call>{"name":"roll_dice","argu', "--tools", tools, "--finish", "length")
    assert [(event["type"], event.get("code")) for event in events] == [
        ("error", "truncated"),
        ("finish", None),
    ]
    assert events[-1]["reason"] == "length"


def test_reasoning_open() -> None:
    events = main("hm</think>Noon.", "--reasoning-open")
    assert events == [
        {"type": "reasoning", "text": "hm"},
        {"type": "text", "text": "Noon."},
        STOP,
    ]


@pytest.mark.parametrize("chunk", ["0", "1"])
def test_text_taken_back_is_reasoning_at_its_place(chunk: str) -> None:
    events = main("hm, so\nit is\n</think>\nNoon.", "--chunk", chunk)
    assert [event["type"] for event in events] == ["reasoning", "text", "finish"]
    assert events[0]["text"].strip() == "hm, so\nit is"
    assert events[1]["text"].strip() == "Noon."


@pytest.mark.parametrize("chunk", ["0", "1", "3"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_chunks(tools: str, chunk: str, ending: str) -> None:
    lines: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
        {"choices": [{"index": 0, "delta": {"content": f"Hi. é\u2028\n{CALL}"}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 2}},
    ]
    given = ending.join(json.dumps(line, ensure_ascii=False) for line in lines)
    events = main(given, "--tools", tools, "--format", "chunks", "--chunk", chunk)
    assert [event["type"] for event in events] == ["text", "call", "finish"]
    assert events[-1] == {**STOP, "usage": {"prompt_tokens": 11, "completion_tokens": 2}}


@pytest.mark.parametrize("chunk", ["0", "1", "3"])
def test_sse(tools: str, chunk: str) -> None:
    body = next(case for case in cases("bodies.txt") if "heartbeats" in case.source).wire
    events = main(body, "--tools", tools, "--format", "sse", "--chunk", chunk)
    assert events == [{"type": "text", "text": "Ready."}, STOP]


def test_an_error_of_the_server_is_an_event() -> None:
    body = next(case for case in cases("bodies.txt") if "error field" in case.source).wire
    events = main(body, "--format", "sse")
    assert events == [
        {
            "type": "error",
            "code": "endpoint_error",
            "name": "",
            "message": "request is larger than the context",
        },
        {"type": "finish", "reason": "error", "usage": None},
    ]


def test_a_native_call_and_its_error() -> None:
    functions = [
        {"name": "roll_dice", "arguments": '{"sides": "6"}'},
        {"name": "bus_times", "arguments": "[]"},
    ]
    entries = [
        {"index": number, "id": f"k{number}", "function": function}
        for number, function in enumerate(functions)
    ]
    events = one(
        format="chunks",
        input=[
            {"choices": [{"delta": {"tool_calls": entries}}]},
            {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        ],
    )
    assert events[0]["origin"] == "native"
    assert events[0]["arguments"] == {"sides": 6}
    assert events[1]["code"] == "invalid_arguments"
    assert events[1]["name"] == "bus_times"
    assert "stop" in events[1]["message"]
    assert events[2] == {"type": "finish", "reason": "tool_calls", "usage": None}


def test_batch_answers_in_order() -> None:
    answers = batch(
        {"id": "a", "tools": TOOLS, "input": CALL},
        {"id": {"any": 1}, "tools": [], "input": "Noon.", "chunk": 1},
        {"id": None, "tools": None, "input": CALL, "finish": "length"},
    )
    assert [answer["id"] for answer in answers] == ["a", {"any": 1}, None]
    assert answers[0]["events"] == [CALL_EVENT, STOP]
    assert answers[1]["events"] == [{"type": "text", "text": "Noon."}, STOP]
    assert answers[2]["events"][-1]["reason"] == "length"


BAD = [
    "not JSON",
    "[]",
    "7",
    b"\xff\xfe",
    "[" * 100_000,
    '{"id": 4}',
    {"id": 4, "tools": TOOLS, "input": 7},
    {"id": 4, "tools": "x", "input": "a"},
    {"id": 4, "tools": [{"description": "nameless"}], "input": "a"},
    {"id": 4, "tools": TOOLS, "input": "a", "format": "xml"},
    {"id": 4, "tools": TOOLS, "input": "a", "chunk": "three"},
]


@pytest.mark.parametrize("line", BAD, ids=[str(line)[:30] for line in BAD])
def test_a_bad_line_costs_itself_alone(line: dict[str, Any] | str | bytes) -> None:
    before, bad, after = batch({"id": 1, "input": "a"}, line, {"id": 2, "input": "b"})
    assert [before["id"], after["id"]] == [1, 2]
    assert bad["id"] in {None, 4}
    assert bad["events"][0]["type"] == "error"
    assert bad["events"][0]["message"]
    assert bad["events"][-1]["type"] == "finish"
    assert after["events"] == [{"type": "text", "text": "b"}, STOP]


def test_blank_lines_are_no_cases() -> None:
    assert len(batch({"id": 1, "input": "a"}, "", "  ", {"id": 2, "input": "b"}, "")) == 2


def test_carriage_returns_between_lines() -> None:
    lines = [json.dumps({"id": n, "input": "a"}) for n in range(2)]
    assert [answer["id"] for answer in batch("\r\n".join(lines) + "\r\n")] == [0, 1]


@pytest.mark.parametrize("shape", ["openai", "bare", "short"])
def test_shapes_of_tools(shape: str) -> None:
    bare = TOOLS[1] if shape != "short" else {"name": "roll_dice"}
    tool = {"type": "function", "function": bare} if shape == "openai" else bare
    (answer,) = batch({"id": 1, "tools": [tool, tool], "input": CALL})
    assert answer["events"] == [CALL_EVENT, STOP]


SILENT = f"<think>{CALL}</think>"


@pytest.mark.parametrize(
    ("given", "settings", "calls"),
    [
        (CALL, {}, 1),
        (CALL, {"text_calls": "off"}, 0),
        (CALL, {"text_calls": False}, 0),
        (CALL, {"text_calls": True}, 1),
        (CALL, {"text_calls": "tagged_only"}, 1),
        ('{"name":"roll_dice","arguments":{"sides":6}}', {"text_calls": "tagged_only"}, 0),
        ('{"name":"roll_dice","arguments":{"sides":6}}', {}, 1),
        (CALL, {"tool_mode": "off"}, 0),
        (CALL, {"has_tools": False}, 0),
        (SILENT, {}, 1),
        (SILENT, {"call_in_reasoning": "never"}, 0),
        (SILENT, {"call_in_reasoning": False}, 0),
        (SILENT, {"call_in_reasoning": True}, 1),
        (CALL, {"template_opens_think": "learn"}, 1),
        (f"{CALL}</think>Noon.", {"template_opens_think": "yes"}, 0),
        (f"{CALL}</think>Noon.", {"template_opens_think": True}, 0),
        (f"{CALL}\n{CALL}", {}, 2),
        (f"{CALL}\n{CALL}", {"parallel_calls": "one"}, 1),
        (f"{CALL}\n{CALL}", {"parallel_calls": "send_true"}, 2),
        (CALL, {"no_such_switch": 3, "text_calls": "on", "nudge": None}, 1),
        (CALL, {"text_calls": ["odd"], "call_in_reasoning": {}}, 1),
    ],
)
def test_settings(given: str, settings: dict[str, Any], calls: int) -> None:
    events = one(input=given, settings=settings)
    assert len([event for event in events if event["type"] == "call"]) == calls
    assert events[-1] == STOP


@pytest.mark.parametrize(
    ("settings", "shown"), [({}, "Noon."), ({"server_answer_tool": "ignore"}, "")]
)
def test_the_servers_own_answer_function(settings: dict[str, Any], shown: str) -> None:
    function = {"name": "answer", "arguments": '{"message": "Noon."}'}
    delta = {"tool_calls": [{"index": 0, "id": "a", "function": function}]}
    chunk = {"choices": [{"delta": delta, "finish_reason": "stop"}]}
    *events, last = one(input=[chunk], format="chunks", settings=settings)
    assert "".join(event["text"] for event in events if event["type"] == "text") == shown
    assert last == STOP
    assert {event["type"] for event in events} <= {"text"}


@pytest.mark.parametrize("settings", [None, [], "x", 7])
def test_settings_of_another_shape_are_left_out(settings: Any) -> None:
    assert one(input="a", settings=settings) == [{"type": "text", "text": "a"}, STOP]


def test_half_a_surrogate_pair_passes() -> None:
    assert batch('{"id":1,"input":"a\\ud83d"}')[0]["events"][-1] == STOP


@pytest.mark.parametrize(
    "given",
    [
        '{"choices":[{"delta":{"content":"Noon."},"finish_reason":"stop"}]}',
        '\n\n{"choices":[{"delta":{"content":"Noon."},"finish_reason":"stop"}]}\r\n\r\n',
        'data: {"choices":[{"delta":{"content":"Noon."},"finish_reason":"stop"}]}\ndata: [DONE]\n',
        '[{"choices":[{"delta":{"content":"Noon."},"finish_reason":"stop"}]}]',
        '{\n"choices":[{"message":{"content":"Noon."},\n"finish_reason":"stop"}]\n}',
    ],
)
def test_forms_of_chunk_input(given: str) -> None:
    assert one(format="chunks", input=given) == [{"type": "text", "text": "Noon."}, STOP]


def test_a_line_that_is_no_chunk_is_an_error_and_the_rest_before_it_stays() -> None:
    given = '{"choices":[{"delta":{"content":"Noon."}}]}\n{"choices":[\n'
    events = one(format="chunks", input=given)
    assert [event["type"] for event in events] == ["text", "error", "finish"]
    assert events[1]["code"] == "endpoint_error"


def test_a_missing_tools_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    parse.add_parser(parser.add_subparsers())
    args = parser.parse_args(["parse", "--tools", "/no/such/file"])
    assert parse.run(args, io.BytesIO(b""), io.StringIO()) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "/no/such/file" in message


def test_a_batch_is_fast_and_starts_without_the_heavy_clients() -> None:
    program = (
        "import argparse, sys\n"
        "from cli import parse\n"
        "assert not {'openai', 'discord', 'httpx2', 'aiohttp'} & set(sys.modules)\n"
        "parser = argparse.ArgumentParser()\n"
        "parse.add_arguments(parser)\n"
        "sys.exit(parse.run(parser.parse_args(['--batch']), sys.stdin.buffer, sys.stdout))\n"
    )
    line = json.dumps({"id": 1, "tools": TOOLS, "input": f"Rolling.\n{CALL}", "chunk": 3})
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program],
        input="\n".join([line] * 1000),
        capture_output=True,
        text=True,
        check=True,
        cwd=CORPUS.parents[2],
    )
    assert len(done.stdout.splitlines()) == 1000
    assert time.monotonic() - started < 20
