"""Turns that an endpoint's error changes, and what later turns keep of it."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from chat.config import Switch
from chat.ending import INCOMPLETE
from chat.planning import MAX_REPLANS
from data.store import Store
from prompt.verbatim import Verdict
from providers.base import Refused, Replan
from providers.openai.adapter import Limits, OpenAIProvider
from providers.wire import Change
from tests.chat.house import House
from tests.chat.scripted import NOW, Piece, Recorder, call, say, think
from tests.loopback.endpoint import LoopbackEndpoint, Step

ROLL = '`roll_dice({"dice": "1d6"})`'
NATIVE_ROLL: Mapping[str, Any] = {
    "choices": [
        {
            "index": 0,
            "delta": {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": "abcdefghi",
                        "type": "function",
                        "function": {"name": "roll_dice", "arguments": '{"dice":"1d6"}'},
                    }
                ]
            },
            "finish_reason": "tool_calls",
        }
    ]
}


def refusal(message: str, status: int = 400, **more: Any) -> Step:
    return Step(status=status, body={"error": {"message": message, **more}})


class Server:
    """A house whose model is behind a socket."""

    def __init__(self, house: House, endpoint: LoopbackEndpoint) -> None:
        self.house = house
        self.endpoint = endpoint

    async def ask(self, *steps: Step, text: str = "Roll!") -> Recorder:
        self.endpoint.add(*steps)
        return await self.house.ask(text)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [received.body for received in self.endpoint.received]

    async def switch(self, name: str) -> Switch:
        overview = await self.house.service.overview(7)
        return next(switch for switch in overview.switches if switch.name == name)


@asynccontextmanager
async def serving(store: Store) -> AsyncGenerator[Server]:
    async with LoopbackEndpoint() as endpoint:
        provider = OpenAIProvider(
            base_url=endpoint.base_url, model="loopback-model", limits=Limits(first_token=5, idle=5)
        )
        try:
            yield Server(House(store, provider=provider), endpoint)
        finally:
            await provider.close()


@pytest.fixture
async def server(store: Store) -> AsyncIterator[Server]:
    async with serving(store) as made:
        yield made


def roles(body: Mapping[str, Any]) -> set[str]:
    return {message["role"] for message in body["messages"]}


async def test_a_refused_system_role_is_learnt_for_good(server: Server) -> None:
    shown = await server.ask(
        refusal("System role not supported"), Step(text=ROLL), Step(text="Done.")
    )
    assert (shown.reply.text, shown.reply.notices) == ("Done.", [])
    first, *later = server.bodies
    assert "system" in roles(first)
    assert all("system" not in roles(body) for body in later)
    assert later[0]["messages"][0]["content"].startswith("You are Fern.")
    switch = await server.switch("system_layout")
    assert (switch.value, switch.is_learnt, switch.is_set) == ("fold_into_user", True, False)
    server.house.restarted()
    await server.ask(Step(text="Hi."), text="Hello")
    assert "system" not in roles(server.bodies[-1])


async def test_an_error_in_a_stream_before_the_first_word_counts_too(server: Server) -> None:
    told = Step(raw='data: {"error": {"code": 400, "message": "unknown: stream_options"}}\n\n')
    shown = await server.ask(told, Step(text="Hi."), text="Hello")
    assert (shown.reply.text, shown.reply.notices) == ("Hi.", [])
    assert ["stream_options" in body for body in server.bodies] == [True, False]


async def test_after_a_word_nothing_is_asked_again(server: Server) -> None:
    word = json.dumps({"choices": [{"delta": {"content": "Well. "}}]})
    fault = json.dumps({"error": {"code": 400, "message": "unknown: stream_options"}})
    broken = Step(raw=f"data: {word}\n\ndata: {fault}\n\n")
    shown = await server.ask(broken, text="Hello")
    assert shown.reply.text == "Well."
    assert shown.reply.notices[-1] == INCOMPLETE
    assert (await server.switch("usage_in_stream")).learnt is None


async def test_a_refused_tool_role_does_not_run_the_tool_twice(server: Server) -> None:
    """The template fails on the follow-up only: the turn goes on with that request."""
    await server.house.store.verdicts.put(
        server.house.provider.endpoint, "loopback-model", Verdict(structured_calls=True, reason="x")
    )
    shown = await server.ask(
        Step(chunks=[NATIVE_ROLL]),
        refusal("Jinja Exception: Unexpected message role.", 500),
        Step(text="Done."),
    )
    assert (shown.reply.text, shown.reply.notices) == ("Done.", [])
    assert len(shown.reply.runs) == 1
    _, second, third = server.bodies
    assert "tool" in roles(second)
    assert "tool" not in roles(third)
    assert "[tool result] roll_dice: " in third["messages"][-1]["content"]
    assert (await server.switch("tool_role")).is_learnt


async def test_grammars_that_fail_leave_names_then_fewer_tools_and_then_the_field(
    server: Server,
) -> None:
    grammars = [refusal("failed to parse grammar")] * MAX_REPLANS
    shown = await server.ask(*grammars, Step(text=ROLL), Step(text="Done."))
    assert (shown.reply.text, shown.reply.notices) == ("Done.", [])
    whole, names, half, others, without, _ = server.bodies
    (dice,) = [
        tool["function"]["parameters"]
        for tool in names["tools"]
        if tool["function"]["name"] == "roll_dice"
    ]
    assert dice == {
        "type": "object",
        "properties": {"dice": {"type": "string"}},
        "required": ["dice"],
    }
    assert "maxLength" in json.dumps(whole["tools"])
    middle = (len(whole["tools"]) + 1) // 2
    assert half["tools"] == whole["tools"][:middle]
    assert others["tools"] == whole["tools"][middle:]
    assert "tools" not in without
    for body, tools in ((names, names["tools"]), (without, whole["tools"])):
        block = json.dumps(tools, ensure_ascii=False, separators=(",", ":"))
        assert any(block in message["content"] for message in body["messages"])
    verdict = await server.house.store.verdicts.get(
        server.house.provider.endpoint, "loopback-model"
    )
    assert (verdict.refuses_tools_field, verdict.learnt) == (True, {})


async def test_a_window_that_an_error_tells_makes_requests_smaller(server: Server) -> None:
    words = "word " * 300
    for _ in range(5):
        await server.ask(Step(text=words), text=words)
    too_long = refusal("the request exceeds the available context size", n_ctx=6000)
    shown = await server.ask(too_long, Step(text="Fine."), text="And now?")
    assert shown.reply.text == "Fine."
    sizes = [len(json.dumps(body)) for body in server.bodies[-2:]]
    assert sizes[1] < sizes[0]
    assert (await server.house.service.overview(7)).context_window == 6000
    switch = await server.switch("context_window")
    assert (switch.value, switch.is_learnt) == ("6000", True)


async def test_a_window_that_was_planned_for_explains_nothing(server: Server) -> None:
    shown = await server.ask(refusal("context size exceeded", n_ctx=8192), text="Hi")
    assert shown.reply.state == "failed"
    assert shown.reply.notices == ["This conversation is too long for the model."]
    assert "8192" not in shown.reply.remedy


async def test_what_an_admin_has_set_is_not_changed(server: Server) -> None:
    await server.house.service.configure(7, "system_layout", "merge_first")
    shown = await server.ask(refusal("System role not supported"))
    assert shown.reply.state == "failed"
    assert shown.reply.notices == ["The model server does not accept the request."]
    assert "set system_layout to fold_into_user in /config workarounds" in shown.reply.remedy
    switch = await server.switch("system_layout")
    assert (switch.is_set, switch.learnt) == (True, None)


async def test_a_setting_taken_back_leaves_what_was_learnt(server: Server) -> None:
    await server.ask(refusal("System role not supported"), Step(text="Hi."))
    await server.house.service.configure(7, "system_layout", "as_is")
    assert (await server.switch("system_layout")).value == "as_is"
    await server.house.service.configure(7, "system_layout", "default")
    switch = await server.switch("system_layout")
    assert (switch.value, switch.is_set) == ("fold_into_user", False)


async def test_what_did_not_help_is_not_kept(server: Server) -> None:
    shown = await server.ask(
        refusal("System role not supported"), Step(status=500, body={"error": "broken"})
    )
    assert shown.reply.state == "failed"
    assert (await server.switch("system_layout")).learnt is None


async def test_nobody_widens_the_window_that_the_operator_set(store: Store) -> None:
    house = House(store, window=6000)
    windows: list[int | None] = []
    for value in ("16384", "4096", "default"):
        await house.service.configure(7, "context_window", value)
        windows.append((await house.service.overview(7)).context_window)
    assert windows == [6000, 4096, 6000]


# Without a socket.


def replan(name: str, value: str) -> Replan:
    return Replan(Change(name=name, value=value), Refused("No.", remedy="Look."))


CHANGES = (
    replan("usage_in_stream", "off"),
    replan("tool_role", "as_user"),
    replan("reasoning_echo", "drop"),
    replan("empty_content", "null"),
    replan("arguments_in_history", "object"),
)


async def test_a_turn_is_planned_anew_four_times_at_most(house: House) -> None:
    assert len(CHANGES) == MAX_REPLANS + 1
    shown = await house.ask("Hi", *([change] for change in CHANGES))
    assert (shown.reply.state, shown.reply.notices) == ("failed", ["No."])
    assert (await house.verdict()).learnt == {}
    shown = await house.ask("Hi", *([change] for change in CHANGES[:4]), [say("Hello.")])
    assert shown.reply.text == "Hello."
    assert (await house.verdict()).learnt == {
        change.change.name: change.change.value for change in CHANGES[:4]
    }


@pytest.mark.parametrize(
    "change", [replan("tool_mode", "loud"), replan("none", "x"), replan("tool_role", "native")]
)
async def test_a_change_that_is_none_ends_the_turn(house: House, change: Replan) -> None:
    shown = await house.ask("Hi", [change])
    assert (shown.reply.state, shown.reply.notices) == ("failed", ["No."])


async def test_thinking_goes_back_within_the_turn_only(house: House) -> None:
    roll = call("roll_dice", dice="1d6")
    await house.ask("Roll!", [think("I should roll."), roll], [say("Done.")])
    await house.ask("Thanks", [say("Welcome.")])
    first, second, third = (request.messages for request in house.requests)
    thoughts = [[each.get("reasoning_content") for each in m] for m in (first, second, third)]
    assert thoughts[1][-2] == "I should roll."
    assert thoughts[1][:-2] == [None] * len(first)
    assert set(thoughts[2]) == {None}


async def test_thinking_goes_back_in_later_turns_if_that_is_wanted(server: Server) -> None:
    await server.house.service.configure(7, "reasoning_echo", "all")
    await server.ask(Step(reasoning="Simple.", text="Hi."), text="Hello")
    await server.ask(Step(text="Bye."), text="Thanks")
    thoughts = [each.get("reasoning_content") for each in server.bodies[-1]["messages"]]
    assert [thought for thought in thoughts if thought] == ["Simple."]
    await server.house.service.configure(7, "reasoning_echo", "drop")
    await server.ask(Step(text="Bye."), text="Thanks")
    assert "reasoning_content" not in json.dumps(server.bodies[-1])


async def test_a_template_that_opens_thinking_is_noticed_and_forgotten(server: Server) -> None:
    shown = await server.ask(Step(text="Let me see.</think>Hi."), text="Hello")
    assert shown.reply.text == "Hi."
    assert (await server.switch("template_opens_think")).learnt == "yes"
    shown = await server.ask(Step(text="Hm.</think>Bye.", split=1), text="Thanks")
    assert not any("Hm" in seen.text for seen in shown.seen)
    shown = await server.ask(Step(text="No end."), Step(text="In words."), text="Well?")
    assert (shown.reply.text, shown.reply.notices) == ("In words.", [])
    assert (await server.switch("template_opens_think")).learnt is None
    shown = await server.ask(Step(text="Hi again."), text="Hello")
    assert shown.reply.text == "Hi again."


async def test_a_turn_with_a_line_of_thought_teaches_nothing(server: Server) -> None:
    await server.ask(Step(text=f"Thought: dice.\n{ROLL}"), Step(text="Done."))
    assert (await server.switch("template_opens_think")).learnt is None


# Switches whose effect is on the turn.


@pytest.mark.parametrize(
    ("value", "requests", "state", "notices"),
    [
        ("nudge_once", 2, "failed", 1),
        ("line", 1, "failed", 1),
        ("silent", 1, "done", 0),
    ],
)
async def test_an_empty_reply(
    house: House, value: str, requests: int, state: str, notices: int
) -> None:
    await house.service.configure(7, "empty_reply", value)
    shown = await house.ask("Hi", *(list[Piece]() for _ in range(requests)))
    assert len(house.requests) == requests
    assert (shown.reply.state, len(shown.reply.notices)) == (state, notices)
    assert shown.reply.silent == (value == "silent")


@pytest.mark.parametrize("limit", [1, 3])
async def test_the_same_call_runs_as_often_as_is_set(house: House, limit: int) -> None:
    await house.service.configure(7, "repeat_limit", str(limit))
    roll = call("roll_dice", dice="1d6")
    shown = await house.ask("Roll!", *([roll] for _ in range(limit + 1)), [say("Done.")])
    results = [run.result.outcome for run in shown.reply.runs if run.result]
    assert results == ["ok"] * limit + ["denied"]


async def test_switches_reach_the_request_and_the_snapshot(server: Server) -> None:
    chosen = {
        "stream_with_tools": "whole",
        "thinking": "kwargs_off",
        "tool_choice": "string",
        "parallel_calls": "one",
        "time_in_prompt": "head",
        "context_window": "4096",
    }
    for name, value in chosen.items():
        await server.house.service.configure(7, name, value)
    both = '`roll_dice({"dice": "1d6"})`\n`roll_dice({"dice": "2d6"})`'
    shown = await server.ask(Step(text=both, whole=True), Step(text="Done.", whole=True))
    assert shown.reply.text == "Done."
    assert [run.call.arguments["dice"] for run in shown.reply.runs] == ["1d6"]
    body = server.bodies[0]
    assert (body["stream"], body["tool_choice"]) == (False, "auto")
    assert body["chat_template_kwargs"] == {"enable_thinking": False}
    assert f"{NOW:%H:%M}" in body["messages"][0]["content"]
    assert (await server.house.service.overview(7)).context_window == 4096
