"""The tool whose schema breaks a server's grammar is found, left out and named."""

import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from chat.hunt import BROKEN, HUNT, SUSPECTED, Hunt, hunt_of, mark_of
from chat.planning import MAX_REPLANS
from chat.probing import Prober
from data.store import Store
from prompt.verbatim import Verdict
from providers.probe import Findings
from tests.chat.house import House, SoleEndpoint
from tests.chat.test_planning import Server, refusal, serving
from tests.loopback.endpoint import Step
from tools.registry import DeclaredTool, Registry, ToolContext, tool

GRAMMAR = refusal("Failed to initialize samplers: failed to parse grammar")
NAMES = ("t1", "t2", "t3_bad", "t4")


@pytest.fixture
async def server(store: Store) -> AsyncIterator[Server]:
    async with serving(store) as opened:
        yield opened


def made(name: str) -> DeclaredTool:
    async def does(context: ToolContext, *, word: str) -> str:
        """Does something."""
        return word

    does.__name__ = name
    return tool(read_only=True)(does)


def test_halves_find_the_one_and_then_try_the_rest_together() -> None:
    hunt = Hunt().failed("abcd")
    assert hunt.groups == (("a", "b"), ("c", "d"))
    hunt = hunt.passed("ab")
    assert hunt.groups == (("c",), ("d",))
    hunt = hunt.failed("abc")
    assert (hunt.broken, hunt.groups) == (("c",), (("d",),))
    assert hunt.passed("abd") == Hunt(broken=("c",))
    # What is left once its sibling has passed needs no request of its own.
    assert Hunt(groups=(("c",), ("d",))).passed("abc") == Hunt(broken=("d",))
    # A request that went without the group says nothing of it.
    assert Hunt(groups=(("c",), ("d",))).passed("ab") == Hunt(groups=(("c",), ("d",)))


def test_the_others_are_asked_where_few_requests_are_left() -> None:
    hunt = Hunt(groups=(("a", "b"), ("c", "d"))).failed("ab", asks_others=True)
    assert hunt.groups == (("c", "d"), ("a", "b"))
    assert hunt.passed("cd").groups == (("a",), ("b",))
    assert Hunt().failed("ab", asks_others=True).groups == (("a",), ("b",))


def test_what_is_gone_keeps_nobody_waiting() -> None:
    hunt = Hunt(broken=("x",), groups=(("a",), ("b", "c")))
    assert hunt.among({"b", "c"}) == Hunt(broken=("x",), groups=(("b", "c"),))


@pytest.mark.parametrize("kept", ["", "[]", "{", '{"groups": 5}', '{"broken": null}', "null"])
def test_what_cannot_be_read_is_no_hunt(kept: str) -> None:
    assert hunt_of({HUNT: kept}) == Hunt()
    hunt = Hunt(broken=("x",), groups=(("a",), ("b", "c")))
    assert hunt_of({HUNT: hunt.stored()}) == hunt


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 22, 40])
@pytest.mark.parametrize("bad", [{0}, {-1}, {1, -2}, {0, 1, 2}])
def test_every_broken_tool_is_found_with_few_requests(size: int, bad: set[int]) -> None:
    """A server simulated: turns with at most four more requests each, an answer in every turn from
    the second on."""
    tools = [str(number) for number in range(size)]
    broken = {tools[number % size] for number in bad}
    hunt, failures = Hunt(), 0
    for _turn in range(60):
        for revision in range(1, MAX_REPLANS + 1):
            waiting = {mark for group in hunt.groups[1:] for mark in group}
            offered = [t for t in tools if t not in waiting and t not in hunt.broken]
            if not broken & set(offered):
                hunt = hunt.passed(offered)
                break
            failures += 1
            hunt = hunt.failed(offered, asks_others=revision == MAX_REPLANS - 1)
        if not hunt.groups:
            break
    assert set(hunt.broken) == broken
    assert failures <= len(broken) * (size.bit_length() + 3)


def array(body: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in body.get("tools", ())]


async def test_c13_the_tool_that_breaks_the_grammar_is_dropped_and_named(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    house = House(
        server.house.store, provider=server.house.provider, registry=Registry(*map(made, NAMES))
    )
    server.house = house
    shown = await server.ask(GRAMMAR, GRAMMAR, Step(text="Hello."), text="Hi")
    assert (shown.reply.text, shown.reply.notices) == ("Hello.", [])
    assert list(map(array, server.bodies)) == [[*NAMES], [*NAMES], ["t1", "t2"]]
    whys = {each.name: each.why for each in await house.service.tools(7)}
    assert whys["t4"] == SUSPECTED
    shown = await server.ask(GRAMMAR, Step(text="Bye."), text="Bye")
    assert shown.reply.text == "Bye."
    assert list(map(array, server.bodies[3:])) == [["t1", "t2", "t3_bad"], ["t1", "t2", "t4"]]
    listed = {each.name: each for each in await house.service.tools(7)}
    assert [name for name in NAMES if not listed[name].enabled] == ["t3_bad"]
    assert listed["t3_bad"].why == BROKEN
    # Three requests more than turns needed, and neither the field nor the schemas were given up.
    verdict = await house.store.verdicts.get(house.provider.endpoint, "loopback-model")
    assert not verdict.refuses_tools_field
    assert verdict.learnt.keys() == {HUNT}
    house.restarted()
    await server.ask(Step(text="Well."), text="Well?")
    assert array(server.bodies[-1]) == ["t1", "t2", "t4"]
    told = [record.getMessage() for record in caplog.records if "schema" in record.getMessage()]
    assert len(told) == 1
    assert "t3_bad" in told[0]


async def test_a_tool_whose_schema_is_another_one_is_tried_again(server: Server) -> None:
    (bad, *_) = registry = [made(name) for name in NAMES]
    house = House(server.house.store, provider=server.house.provider, registry=Registry(*registry))
    hunt = Hunt(broken=(mark_of(bad.spec), mark_of(made("another").spec)))
    await house.store.verdicts.put(
        house.provider.endpoint, "loopback-model", Verdict(learnt={HUNT: hunt.stored()})
    )
    assert [each.name for each in await house.service.tools(7) if not each.enabled] == ["t1"]


async def test_what_a_server_cannot_compile_is_offered_without_the_field(server: Server) -> None:
    bad = made("t1")
    house = server.house = House(
        server.house.store, provider=server.house.provider, registry=Registry(bad, made("t2"))
    )
    hunt = Hunt(broken=(mark_of(bad.spec),))
    await house.store.verdicts.put(
        house.provider.endpoint, "loopback-model", Verdict(learnt={HUNT: hunt.stored()})
    )
    await server.ask(Step(text="Hello."), text="Hi")
    assert array(server.bodies[-1]) == ["t2"]
    await house.service.configure(7, "tool_mode", "verbatim_only")
    assert all(each.enabled for each in await house.service.tools(7))
    await server.ask(Step(text="Hello."), text="Hi")
    assert '"name":"t1"' in str(server.bodies[-1]["messages"])


async def test_a_test_of_the_server_has_tools_tried_again(server: Server) -> None:
    house = server.house
    hunt = Hunt(broken=("x",))
    await house.store.verdicts.put(
        house.provider.endpoint, "loopback-model", Verdict(learnt={HUNT: hunt.stored()})
    )
    prober = Prober(store=house.store, routes=SoleEndpoint(house.provider))
    findings = Findings(endpoint=house.provider.endpoint, model="loopback-model", seconds=1.0)
    await prober.apply(7, findings)
    verdict = await house.store.verdicts.get(house.provider.endpoint, "loopback-model")
    assert HUNT not in verdict.learnt


async def test_simple_schemas_that_did_not_help_are_taken_back(server: Server) -> None:
    """The field is left out in the end, so nothing is learnt of schemas."""
    refused = refusal("this model does not support tools")
    shown = await server.ask(GRAMMAR, refused, Step(text="Hello."), text="Hi")
    assert shown.reply.text == "Hello."
    whole, names, without = server.bodies
    assert whole["tools"] != names["tools"]
    assert "tools" not in without
    block = json.dumps(whole["tools"], ensure_ascii=False, separators=(",", ":"))
    assert any(block in message["content"] for message in without["messages"])
    verdict = await server.house.store.verdicts.get(
        server.house.provider.endpoint, "loopback-model"
    )
    assert (verdict.refuses_tools_field, verdict.learnt) == (True, {})
