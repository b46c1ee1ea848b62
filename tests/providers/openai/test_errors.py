import pytest

from providers.base import (
    AuthFailed,
    ContextTooLong,
    EndpointError,
    RateLimited,
    Refused,
    ToolsRefused,
    Unavailable,
)
from providers.openai.errors import Target, UnknownModel, from_fault, from_status
from providers.openai.fault import Fault, describe, fault_in

TARGET = Target(endpoint="http://box:8080/v1", model="fern-7b", with_tools=True, key="k3y")

SAID: list[tuple[int, str, type[EndpointError]]] = [
    (401, "Incorrect API key provided", AuthFailed),
    (403, "forbidden", AuthFailed),
    (429, "slow down", RateLimited),
    (400, "registry.example/library/tiny:latest does not support tools", ToolsRefused),
    (500, "Unsupported param: tools", ToolsRefused),
    (500, "tools param requires --jinja flag", ToolsRefused),
    (
        400,
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        ToolsRefused,
    ),
    (
        422,
        '[{"type":"extra_forbidden","loc":["body","tools"],"msg":"not permitted"}]',
        ToolsRefused,
    ),
    (404, "No endpoints found that support tool use", ToolsRefused),
    (400, "Failed to initialize samplers: failed to parse grammar", ToolsRefused),
    (400, "the request exceeds the available context size, try increasing it", ContextTooLong),
    (400, "request is larger than the context", ContextTooLong),
    (400, "This model's maximum context length is 4096 tokens.", ContextTooLong),
    (400, "Prompt length 5000 is greater than max_seq_len 4096", ContextTooLong),
    (
        400,
        "Trying to keep the first 4602 tokens when context the overflows. However, the model is "
        "loaded with context length of only 4096 tokens",
        ContextTooLong,
    ),
    (500, "no user query found in messages", ContextTooLong),
    (413, "", ContextTooLong),
    (404, 'model "fern-7b" not found, try pulling it first', UnknownModel),
    (404, "Not Found", Refused),
    (500, "Unexpected endpoint or method. (POST /chat/completions). Returning 200 anyway", Refused),
    (400, "Conversation roles must alternate user/assistant", Refused),
    (400, "Invalid tool_choice type: 'object'. Supported string values: none, auto", Refused),
    (307, "", Refused),
    (500, "Jinja Exception: roles must alternate", Unavailable),
    (503, "Loading model", Unavailable),
    (502, "", Unavailable),
]


@pytest.mark.parametrize(("status", "message", "kind"), SAID)
def test_what_servers_say(status: int, message: str, kind: type[EndpointError]) -> None:
    error = from_status(status, Fault(message=message), TARGET)
    assert type(error) is kind
    assert error.remedy
    assert "\n" not in error.member
    assert "box" not in error.member


def test_words_about_tools_count_only_if_tools_were_sent() -> None:
    target = Target(endpoint="http://box/v1", model="m", with_tools=False)
    assert type(from_status(400, Fault(message="m does not support tools"), target)) is Refused


def test_remedies_name_what_to_change() -> None:
    def remedy(status: int, message: str) -> str:
        return from_status(status, Fault(message=message), TARGET).remedy

    assert "VERBATIM_API_KEY" in remedy(401, "")
    assert "--jinja" in remedy(500, "tools param requires --jinja flag")
    assert "fern-7b" in remedy(404, "The model `fern-7b` does not exist.")
    assert "/v1" in remedy(404, "Not Found")
    assert "/v1" in remedy(500, "Unexpected endpoint or method. (POST /chat/completions)")
    assert "VERBATIM_BASE_URL" in remedy(301, "")


def test_the_key_is_cut_out_of_what_the_server_said() -> None:
    error = from_status(401, Fault(message="Incorrect API key provided: k3y"), TARGET)
    assert "k3y" not in f"{error} {error.detail} {TARGET!r}"
    assert "[key]" in error.detail


def test_the_detail_is_one_short_line() -> None:
    error = from_status(400, Fault(message="a\nb " * 1000), TARGET)
    assert len(error.detail) < 400
    assert "\n" not in error.detail


def test_a_fault_in_a_stream_is_judged_like_an_answer() -> None:
    assert (
        type(from_fault(Fault(message="worker lost", code="server_error"), TARGET)) is Unavailable
    )
    assert type(from_fault(Fault(message="no", code="429"), TARGET)) is RateLimited
    told = fault_in({"message": "Unauthorized", "statusCode": 401})
    assert told is not None
    assert type(from_fault(told, TARGET)) is AuthFailed
    assert type(from_fault(Fault(message="exceeds the context size"), TARGET)) is ContextTooLong


@pytest.mark.parametrize(
    ("chunk", "event_name", "message"),
    [
        ({"error": {"message": "m", "code": 400}}, "", "m"),
        ({"error": "m"}, "", "m"),
        ({"error": {"error": {"message": "m"}}}, "", "m"),
        ({"error": {"odd": 1}}, "", '{"odd":1}'),
        ({"object": "error", "message": "m", "code": 40303}, "", "m"),
        ({"message": "m"}, "error", "m"),
        ({"detail": "m"}, "", "m"),
        ({"detail": [{"msg": "m"}]}, "", '[{"msg":"m"}]'),
        ({"message": "m", "statusCode": 401}, "", "m"),
        ({"message": "m", "code": "503"}, "", "m"),
        ({"msg": "m", "code": 500}, "", "m"),
        ({"choices": [{"error": {"message": "m"}, "delta": {}}]}, "", "m"),
    ],
)
def test_faults_are_found_in_every_shape(
    chunk: dict[str, object], event_name: str, message: str
) -> None:
    fault = fault_in(chunk, event_name=event_name)
    assert fault is not None
    assert fault.message == message


ORDINARY: list[dict[str, object]] = [
    {"choices": [{"delta": {"content": '{"error": "x"}'}}], "error": None},
    {"choices": [], "usage": {}},
    {"choices": [{"delta": {}, "error": None}], "detail": "fine"},
    {"object": "chat.completion.chunk", "message": "x"},
    {"choices": [{"delta": {}}], "message": "x", "status": 500},
    {"message": {"role": "assistant", "content": "hi"}, "code": 500},
    {"message": "still loading", "status": "loading"},
    {"message": "well", "code": 200},
    {"message": "well", "code": 0, "status": None},
    {},
]


@pytest.mark.parametrize("chunk", ORDINARY)
def test_ordinary_chunks_are_no_faults(chunk: dict[str, object]) -> None:
    assert fault_in(chunk) is None


def test_codes_are_kept() -> None:
    assert describe({"message": "m", "code": 400, "type": "t"}) == Fault(message="m", code="400")
    assert describe({"message": "m", "type": "t"}) == Fault(message="m", code="t")
