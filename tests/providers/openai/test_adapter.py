import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from prompt.events import Finished, StreamEvent, TextDelta, Usage
from prompt.prompt import Prompt, Report
from prompt.surface import ToolSurface, canonical_json
from prompt.values import PromptItem, ToolCall, ToolSpec, Zone
from prompt.verbatim import WireMode
from providers.base import (
    AuthFailed,
    BadResponse,
    ContextTooLong,
    EndpointError,
    Provider,
    RateLimited,
    Refused,
    Replan,
    RequestOptions,
    ToolsRefused,
    Unavailable,
)
from providers.openai.adapter import Limits, OpenAIProvider
from providers.wire import Change
from tests.loopback.endpoint import LoopbackEndpoint, Step

SURFACE = ToolSurface(
    direct=(
        ToolSpec(
            name="roll_dice",
            description="Rolls dice.",
            parameters={
                "type": "object",
                "properties": {"sides": {"type": "integer"}},
                "required": ["sides"],
            },
        ),
    )
)
OPTIONS = RequestOptions(turn_id="t1", max_tokens=50)


def prompt(text: str = "Ada: hi", mode: WireMode = "verbatim") -> Prompt:
    item = PromptItem(tag="x", role="user", text=text, zone=Zone.HISTORY)
    return Prompt(items=(item,), surface=SURFACE, report=Report(mode=mode))


@asynccontextmanager
async def provider(
    endpoint: LoopbackEndpoint | str,
    *,
    model: str | None = "fern",
    key: str | None = None,
    limits: Limits | None = None,
) -> AsyncGenerator[OpenAIProvider]:
    url = endpoint if isinstance(endpoint, str) else endpoint.base_url
    made = OpenAIProvider(base_url=url, model=model, api_key=key, limits=limits)
    try:
        yield made
    finally:
        await made.close()


async def collect(
    made: Provider, asked: Prompt | None = None, *, options: RequestOptions = OPTIONS
) -> list[StreamEvent]:
    async with made.stream(asked or prompt(), options) as events:
        return [event async for event in events]


async def failing(made: Provider) -> tuple[list[StreamEvent], EndpointError]:
    """What was handed out before the error, and the error."""
    seen: list[StreamEvent] = []

    async def read() -> None:
        async with made.stream(prompt(), OPTIONS) as events:
            async for event in events:
                seen.append(event)  # noqa: PERF401 - a comprehension would lose it to the error

    with pytest.raises(EndpointError) as caught:
        await read()
    return seen, caught.value


def text(events: list[StreamEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_an_answer_streams_with_usage_and_reason() -> None:
    async with (
        LoopbackEndpoint([Step(text="Good evening, all.")]) as endpoint,
        provider(endpoint) as made,
    ):
        events = await collect(made)
    assert text(events) == "Good evening, all."
    assert events[-2:] == [Usage(prompt_tokens=7, completion_tokens=6), Finished(reason="stop")]


@pytest.mark.parametrize("size", [1, 7])
async def test_a_call_in_text_is_found_in_any_split(size: int) -> None:
    said = 'Rolling.\n<tool_call>{"name":"roll_dice","arguments":{"sides":6}}</tool_call>'
    async with (
        LoopbackEndpoint([Step(text=said, split=size, write_bytes=size)]) as endpoint,
        provider(endpoint) as made,
    ):
        events = await collect(made)
    calls = [event for event in events if isinstance(event, ToolCall)]
    assert [(call.name, call.arguments, call.origin) for call in calls] == [
        ("roll_dice", {"sides": 6}, "text")
    ]
    assert text(events).strip() == "Rolling."


async def test_the_body_on_the_wire_is_the_body() -> None:
    async with (
        LoopbackEndpoint([Step(text="a"), Step(text="b")]) as endpoint,
        provider(endpoint) as made,
    ):
        asked = prompt("Ada: 🙂 <b>\u2028</b>")
        await collect(made, asked)
        await collect(made, asked)
        body = canonical_json(made.body(asked, OPTIONS)).encode()
    assert [received.raw for received in endpoint.received] == [body, body]
    assert endpoint.received[0].body["tools"] == list(SURFACE.native)


@pytest.mark.parametrize("size", [0, 5])
async def test_the_body_of_an_answer_is_recorded_byte_for_byte(size: int) -> None:
    raw = 'data: {"choices":[{"delta":{"content":"Où"}}]}\r\n\r\n: beat\n\ndata: [DONE]\n\n'
    taken: list[bytes] = []
    step = Step(raw=raw, write_bytes=size, pause=0.001)
    async with LoopbackEndpoint([step]) as endpoint, provider(endpoint) as made:
        recorded = replace(OPTIONS, record=taken.append)
        async with made.stream(prompt(), recorded) as events:
            assert text([event async for event in events]) == "Où"
    # What follows the mark of the end is no part of the answer, a line end for one.
    assert b"".join(taken).rstrip() == raw.encode().rstrip()


async def test_tools_off_leaves_call_like_text_alone() -> None:
    said = '<tool_call>{"name":"roll_dice","arguments":{"sides":6}}</tool_call>'
    async with LoopbackEndpoint([Step(text=said)]) as endpoint, provider(endpoint) as made:
        events = await collect(made, prompt(mode="off"))
    assert not [event for event in events if isinstance(event, ToolCall)]
    assert "tools" not in endpoint.received[0].body


async def test_a_whole_completion_is_taken_for_a_stream() -> None:
    async with (
        LoopbackEndpoint([Step(text="Noon.", whole=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        events = await collect(made)
    assert text(events) == "Noon."
    assert events[-1] == Finished(reason="stop")


async def test_a_stream_without_finish_reason_ends_quietly() -> None:
    async with (
        LoopbackEndpoint([Step(text="Noon.", finish=None)]) as endpoint,
        provider(endpoint) as made,
    ):
        events = await collect(made)
    assert text(events) == "Noon."
    assert events[-1] == Finished(reason=None)


async def test_only_needed_headers_and_our_key_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "theirs")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "theirs")
    monkeypatch.setenv("OPENAI_ORG_ID", "theirs")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Secret: theirs\nAuthorization: theirs")
    async with LoopbackEndpoint([Step(text="a"), Step(text="b")]) as endpoint:
        async with provider(endpoint) as made:
            await collect(made)
        async with provider(endpoint, key="ours") as made:
            await collect(made)
    without, with_key = endpoint.received
    assert "theirs" not in str(without.headers) + str(with_key.headers)
    assert "Authorization" not in without.headers
    assert with_key.headers["Authorization"] == "Bearer ours"
    assert not [name for name in with_key.headers if name.lower().startswith("x-")]


async def test_a_proxy_does_not_capture_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with LoopbackEndpoint([Step(text="Noon.")]) as endpoint, provider(endpoint) as made:
        assert text(await collect(made)) == "Noon."


async def test_the_first_listed_model_is_used_if_none_is_set() -> None:
    async with (
        LoopbackEndpoint([Step(text="a"), Step(text="b")], models=["moss", "x"]) as endpoint,
        provider(endpoint, model=None) as made,
    ):
        assert made.model == ""
        await collect(made)
        await collect(made)
        assert made.model == "moss"
    assert endpoint.received[0].body["model"] == "moss"
    assert endpoint.listings == 1


async def test_no_model_anywhere_is_said() -> None:
    async with LoopbackEndpoint(models=[]) as endpoint, provider(endpoint, model=None) as made:
        with pytest.raises(Refused, match="VERBATIM_MODEL"):
            await collect(made)


async def test_an_unknown_model_is_named_with_those_that_exist() -> None:
    step = Step(status=404, body={"error": {"message": 'model "fern" not found'}})
    async with (
        LoopbackEndpoint([step], models=["moss"]) as endpoint,
        provider(endpoint) as made,
    ):
        with pytest.raises(Refused) as caught:
            await collect(made)
    assert "'fern'" in caught.value.remedy
    assert "moss" in caught.value.remedy


async def test_an_error_that_names_a_switch_is_told_as_a_change() -> None:
    refusal = Step(status=400, body={"error": {"message": "unknown field stream_options"}})
    async with LoopbackEndpoint([refusal, Step(text="a")]) as endpoint, provider(endpoint) as made:
        with pytest.raises(Replan) as caught:
            await collect(made)
        assert caught.value.change == Change(name="usage_in_stream", value="off")
        assert isinstance(caught.value.cause, Refused)
        assert caught.value.detail == "400: unknown field stream_options"
        wire = OPTIONS.wire.changed("usage_in_stream", "off")
        assert text(await collect(made, options=replace(OPTIONS, wire=wire))) == "a"
    sent = ["stream_options" in received.body for received in endpoint.received]
    assert sent == [True, False]


@pytest.mark.parametrize("words", ["", "Well"])
async def test_an_error_in_the_stream_names_a_change_only_before_the_first_word(words: str) -> None:
    told = {"error": {"code": 500, "message": "stream_options: not known"}}
    said = [{"choices": [{"delta": {"content": words}}]}] if words else []
    async with (
        LoopbackEndpoint([Step(chunks=[*said, told], cut=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        with pytest.raises(EndpointError) as caught:
            await collect(made)
    assert isinstance(caught.value, Unavailable if words else Replan)


REFUSALS: list[tuple[Step, type[EndpointError]]] = [
    (Step(status=400, body={"error": {"message": "m does not support tools"}}), ToolsRefused),
    (Step(status=400, body={"error": "context length exceeded"}), ContextTooLong),
    (Step(status=500, body="<html>tools not supported</html>"), Unavailable),
    (Step(status=422, body={"detail": [{"msg": "field required"}]}), Refused),
    (Step(status=302, body="", headers={"Location": "/v2"}), Refused),
]


@pytest.mark.parametrize(("step", "kind"), REFUSALS)
async def test_refusals_are_typed_and_not_repeated(step: Step, kind: type[EndpointError]) -> None:
    async with LoopbackEndpoint([step]) as endpoint, provider(endpoint) as made:
        with pytest.raises(EndpointError) as caught:
            await collect(made)
    assert type(caught.value) is kind
    assert len(endpoint.received) == 1


async def test_retry_after_is_told() -> None:
    step = Step(status=429, body={"error": {"message": "slow"}}, headers={"Retry-After": "3"})
    async with LoopbackEndpoint([step]) as endpoint, provider(endpoint) as made:
        with pytest.raises(RateLimited) as caught:
            await collect(made)
    assert caught.value.retry_after == 3.0


@pytest.mark.parametrize(
    ("until", "seconds"),
    [
        ("Wed, 21 Oct 2026 07:28:10 GMT", 10.0),
        ("Wed, 21 Oct 2026 07:27:00 GMT", 0.0),
        ("Wednesday, soon", None),
        ("inf", None),
    ],
)
async def test_retry_after_as_a_date_is_told_by_the_servers_clock(
    until: str, seconds: float | None
) -> None:
    headers = {"Retry-After": until, "Date": "Wed, 21 Oct 2026 07:28:00 GMT"}
    step = Step(status=429, body={"error": {"message": "slow"}}, headers=headers)
    async with LoopbackEndpoint([step]) as endpoint, provider(endpoint) as made:
        with pytest.raises(RateLimited) as caught:
            await collect(made)
    assert caught.value.retry_after == seconds


@pytest.mark.parametrize(
    "raw",
    [
        '{"model":"x","message":{"role":"assistant","content":"hi"},"done":true}\n',
        'data: {"type":"content_block_delta","delta":{"text":"hi"}}\n\n',
        '{"status":"ok"}',
    ],
    ids=["Ollama's own", "Anthropic's", "a status page"],
)
async def test_an_answer_of_another_kind_is_none(raw: str) -> None:
    async with LoopbackEndpoint([Step(raw=raw)]) as endpoint, provider(endpoint) as made:
        seen, error = await failing(made)
    assert seen == []
    assert type(error) is BadResponse
    assert "usually ends in /v1" in error.remedy


async def test_a_gateways_refusal_with_status_200_is_one() -> None:
    step = Step(raw='{"message":"Unauthorized","statusCode":401}')
    async with LoopbackEndpoint([step]) as endpoint, provider(endpoint) as made:
        _, error = await failing(made)
    assert type(error) is AuthFailed


async def test_a_web_page_is_no_answer() -> None:
    async with (
        LoopbackEndpoint([Step(raw="<html>\n<body>Welcome</body></html>")]) as endpoint,
        provider(endpoint) as made,
    ):
        seen, error = await failing(made)
    assert seen == []
    assert type(error) is BadResponse
    assert "Welcome" not in error.member


async def test_an_error_in_the_middle_keeps_the_words_before_it() -> None:
    raw = (
        'data: {"choices":[{"delta":{"content":"The first bus <tool"}}]}\n\n'
        'data: {"error":{"message":"worker lost"}}\n\n'
    )
    async with LoopbackEndpoint([Step(raw=raw)]) as endpoint, provider(endpoint) as made:
        seen, error = await failing(made)
    assert text(seen) == "The first bus <tool"
    assert not [event for event in seen if isinstance(event, Finished)]
    assert type(error) is Unavailable
    assert "worker lost" in error.detail


async def test_a_cut_connection_keeps_the_words_before_it() -> None:
    async with (
        LoopbackEndpoint([Step(text="The first bus <tool", cut=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        seen, error = await failing(made)
    assert text(seen) == "The first bus <tool"
    assert not [event for event in seen if isinstance(event, Finished)]
    assert type(error) is Unavailable
    assert "broke off" in error.member


async def test_silence_before_the_first_word_ends() -> None:
    async with (
        LoopbackEndpoint([Step(text="late", delay=5.0)]) as endpoint,
        provider(endpoint, limits=Limits(first_token=0.2)) as made,
    ):
        seen, error = await failing(made)
    assert seen == []
    assert type(error) is Unavailable
    assert "0.2 s" in error.remedy


async def test_keep_alives_do_not_count_as_a_first_word() -> None:
    beats = Step(raw=":\n\n" * 100, write_bytes=3, pause=0.02)
    async with (
        LoopbackEndpoint([beats]) as endpoint,
        provider(endpoint, limits=Limits(first_token=0.3, idle=10.0)) as made,
    ):
        _, error = await failing(made)
    assert type(error) is Unavailable
    assert endpoint.received[0].left


async def test_slow_words_are_awaited() -> None:
    async with (
        LoopbackEndpoint([Step(text="abcdef", split=1, pause=0.1)]) as endpoint,
        provider(endpoint, limits=Limits(first_token=0.4, idle=0.4)) as made,
    ):
        assert text(await collect(made)) == "abcdef"


async def test_silence_in_the_middle_ends_and_keeps_the_words() -> None:
    async with (
        LoopbackEndpoint([Step(text="The first", hang=True)]) as endpoint,
        provider(endpoint, limits=Limits(first_token=10.0, idle=0.2)) as made,
        asyncio.timeout(5),
    ):
        seen, error = await failing(made)
    assert text(seen) == "The first"
    assert type(error) is Unavailable
    assert "0.2 s" in error.remedy
    assert endpoint.received[0].left


async def test_cancelling_a_turn_closes_the_connection() -> None:
    begun = asyncio.Event()

    async def turn(made: Provider) -> None:
        async with made.stream(prompt(), OPTIONS) as events:
            async for _ in events:
                begun.set()

    async with (
        LoopbackEndpoint([Step(text="The first", hang=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        task = asyncio.create_task(turn(made))
        await asyncio.wait_for(begun.wait(), 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left(endpoint)


async def test_cancelling_before_the_answer_closes_the_connection() -> None:
    async with (
        LoopbackEndpoint([Step(text="late", delay=30.0)]) as endpoint,
        provider(endpoint) as made,
    ):
        task = asyncio.create_task(collect(made))
        while not endpoint.received:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await left(endpoint)


async def test_leaving_early_closes_the_connection() -> None:
    async with (
        LoopbackEndpoint([Step(text="The first", hang=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        async with made.stream(prompt(), OPTIONS) as events:
            await anext(events)
        await left(endpoint)


async def test_leaving_without_reading_closes_the_connection() -> None:
    async with (
        LoopbackEndpoint([Step(text="The first", hang=True)]) as endpoint,
        provider(endpoint) as made,
    ):
        async with made.stream(prompt(), OPTIONS):
            pass
        await left(endpoint)


async def left(endpoint: LoopbackEndpoint) -> None:
    """Wait until the server has noticed that the client is gone."""
    async with asyncio.timeout(5):
        while not endpoint.received[0].left:
            await asyncio.sleep(0.01)


async def test_a_connection_is_used_again() -> None:
    async with (
        LoopbackEndpoint([Step(text="a"), Step(text="b")]) as endpoint,
        provider(endpoint) as made,
    ):
        await collect(made)
        await collect(made)
    assert len(endpoint.peers) == 1


async def test_nobody_listens() -> None:
    async with LoopbackEndpoint() as endpoint:
        url = endpoint.base_url
    async with provider(url) as made:
        with pytest.raises(Unavailable) as caught:
            await collect(made)
    assert "Nothing listens" in caught.value.remedy
    assert url in caught.value.remedy


async def test_plain_http_behind_https_is_named() -> None:
    async with (
        LoopbackEndpoint() as endpoint,
        provider(endpoint.base_url.replace("http:", "https:")) as made,
    ):
        with pytest.raises(Unavailable) as caught:
            await collect(made)
    assert "certificate" in caught.value.remedy


async def test_an_unknown_host_is_named() -> None:
    async with provider("http://no-such-host.invalid/v1") as made:
        with pytest.raises(Unavailable) as caught:
            await collect(made)
    assert "not known" in caught.value.remedy


async def test_credentials_in_the_address_do_not_show() -> None:
    async with provider("http://ada:secret@127.0.0.1:9/v1") as made:
        assert made.endpoint == "http://127.0.0.1:9/v1"
        with pytest.raises(Unavailable) as caught:
            await collect(made)
    assert "secret" not in str(caught.value)
