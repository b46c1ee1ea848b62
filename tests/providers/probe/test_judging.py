"""Findings from recorded answers, without any server."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from providers.base import Exchange
from providers.probe import questions, settings_that_follow, verdict_that_follows
from providers.probe.findings import Findings
from providers.probe.judging import Recording, judge
from providers.probe.questions import TEST_CALLS, Name, Question
from providers.probe.told import paths, understood

MODEL = "m"
QUESTIONS: Mapping[Name, Question] = {
    question.name: question
    for question in (
        questions.tools_streamed(MODEL, with_usage=True),
        questions.tools_whole(MODEL),
        questions.tool_result(MODEL, with_tools=True),
        questions.late_system(MODEL),
        questions.leading_system(MODEL),
        questions.neighbours(MODEL, with_usage=True),
        questions.plain(MODEL, with_usage=True),
        questions.pattern(MODEL),
    )
}
CALL = {"name": "roll_dice", "arguments": '{"dice":"2d6"}'}


def whole(text: str | None = "", *calls: Mapping[str, Any], tokens: int = 0, **more: Any) -> str:
    message: dict[str, Any] = {"role": "assistant", "content": text, **more.pop("message", {})}
    if calls:
        message["tool_calls"] = [{"id": "a", "type": "function", "function": c} for c in calls]
    body: dict[str, Any] = {"choices": [{"message": message, "finish_reason": "stop", **more}]}
    if tokens:
        body["usage"] = {"prompt_tokens": tokens, "completion_tokens": 9}
    return json.dumps(body)


def streamed(*deltas: Mapping[str, Any], finish: str = "stop") -> str:
    chunks: list[dict[str, Any]] = [
        {"choices": [{"delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    end: dict[str, Any] = {"choices": [{"delta": {}, "finish_reason": finish}]}
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in (*chunks, end)]
    return "".join([*lines, "data: [DONE]\n\n"])


def delta(*calls: Mapping[str, Any]) -> dict[str, Any]:
    entries = [{"index": at, "id": f"c{at}", "function": call} for at, call in enumerate(calls)]
    return {"tool_calls": entries}


def judged(**answers: str | tuple[int, str]) -> Findings:
    recording = Recording(endpoint="http://127.0.0.1:1/v1", model=MODEL)
    for name, question in QUESTIONS.items():
        if name in answers:
            given = answers[name]
            status, text = given if isinstance(given, tuple) else (200, given)
            recording.questions[name] = question
            recording.answers[name] = Exchange(status=status, text=text)
    return judge(recording)


HELLO = whole("Hello.")

NATIVE: Mapping[str, tuple[str, str | tuple[int, str], str | tuple[int, str]]] = {
    "both ways": ("yes", streamed(delta(CALL)), whole(None, CALL)),
    "streamed alone": ("yes", streamed(delta(CALL)), whole("I cannot.")),
    "nothing in the stream": ("only_unstreamed", streamed({"content": ""}), whole("", CALL)),
    "an error in the stream": ("only_unstreamed", (500, "{}"), whole("", CALL)),
    "twice in the stream": (
        "only_unstreamed",
        streamed(delta(CALL, {**CALL, "arguments": '{"dice":"1d6"}'})),
        whole("", CALL),
    ),
    "broken in the stream": (
        "only_unstreamed",
        streamed(delta({**CALL, "arguments": '{"dice":"2d6'}), finish="length"),
        whole("", CALL),
    ),
    "another roll than asked for": (
        "yes",
        streamed(delta({**CALL, "arguments": '{"dice":"6d2"}'})),
        whole("No."),
    ),
    "in the text": (
        "only_as_text",
        streamed({"content": '<tool_call>{"name": "roll_dice", "arguments": {"dice": '}),
        whole('roll_dice({"dice":"2d6"})'),
    ),
    "in no form": ("no_call", streamed({"content": "I cannot."}), whole("I cannot.", tokens=200)),
    "without the tools in the prompt": (
        "ignored",
        streamed({"content": "I cannot."}),
        whole("I cannot.", tokens=31),
    ),
    "refused": ("refused", (400, '{"error":"no"}'), (400, '{"error":"no"}')),
    "refused inside 200": ("refused", '{"error":"no tools"}', '{"detail":"no tools"}'),
    "thinking used up the room": (
        "unknown",
        streamed({"reasoning": "They want"}, finish="length"),
        whole("", finish_reason="length", message={"reasoning": "They want"}),
    ),
}


@pytest.mark.parametrize("case", NATIVE)
def test_native_tools(case: str) -> None:
    expected, in_stream, in_one = NATIVE[case]
    plain = whole("1 2 3", tokens=25)
    findings = judged(tools_streamed=in_stream, tools_whole=in_one, neighbours=plain)
    assert findings.native_tools == expected


def test_without_a_plain_answer_nothing_counts_as_refused() -> None:
    findings = judged(
        tools_streamed=(500, "oops"),
        tools_whole=(500, "oops"),
        neighbours=(500, "oops"),
        plain=(500, "oops"),
        tool_result=(500, "oops"),
        late_system=(500, "oops"),
        leading_system=(500, "oops"),
    )
    assert not findings.answered
    assert findings.remedy == "500: oops"
    assert {
        findings.native_tools,
        findings.neighbours,
        findings.tool_role,
        findings.system,
        findings.patterns,
    } == {"unknown"}
    assert settings_that_follow(findings) == {}
    assert verdict_that_follows(findings) is None


def test_nothing_asked_nothing_known() -> None:
    findings = judged()
    assert (findings.native_tools, findings.system, findings.tool_role) == ("unknown",) * 3
    assert (findings.cached_tokens, findings.tokens_per_second) == (None, None)


@pytest.mark.parametrize(
    ("text", "expected"), [("The total is 31.", "read"), ("Dice are fun.", "accepted")]
)
def test_a_result_counts_as_read_when_the_answer_tells_it(text: str, expected: str) -> None:
    assert judged(tool_result=whole(text)).tool_role == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"late_system": HELLO}, "anywhere"),
        ({"late_system": (400, ""), "leading_system": HELLO}, "first_only"),
        ({"late_system": (400, ""), "leading_system": (400, ""), "plain": HELLO}, "no_system_role"),
        ({"late_system": (400, ""), "plain": HELLO}, "unknown"),
    ],
)
def test_system(answers: Mapping[str, Any], expected: str) -> None:
    assert judged(**answers).system == expected


def test_a_pattern_counts_as_refused_only_beside_a_schema_that_is_taken() -> None:
    assert judged(pattern=(400, "grammar"), tools_whole=HELLO).patterns == "refused"
    assert judged(pattern=(400, "grammar"), tools_whole=(400, "no")).patterns == "unknown"


def test_what_a_server_said_is_kept_short_and_a_web_page_is_not_kept() -> None:
    page, long = "<html>secrets</html>", json.dumps({"error": {"message": "x" * 1000}})
    findings = judged(tools_streamed=(502, page), tools_whole=(400, long), plain=HELLO)
    assert findings.refusals["tools_streamed"] == "502: a web page"
    assert len(findings.refusals["tools_whole"]) < 320


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ('roll_dice({"dice":"2d6"})', True),
        ("`roll_dice(dice='2D6')`", True),
        ('roll_dice({"dice":"3d6"})', False),
        ('roll_dice({"dice":"2d6"})\nroll_dice({"dice":"1d6"})', False),
        ("I rolled 2d6: 7.", False),
    ],
)
def test_a_test_call_has_to_be_the_one_that_was_asked_for(answer: str, right: bool) -> None:
    recording = Recording(endpoint="e", model=MODEL)
    recording.test_calls.append((TEST_CALLS[0], Exchange(status=200, text=whole(answer))))
    findings = judge(recording)
    assert (findings.calls_worked, findings.calls_tried) == (int(right), 1)


def test_speed_is_measured_on_a_stream_and_not_on_an_answer_in_one_piece() -> None:
    text = whole("1 2 3", tokens=9)
    for first, expected in ((1.0, 8.0), (2.0, None)):
        recording = Recording(endpoint="e", model=MODEL)
        recording.questions["neighbours"] = QUESTIONS["neighbours"]
        recording.answers["neighbours"] = Exchange(status=200, text=text, first=first, seconds=2.0)
        assert judge(recording).tokens_per_second == expected


def test_a_verdict_needs_a_call_or_a_refusal() -> None:
    call = judged(tools_streamed=streamed(delta(CALL)), tools_whole=whole("", CALL))
    verdict = verdict_that_follows(call)
    assert verdict is not None
    assert (verdict.structured_calls, verdict.refuses_tools_field) == (True, False)
    no = (400, '{"error":"tools? no"}')
    verdict = verdict_that_follows(judged(tools_streamed=no, tools_whole=no, plain=HELLO))
    assert verdict is not None
    assert (verdict.structured_calls, verdict.refuses_tools_field) == (False, True)
    assert "tools? no" in verdict.reason


TOLD: Mapping[str, tuple[str, Any, int | None, bool | None]] = {
    "llama.cpp": ("/props", {"default_generation_settings": {"n_ctx": 8192}}, 8192, None),
    "llama.cpp with sight": ("/props", {"modalities": {"vision": True}}, None, True),
    "KoboldCpp": ("/api/extra/true_max_context_length", {"value": 4096}, 4096, None),
    "Ollama, loaded": (
        "/api/ps",
        {
            "models": [
                {"name": "other", "context_length": 1024},
                {"model": "m", "context_length": 2048},
            ]
        },
        2048,
        None,
    ),
    "Ollama, not this model": (
        "/api/ps",
        {"models": [{"name": "x", "context_length": 9999}]},
        None,
        None,
    ),
    "Ollama, by its Modelfile": (
        "/api/show",
        {"parameters": 'stop "x"\nnum_ctx    16384', "capabilities": ["completion"]},
        16384,
        False,
    ),
    "Ollama, what the model was trained for": (
        "/api/show",
        {"model_info": {"llama.context_length": 131072}, "capabilities": ["vision"]},
        None,
        True,
    ),
    "LM Studio, loaded": (
        "/api/v0/models",
        {"data": [{"id": "m", "type": "llm", "loaded_context_length": 4096}]},
        4096,
        False,
    ),
    "LM Studio, not loaded": (
        "/api/v0/models",
        {"data": [{"id": "m", "type": "vlm", "max_context_length": 131072}]},
        None,
        True,
    ),
    "vLLM": ("/models", {"data": [{"id": "m", "max_model_len": 40960}]}, 40960, None),
    "TabbyAPI": ("/model", {"parameters": {"max_seq_len": 4096, "use_vision": True}}, 4096, True),
    "any path answered": ("/props", {"error": "Unexpected endpoint. Returning 200"}, None, None),
    "no object": ("/props", [1, 2], None, None),
    "no window": ("/props", {"default_generation_settings": {"n_ctx": 0}}, None, None),
    "no number": ("/api/extra/true_max_context_length", {"value": True}, None, None),
}


@pytest.mark.parametrize("case", TOLD)
def test_what_a_server_tells(case: str) -> None:
    path, body, window, sees = TOLD[case]
    assert path in {asked.path for asked in paths("m")}
    found = understood({path: Exchange(status=200, text=json.dumps(body))}, "m")
    assert (found.context_window, found.sees) == (window, sees)


def test_an_error_or_a_web_page_tells_nothing() -> None:
    window = json.dumps({"default_generation_settings": {"n_ctx": 8192}})
    assert understood({"/props": Exchange(status=500, text=window)}, "m").context_window is None
    assert understood({"/props": Exchange(status=200, text="<html>")}, "m").context_window is None


@pytest.mark.parametrize(
    ("model", "vision"),
    [("qwen2.5-vl-7b", "by_name"), ("llava:13b", "by_name"), ("qwen3-8b", "unknown")],
)
def test_sight_by_name_is_called_that(model: str, vision: str) -> None:
    assert judge(Recording(endpoint="e", model=model)).vision == vision
