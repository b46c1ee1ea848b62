"""Exposure and the stable dispatcher over whole turns: what the endpoint gets, what is made of its
answers, and what is kept of them."""

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chat.config import spec_of
from chat.overview import ExposureChange
from chat.ports import Place
from chat.tool_settings import checked_models, tool_settings
from data.store import Store
from data.turns import StoredTurn
from prompt.events import CallError, CallStarted, Finished, ParserEvent, StreamEvent
from prompt.schema_level import offered
from prompt.stages import STAGES, TOOL_DEFINITIONS_TAG
from prompt.surface import ToolSurface, canonical_json, definition
from prompt.values import Json, TextPart, ToolCall, ToolResult, Turn
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.fold import ChunkFold
from providers.verbatim import ParserSettings, VerbatimParser, find_calls
from tests.chat.house import House
from tests.chat.scripted import ADA, BOT, CHANNEL, GUILD, NOW, Recorder, say
from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.tools.exhibits import DEFERRED, OWNER, TOP, Exhibits, Noted
from tools.exposure import Gates
from tools.surface import build_surface
from tools.toolset import FixedTools, Offered

GOLDEN = Path(__file__).parents[1] / "corpus" / "requests"
REMIND = '{"text":"hi","minutes":5}'
SPECS = Exhibits().specs
EVERYTHING = {"web": True, "images": True, "exposure": "search"}


class Street:
    """A guild whose turns go over real sockets, with tools of every kind."""

    def __init__(self, store: Store, endpoint: LoopbackEndpoint, guild: int) -> None:
        self.store = store
        self.endpoint = endpoint
        self.guild = guild
        self.shown = Exhibits()
        self.provider = provider_of(endpoint)
        self.house = House(
            store,
            toolsets=[self.shown],
            provider=self.provider,
            place=Place(guild_id=guild, channel_id=CHANNEL),
        )

    async def set(self, **values: Json) -> None:
        for name, value in values.items():
            await self.store.settings.put(self.guild, "", name, value)

    async def dispatch(self, *models: str) -> None:
        await self.set(dispatch_models={self.provider.endpoint: list(models)})

    async def switch(self, name: str, value: str) -> None:
        await self.house.service.configure(self.guild, name, value)

    async def ask(self, text: str, *steps: Step) -> Recorder:
        self.endpoint.add(*steps)
        return await self.house.ask(text)

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [received.body for received in self.endpoint.received]

    async def next_body(self) -> str:
        """The request that the next turn would send, as its exact JSON."""
        shown = await self.house.service.snapshot(self.house.place, ADA, self.house.channel, 10**9)
        return shown.json


def provider_of(endpoint: LoopbackEndpoint) -> OpenAIProvider:
    return OpenAIProvider(
        base_url=endpoint.base_url, model="loopback-model", limits=Limits(first_token=5, idle=5)
    )


@asynccontextmanager
async def street_of(store: Store, guild: int = OWNER) -> AsyncGenerator[Street]:
    async with LoopbackEndpoint() as endpoint:
        made = Street(store, endpoint, guild)
        try:
            yield made
        finally:
            await made.provider.close()


@pytest.fixture
async def street(store: Store) -> AsyncIterator[Street]:
    async with street_of(store) as made:
        await made.set(**EVERYTHING)
        yield made


def natively(*calls: tuple[str, str], split: int = 0) -> Step:
    """An answer that calls, each name with its arguments as text."""
    return Step(chunks=native_chunks(*calls, split=split))


def native_chunks(
    *calls: tuple[str, str], split: int = 0, finish: str = "tool_calls"
) -> list[dict[str, Any]]:
    chunks: list[dict[str, Any]] = []
    for index, (name, arguments) in enumerate(calls):
        size = split or len(arguments) or 1
        pieces = [arguments[at : at + size] for at in range(0, len(arguments), size)]
        head = {"id": f"call{index}", "type": "function", "function": {"name": name}}
        chunks.append(delta({"tool_calls": [{"index": index, **head}]}))
        chunks += [
            delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            for piece in pieces
        ]
    return [*chunks, {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}]


def delta(fields: Mapping[str, Json]) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def array(body: Mapping[str, Json]) -> list[str]:
    return [each["function"]["name"] for each in body.get("tools", [])]


def outcomes(shown: Recorder) -> list[tuple[str, str]]:
    return [
        (run.call.name, run.result.outcome if run.result else "none") for run in shown.reply.runs
    ]


def dumped(body: Mapping[str, Json]) -> list[Json]:
    """The arrays of tool definitions that stand in the messages."""
    words = "\n".join(str(message["content"]) for message in body["messages"])
    fenced = re.findall(r"```json\n(\[.*?\])\n```", words, re.DOTALL)
    return [json.loads(block) for block in fenced]


def folded(surface: ToolSurface, *chunks: Mapping[str, Json]) -> list[StreamEvent]:
    fold = ChunkFold(surface, id_seed="turn:1")
    events = [event for chunk in chunks for event in fold.feed(chunk)]
    return [*events, *fold.close(done=True)]


def calls_of(events: Sequence[StreamEvent]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


STABLE = build_surface(
    Exhibits().all_offered, gates=Gates(web=True, images=True), mode="search", stable=True
)
SEARCH = build_surface(Exhibits().all_offered, gates=Gates(web=True, images=True), mode="search")


@pytest.mark.parametrize("dispatcher", [False, True])
async def test_a09_what_is_gated_is_in_none_of_the_four(store: Store, *, dispatcher: bool) -> None:
    async with street_of(store) as owner:
        await owner.set(**EVERYTHING, read_only=True)
        if dispatcher:
            await owner.dispatch("*")
        await nowhere(owner, "generate_image", "set_reminder")
        assert "mcp__g42__ticket" in await found_by_search(owner, "mcp__g42__ticket")
    async with street_of(store, guild=GUILD) as stranger:
        await stranger.set(**EVERYTHING)
        if dispatcher:
            await stranger.dispatch("*")
        await nowhere(stranger, "mcp__g42__ticket")
        listed = [tool.name for tool in await stranger.house.service.tools(GUILD)]
        assert "mcp__docs__lookup" in listed
        assert "mcp__g42__ticket" not in listed


async def nowhere(street: Street, *names: str) -> None:
    """None of them stands in a request, is found, or runs."""
    for name in names:
        found = await found_by_search(street, name)
        assert '"name"' not in found
        payload = {"text": "hi", "minutes": 5} if name == "set_reminder" else {}
        shown = await street.ask(
            "Go on.",
            natively((name, canonical_json(payload))),
            natively(("execute_tool", canonical_json({"name": name, "arguments": payload}))),
            Step(text="Done."),
        )
        assert all(outcome != "ok" for _, outcome in outcomes(shown))
    heads = [received.body for received in street.endpoint.received]
    for name in names:
        assert name not in array(heads[0])
        assert name not in json.dumps(heads[0]["messages"])
    assert not {name for name, _ in street.shown.runs} & set(names)


async def found_by_search(street: Street, name: str) -> str:
    """What a search for a tool of that name tells the model."""
    query = canonical_json({"query": f"select:{name}"})
    await street.ask("Look.", natively(("tool_search", query)), Step(text="Well."))
    messages = street.requests[-1]["messages"]
    return str(messages[-1]["content"])


@pytest.mark.parametrize("mode", ["verbatim", "verbatim_only"])
async def test_a10_the_dump_is_the_array(street: Street, mode: str) -> None:
    await street.switch("tool_mode", mode)
    await street.ask("Hello!", Step(text="Hello."))
    (body,) = street.requests
    tools = dumped(body)[-1]  # those before it stand in demonstrations
    assert [each["function"]["name"] for each in tools] == list(TOP)
    assert tools == list(SEARCH.native)
    assert ("tools" in body) == (mode == "verbatim")
    assert body.get("tools", tools) == tools
    first, second = [await street.next_body() for _ in range(2)]
    assert first == second


@pytest.mark.parametrize(
    ("switches", "tools", "there"),
    [
        ({"tool_mode": "verbatim"}, None, True),
        ({"tool_mode": "verbatim_only"}, None, True),
        ({"tool_mode": "off"}, None, False),
        ({"tool_mode": "native"}, None, False),
        ({"tool_mode": "verbatim", "has_tools": "off"}, None, False),
        ({"tool_mode": "verbatim"}, dict.fromkeys(SPECS, False), False),
    ],
)
async def test_a10_demonstrations_dump_and_nudge_stand_together(
    street: Street, switches: dict[str, str], tools: Json, *, there: bool
) -> None:
    await street.set(tools=tools)
    for name, value in switches.items():
        await street.switch(name, value)
    snapshot = await street.house.service.snapshot(
        street.house.place, ADA, street.house.channel, 10**9
    )
    tags = ("demonstrations", TOOL_DEFINITIONS_TAG, "verbatim_nudge")
    assert [f"--- {tag} |" in snapshot.text for tag in tags] == [there] * 3
    assert {stage.name for stage in STAGES if stage.verbatim} >= {"demonstrations", "nudge"}


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize("natively_made", [False, True])
async def test_a11_a_deferred_tool_may_be_called_by_its_own_name(
    street: Street, *, stable: bool, natively_made: bool
) -> None:
    if stable:
        await street.dispatch("*")

    def calling(arguments: str) -> Step:
        if natively_made:
            return natively(("set_reminder", arguments))
        return Step(text=f"`set_reminder({arguments})`")

    shown = await street.ask("Remind me.", calling(REMIND), Step(text="Done."))
    assert outcomes(shown) == [("set_reminder", "ok")]
    assert street.shown.runs == [("set_reminder", {"text": "hi", "minutes": 5})]
    await street.ask("Once more.", calling('{"text":"hi"}'), Step(text="Sorry."))
    told = str(street.requests[-1]["messages"][-1]["content"])
    assert "invalid_arguments" in told
    assert '\\"minutes\\"' in told
    assert "unknown_tool" not in told
    assert len(street.shown.runs) == 1


@pytest.mark.parametrize("streamed", ["stream", "whole"])
@pytest.mark.parametrize("listed", [None, {}, [], ["other-model"], "elsewhere"])
async def test_b01_off_is_the_recorded_request(
    store: Store, street: Street, streamed: str, listed: Json
) -> None:
    await street.switch("tool_mode", "native")
    await street.switch("stream_with_tools", streamed)
    if listed == "elsewhere":
        await street.set(dispatch_models={"http://other.example/v1": ["*"]})
    elif isinstance(listed, list):
        await street.set(dispatch_models={street.provider.endpoint: listed})
    else:
        await street.set(dispatch_models=listed)
    await remembered(street)
    await street.ask("And now?", Step(text="Good."))
    golden = (GOLDEN / f"search_{streamed}.json").read_bytes()
    assert street.endpoint.received[0].raw == golden.rstrip(b"\n")


async def remembered(
    street: Street, *ids: str, raw: str = '{"text":"hi","minutes":5.0}'
) -> StoredTurn:
    """A turn of the past in which a reminder was set."""
    asked = street.house.channel.add(ADA, "Remind me in five minutes.")
    shown = street.house.channel.add(BOT, "It is set.")
    calls = [
        ToolCall(
            id=name,
            name="set_reminder",
            arguments=json.loads(raw),
            raw_arguments=raw,
            origin="text",
        )
        for name in ids or ("c1c1c1c1c",)
    ]
    results = [
        ToolResult(call_id=each.id, name=each.name, text="it is set", outcome="ok")
        for each in calls
    ]
    turn = StoredTurn(
        id=str(asked.id),
        guild_id=street.guild,
        channel_id=CHANNEL,
        member_id=ADA.id,
        asked_message_id=asked.id,
        reply_message_ids=(shown.id,),
        turns=(
            Turn(role="assistant", parts=tuple(calls)),
            Turn(role="tool", parts=tuple(results)),
            Turn(role="assistant", parts=(TextPart(text="It is set."),)),
        ),
        at=NOW,
    )
    await street.store.turns.save(turn)
    return turn


@pytest.mark.parametrize("entry", ["*", "loopback-model"])
async def test_b02_one_dispatcher_and_no_deferred_schema(street: Street, entry: str) -> None:
    await street.dispatch(entry)
    await street.ask("Hello!", Step(text="Hello."))
    (body,) = street.requests
    assert array(body) == [*TOP[:-1], "use_loaded_tool"]
    (dispatcher,) = [
        each for each in body["tools"] if each["function"]["name"] == "use_loaded_tool"
    ]
    assert dispatcher["function"]["parameters"]["required"] == ["name"]
    words = json.dumps([body["tools"], body["messages"]])
    assert not [name for name in DEFERRED if name in words]


@pytest.mark.parametrize("mode", ["native", "verbatim", "verbatim_only"])
async def test_b03_a_load_changes_nothing_before_it(street: Street, mode: str) -> None:
    await street.dispatch("*")
    await street.switch("tool_mode", mode)
    query = '{"query":"select:set_reminder"}'
    load = (
        natively(("tool_search", query))
        if mode == "native"
        else Step(text=f"`tool_search({query})`")
    )
    await street.ask("Remind me.", load, Step(text="One moment."))
    first, second = street.requests
    assert canonical_json(first.get("tools")) == canonical_json(second.get("tools"))
    size = len(first["messages"])
    assert canonical_json(second["messages"][:size]) == canonical_json(first["messages"])
    spec = SPECS["set_reminder"]
    shown = offered(spec.parameters, "simple")
    original = canonical_json(
        {"tools": [{"name": spec.name, "description": spec.description, "parameters": shown}]}
    )
    loaded = "\n" + canonical_json(definition(replace(spec, offered=shown)))
    told = second["messages"][-1]["content"]
    assert told.endswith(original + loaded)
    stored = await street.house.store.turns.by_messages(
        [message.id for message in street.house.channel.messages]
    )
    (kept,) = {turn.id: turn for turn in stored.values()}.values()
    results = [part for turn in kept.turns for part in turn.parts if isinstance(part, ToolResult)]
    assert [result.text for result in results] == [original]
    await street.ask("And again.", load, Step(text="Hm."))
    third, fourth = street.requests[2:]
    assert told in json.loads(json.dumps([m["content"] for m in third["messages"]]))
    assert fourth["messages"][-1]["content"].endswith(original)


@pytest.mark.parametrize(
    "raw",
    ['{"text":"hi","minutes":5.0}', '{ "minutes" : 5e0, "text":"\\u0068i\\/" }'],
)
async def test_b04_history_shows_dispatcher_calls_and_keeps_real_ones(
    street: Street, raw: str
) -> None:
    await street.dispatch("*")
    await street.switch("tool_mode", "native")
    turn = await remembered(street, raw=raw)
    before = await street.next_body()
    (made,) = [
        each for message in json.loads(before)["messages"] for each in message.get("tool_calls", [])
    ]
    assert made["id"] == "c1c1c1c1c"
    assert made["function"] == {
        "name": "use_loaded_tool",
        "arguments": f'{{"name":"set_reminder","arguments":{raw}}}',
    }
    kept = await street.store.turns.by_ids([turn.id])
    assert kept[turn.id].turns == turn.turns
    street.house.restarted()
    assert await street.next_body() == before


def test_b05_a_whole_answer_is_rewritten_to_the_real_tool() -> None:
    """The server's id `x` is not kept for any call: ids have nine characters. What is shown is that
    a call through the dispatcher gets the id that a direct one with the same id gets."""
    raw = '{"name":"set_reminder","arguments":{"minutes":5,"text":"hi"}}'

    def answered(name: str, arguments: str) -> list[StreamEvent]:
        message = {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "x",
                    "type": "function",
                    "function": {"name": name, "arguments": arguments},
                }
            ],
        }
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
        return folded(STABLE, {"object": "chat.completion", "choices": [choice]})

    events = answered("use_loaded_tool", raw)
    (made,) = calls_of(events)
    (direct,) = calls_of(answered("read_channel", "{}"))
    assert made.id == direct.id
    assert (made.name, made.raw_arguments) == ("set_reminder", '{"minutes":5,"text":"hi"}')
    assert made.arguments == {"minutes": 5, "text": "hi"}
    assert events[-1] == Finished(reason="tool_calls")


def test_b06_a_streamed_answer_is_rewritten_beside_a_direct_call() -> None:
    raw = '{"name":"set_reminder","arguments":{"minutes":5,"text":"hi"}}'
    events = folded(
        STABLE, *native_chunks(("use_loaded_tool", raw), ("read_channel", "{}"), split=1)
    )
    plain = folded(STABLE, *native_chunks(("read_channel", "{}"), ("web_search", "{}"), split=1))
    made = calls_of(events)
    assert [(each.name, each.raw_arguments) for each in made] == [
        ("set_reminder", '{"minutes":5,"text":"hi"}'),
        ("read_channel", "{}"),
    ]
    assert [each.id for each in made] == [each.id for each in calls_of(plain)]
    assert "use_loaded_tool" not in repr(events)
    assert [event.name for event in events if isinstance(event, CallStarted)] == ["read_channel"]


async def test_b07_what_no_tool_is_called_is_told_by_the_executor(street: Street) -> None:
    (made,) = calls_of(folded(STABLE, *native_chunks(("use_loaded_tool", '{"name":"nope"}'))))
    assert (made.name, made.arguments, made.raw_arguments) == ("nope", {}, "{}")
    await street.dispatch("*")
    step = natively(("use_loaded_tool", '{"name":"nope"}'))
    shown = await street.ask("Go.", step, Step(text="Sorry."))
    assert outcomes(shown) == [("nope", "invalid")]
    assert error_told(street) == {"error": "unknown_tool", "tool": "nope"}


def error_told(street: Street) -> dict[str, Any]:
    """Code and tool of the error that the model was told last."""
    told = str(street.requests[-1]["messages"][-1]["content"])
    found = json.loads(told[told.index("{") :])
    return {name: found[name] for name in ("error", "tool")}


@pytest.mark.parametrize(
    "raw",
    [
        '{"name":""}',
        '{"name":"use_loaded_tool"}',
        '{"name":"web_fetch","x":1}',
        '{"name":"web_fetch","arguments":[]}',
        '{"name":"web_fetch"',
    ],
)
async def test_b08_what_is_malformed_stays_and_runs_nothing(street: Street, raw: str) -> None:
    (made,) = calls_of(folded(STABLE, *native_chunks(("use_loaded_tool", raw))))
    assert (made.name, made.raw_arguments) == ("use_loaded_tool", raw)
    await street.dispatch("*")
    shown = await street.ask("Go.", natively(("use_loaded_tool", raw)), Step(text="Sorry."))
    assert outcomes(shown) == [("use_loaded_tool", "invalid")]
    assert error_told(street) == {"error": "malformed_dispatch", "tool": "use_loaded_tool"}
    assert street.shown.runs == []


async def test_b09_two_calls_with_one_id_leave_the_dispatcher_off(street: Street) -> None:
    await street.switch("tool_mode", "native")
    await remembered(street, "c1c1c1c1c", "c1c1c1c1c")
    off = await street.next_body()
    await street.dispatch("*")
    assert await street.next_body() == off
    assert '"use_loaded_tool"' not in off


@pytest.mark.parametrize("key", ["loopback-model", "group", "*"])
async def test_b09_only_the_key_of_an_endpoint_switches_it_on(street: Street, key: str) -> None:
    """There are no combined groups of endpoints here; a list under any other name is no list."""
    await remembered(street)
    off = await street.next_body()
    await street.set(dispatch_models={key: ["*", "loopback-model"]})
    assert await street.next_body() == off


@pytest.mark.parametrize("choice", ["omit", "string"])
async def test_b09_no_request_forces_a_choice_of_tools(street: Street, choice: str) -> None:
    """A forced tool, or a restricted choice, could mean a hidden one. No request has either, at
    any value of the switch, so there are no such bytes to compare with those of off mode."""
    spec = spec_of("tool_choice")
    assert spec is not None
    assert spec.choices == ("omit", "string")
    await street.switch("tool_mode", "native")
    await street.switch("tool_choice", choice)
    await street.dispatch("*")
    await street.ask("Hello!", Step(text="Hello."))
    (body,) = street.requests
    assert body.get("tool_choice", "auto") == "auto"
    assert "allowed_tools" not in json.dumps(body)


async def test_b10_an_unlisted_second_endpoint_gets_real_names(store: Store) -> None:
    async with street_of(store) as first, LoopbackEndpoint() as endpoint:
        second = provider_of(endpoint)
        try:
            await first.set(**EVERYTHING)
            await first.dispatch("*")
            for provider in (first.provider, second):
                await store.settings.put(OWNER, provider.model, "tool_mode", "native")
            await remembered(first)
            house = House(
                store,
                toolsets=[first.shown],
                provider=first.provider,
                fallbacks=[second],
                place=first.house.place,
            )
            house.channel = first.house.channel
            first.endpoint.add(Step(status=500, body={"error": {"message": "down"}}))
            endpoint.add(Step(text="Here I am."))
            shown = await house.ask("And now?")
            assert shown.reply.text == "Here I am."
        finally:
            await second.close()
        (failed,), (answered,) = first.endpoint.received, endpoint.received
        assert b"use_loaded_tool" in failed.raw
        golden = (GOLDEN / "search_stream.json").read_bytes().rstrip(b"\n")
        assert answered.raw == golden


def test_b10_fenced_text_that_names_the_dispatcher_is_rewritten() -> None:
    raw = '{"name":"set_reminder","arguments":{"minutes":5,"text":"hi"}}'
    text = f'```json\n{{"name":"use_loaded_tool","arguments":{raw}}}\n```'
    for size in (1, 7, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        (made,) = calls_of(folded(STABLE, *(delta({"content": piece}) for piece in pieces)))
        assert (made.name, made.raw_arguments) == ("set_reminder", '{"minutes":5,"text":"hi"}')


@pytest.mark.parametrize("surface", [STABLE, SEARCH], ids=["stable", "search"])
def test_a_copied_call_does_not_run_through_a_dispatcher_either(surface: ToolSurface) -> None:
    page = f"Now write `set_reminder({REMIND})`, and read_channel()."
    inner = f'{{"name":"set_reminder","arguments":{REMIND}}}'
    settings = ParserSettings(copied=find_calls(page, surface))

    def read(text: str) -> list[ParserEvent]:
        parser = VerbatimParser(surface, settings)
        return [*parser.feed(text), *parser.close("stop")]

    for text in (f"`{surface.dispatcher}({inner})`", f"`set_reminder({REMIND})`"):
        (error,) = [event for event in read(text) if isinstance(event, CallError)]
        assert error.code == "copied"
    reads = read(f'`{surface.dispatcher}({{"name":"read_channel"}})`')
    assert [event.name for event in reads if isinstance(event, ToolCall)] == [surface.dispatcher]


async def test_tools_that_crowd_the_window_wait_behind_a_search(store: Store) -> None:
    shown = Exhibits()
    crowd = [
        Offered(tool=Noted(each, replace(each.spec, name=f"{name}_{number}"), shown.runs))
        for name, each in shown.tools.items()
        for number in range(5)
    ]
    house = House(store, toolsets=[FixedTools([*crowd, *shown.all_offered])])
    await house.ask("Hello!", [say("Hello.")])
    told = (await house.service.overview(GUILD)).exposure
    assert told == (
        "search: 4 tools at hand, 42 found by search, since all of them pass tool_budget_percent"
    )
    snapshot = await house.service.snapshot(house.place, ADA, house.channel, 10**9)
    assert told in snapshot.text.splitlines()[0]
    await house.service.configure(GUILD, "tool_budget_percent", "100")
    await house.ask("And now?", [say("Hello.")])
    assert [len(prompt.surface.direct) for prompt in house.prompts] == [4, 44]
    house.model.check()


async def test_a_list_of_models_stays_with_an_endpoint_whose_address_changes(
    street: Street,
) -> None:
    settings = street.store.settings
    old = street.provider.endpoint
    await street.set(dispatch_models={old: ["*"], "other": ["m"]})
    service = street.house.service
    assert (await service.exposure(OWNER)).dispatch == ["*"]
    await service.expose(OWNER, ExposureChange(dispatch=["loopback-model"]))
    kept = (await settings.values(OWNER, ""))["dispatch_models"]
    assert kept == {"other": ["m"], "operator:0": ["loopback-model"]}
    await service.expose(OWNER, ExposureChange(dispatch=[]))
    assert (await service.exposure(OWNER)).dispatch == ()
    async with LoopbackEndpoint() as moved:
        provider = provider_of(moved)
        await service.expose(OWNER, ExposureChange(dispatch=["*"]))
        house = House(street.store, provider=provider, place=street.house.place)
        assert (await house.service.exposure(OWNER)).dispatch == ["*"]
        await provider.close()


async def test_models_are_written_strictly_and_read_leniently(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert checked_models([" qwen/3:8b ", "*", "*"]) == ["qwen/3:8b", "*"]
    for wrong in ("", "a b", "qwen*", "x" * 201, "a\nb"):
        with pytest.raises(ValueError, match="name of a model"):
            checked_models([wrong])
    stored = {"one": ["good", 5, "a b", "*"], "two": "good", "three": []}
    settings = tool_settings({"dispatch_models": stored})
    assert settings.dispatch_models == {"one": ["good", "*"], "three": []}
    assert settings.is_stable(["one"], "any")
    assert not settings.is_stable(["two"], "good")
    assert settings.is_stable(["id", "one"], "any")
    assert not settings.is_stable(["three", "one"], "any")
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert not tool_settings({"dispatch_models": []}).dispatch_models


async def test_a_fresh_guild_has_at_most_six_tools_and_a_short_prompt(house: House) -> None:
    await house.ask("Hello!", [say("Hello.")])
    (request,) = house.requests
    assert len(request.prompt.surface.direct) <= 6
    assert not request.prompt.surface.deferred


async def test_a_call_through_execute_tool_counts_as_the_call_that_it_is(street: Street) -> None:
    payload = f'{{"name":"set_reminder","arguments":{REMIND}}}'
    steps = [natively(("execute_tool", payload)), natively(("set_reminder", REMIND))]
    shown = await street.ask("Go.", *steps, natively(("execute_tool", payload)), Step(text="Done."))
    assert [outcome for _, outcome in outcomes(shown)] == ["ok", "ok", "denied"]
    asked = {(run.asked.name, run.asked.raw_arguments) for run in shown.reply.runs}
    assert asked == {("set_reminder", REMIND)}
    assert len(street.shown.runs) == 2


async def test_the_list_of_tools_tells_why(street: Street) -> None:
    await street.set(web=False, allowlist=["read_channel", "web_fetch", "set_reminder"])
    listed = {tool.name: tool for tool in await street.house.service.tools(OWNER)}
    assert [name for name, tool in listed.items() if tool.enabled] == [
        *("read_channel", "generate_image", "set_reminder")
    ]
    assert listed["web_fetch"].why == "the web is off (/config exposure)"
    assert "allowlist" in listed["mcp__docs__lookup"].why
    assert listed["set_reminder"].why == "built in, found by search"
    overview = await street.house.service.overview(OWNER)
    assert overview.exposure == "search: 4 tools at hand, 1 found by search"
