"""What a turn may have, and what of it stands in the array."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prompt.dispatcher import META_TOOLS, unwrapped, wrapped
from prompt.schema_level import offered
from prompt.surface import ToolSurface, canonical_json
from prompt.values import ToolCall, ToolSpec
from tests.tools.conftest import Contexts
from tests.tools.exhibits import DEFERRED, TOP, UP, Exhibits, Noted
from tools.dispatch import run_call
from tools.exposure import ALWAYS_UPFRONT, CORE, Gates, apply, exclude_up, split
from tools.registry import ToolContext
from tools.search import MOST_FOUND, tool_search
from tools.surface import build_surface, tokens
from tools.toolset import Offered

OPEN = Gates(web=True, images=True)


@pytest.fixture
def shown() -> Exhibits:
    return Exhibits()


def call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    raw = canonical_json(arguments)
    return ToolCall(
        id="abcdefghi", name=name, arguments=arguments, raw_arguments=raw, origin="native"
    )


def through(name: str, arguments: Any = None, *, dispatcher: str = "execute_tool") -> ToolCall:
    given = {} if arguments is None else {"arguments": arguments}
    return call(dispatcher, {"name": name, **given})


def searching(shown: Exhibits, gates: Gates = OPEN, *, stable: bool = False) -> ToolSurface:
    return build_surface(shown.all_offered, gates=gates, mode="search", stable=stable)


async def answer(
    shown: Exhibits, surface: ToolSurface, context: ToolContext, made: ToolCall
) -> dict[str, Any]:
    """What the model is told, as JSON; words as `text`."""
    ran = await run_call(shown.tools, surface, context, made, timeout=5)
    try:
        return json.loads(ran.result.text)
    except ValueError:
        return {"text": ran.result.text}


def names(specs: Sequence[ToolSpec]) -> tuple[str, ...]:
    return tuple(spec.name for spec in specs)


def test_the_core_and_what_is_always_upfront_are_pinned() -> None:
    assert sorted(CORE) == [
        *("current_time", "knowledge_search", "read_channel", "recall", "remember")
    ]
    assert sorted(ALWAYS_UPFRONT) == ["generate_image", "web_search"]
    assert "web_fetch" not in CORE | ALWAYS_UPFRONT


def test_a01_split_keeps_order_and_identity(shown: Exhibits) -> None:
    tools = shown.specs
    direct, deferred = split(tools, UP)
    assert list(direct) == ["read_channel", "knowledge_search", "web_search", "generate_image"]
    assert list(deferred) == list(DEFERRED)
    assert all(tools[name] is spec for name, spec in {**direct, **deferred}.items())


def test_a02_upfront_is_the_same_object(shown: Exhibits) -> None:
    tools = shown.specs
    result = apply(tools, "upfront", UP)
    assert result.tools is tools
    assert (result.advertised, result.prompt) == ((), "")


def test_a03_search_shows_the_top_and_names_the_rest(shown: Exhibits) -> None:
    result = apply(shown.specs, "search", UP)
    assert tuple(result.tools) == TOP
    assert result.advertised == DEFERRED
    assert all(name in result.prompt for name in DEFERRED)
    surface = searching(shown)
    assert (names(surface.direct), surface.advertised) == (TOP, DEFERRED)


def test_a04_nothing_deferred_means_nothing_changed(shown: Exhibits) -> None:
    tools = {name: shown.specs[name] for name in ("read_channel", "web_search")}
    result = apply(tools, "search", UP)
    assert result.tools is tools
    assert result.prompt == ""
    two = [entry for entry in shown.all_offered if entry.tool.spec.name in tools]
    surfaces = [build_surface(two, gates=OPEN, mode=mode) for mode in ("search", "upfront")]
    assert names(surfaces[0].direct) == tuple(tools)
    assert surfaces[0].block == surfaces[1].block


def test_a05_search_selects_by_name_and_refuses_nothing_asked(shown: Exhibits) -> None:
    catalog = searching(shown).catalog
    found = tool_search("select:set_reminder,nope,set_reminder", catalog)
    assert found == {
        "tools": [
            {
                "name": "set_reminder",
                "description": "Remind the member of something later.",
                "parameters": offered(shown.specs["set_reminder"].parameters, "simple"),
            }
        ]
    }
    assert tool_search("  ", catalog) == {"tools": [], "error": "empty_query"}
    assert tool_search("select:web_search", catalog) == {"tools": []}
    asked = tool_search("select:mcp__docs__lookup, read_channel", catalog)
    assert [each["name"] for each in asked["tools"]] == ["mcp__docs__lookup", "read_channel"]


async def test_a06_arguments_are_checked_before_anything_runs(
    shown: Exhibits, context: Contexts
) -> None:
    told = await answer(shown, searching(shown), context(), through("set_reminder", {"text": "hi"}))
    assert (told["error"], told["tool"]) == ("invalid_arguments", "set_reminder")
    assert told["schema"] == shown.specs["set_reminder"].parameters
    assert shown.runs == []


@pytest.mark.parametrize(
    ("name", "error"),
    [
        *((name, "unknown_tool") for name in ("__class__", "keys", "constructor", "execute_tool")),
        ("read_channel", "call_directly"),
        ("tool_search", "call_directly"),
    ],
)
async def test_a07_only_deferred_tools_are_dispatched(
    shown: Exhibits, context: Contexts, name: str, error: str
) -> None:
    told = await answer(shown, searching(shown), context(), through(name))
    assert (told["error"], told["tool"]) == (error, name)
    assert shown.runs == []


async def test_a08_the_allowlist_is_asked_twice(shown: Exhibits, context: Contexts) -> None:
    listed = frozenset({"read_channel"})
    surface = searching(shown, Gates(web=True, allowlist=listed))
    assert names(surface.direct) == ("read_channel", "web_search")
    assert surface.deferred == ()
    assert await answer(shown, surface, context(), call("web_search", {})) == {"text": "hits"}
    retained = replace(searching(shown), permitted=surface.permitted)
    for name in ("set_reminder", "zzz", "web_search"):
        told = await answer(shown, retained, context(), through(name))
        assert (told["error"], told["tool"]) == ("not_permitted", name)
    loaded = replace(searching(shown, stable=True), permitted=surface.permitted)
    for name in ("set_reminder", "zzz"):
        for made in (through(name, dispatcher="use_loaded_tool"), call(name, {})):
            told = await answer(shown, loaded, context(), made)
            assert (told["error"], told["tool"]) == ("not_permitted", name)
    direct = await answer(
        shown, retained, context(), call("set_reminder", {"text": "hi", "minutes": 5})
    )
    assert direct["error"] == "not_permitted"
    assert [name for name, _ in shown.runs] == ["web_search"]


async def test_what_is_dispatched_runs_with_its_defaults(
    shown: Exhibits, context: Contexts
) -> None:
    surface = searching(shown)
    assert await answer(shown, surface, context(), through("mcp__docs__lookup")) == {
        "text": "an entry"
    }
    assert shown.runs == [("mcp__docs__lookup", {})]


@pytest.mark.parametrize(
    "payload",
    [{}, {"name": ""}, {"name": 5}, {"name": "a", "x": 1}, {"name": "a", "arguments": []}],
)
@pytest.mark.parametrize("dispatcher", ["execute_tool", "use_loaded_tool"])
async def test_a_malformed_dispatch_is_told_as_such(
    shown: Exhibits, context: Contexts, payload: dict[str, Any], dispatcher: str
) -> None:
    surface = searching(shown, stable=dispatcher == "use_loaded_tool")
    told = await answer(shown, surface, context(), call(dispatcher, payload))
    assert (told["error"], told["tool"]) == ("malformed_dispatch", dispatcher)


@pytest.mark.parametrize(
    ("gates", "off"),
    [
        (Gates(web=True, images=True, read_only=True), {"generate_image", "set_reminder"}),
        (Gates(images=True), {"web_search", "web_fetch"}),
        (Gates(web=True), {"generate_image"}),
        (
            replace(OPEN, switched={"set_reminder": False, "web_search": False}),
            {"set_reminder", "web_search"},
        ),
        (replace(OPEN, allowlist=frozenset()), {"read_channel", "knowledge_search", *DEFERRED}),
        (
            replace(OPEN, allowlist=frozenset({"web_fetch"})),
            {"read_channel", "knowledge_search", *DEFERRED} - {"web_fetch"},
        ),
    ],
)
@pytest.mark.parametrize("stable", [False, True])
def test_what_a_gate_takes_out_is_nowhere(
    shown: Exhibits, gates: Gates, off: set[str], stable: bool
) -> None:
    surface = searching(shown, gates, stable=stable)
    array = {each["function"]["name"] for each in surface.native}
    assert off & {*array, *surface.callable, *names(surface.catalog), *surface.advertised} == set()
    assert surface.callable.keys() - META_TOOLS == shown.tools.keys() - off
    for entry in shown.all_offered:
        assert bool(gates.why_off(entry)) == (entry.tool.spec.name in off)


def test_switching_a_gated_tool_on_does_not_bring_it_back(shown: Exhibits) -> None:
    gates = Gates(read_only=True, switched={"web_search": True, "set_reminder": True})
    surface = searching(shown, gates)
    assert not {"web_search", "set_reminder"} & surface.callable.keys()


def test_an_optional_tool_waits_for_an_admin(shown: Exhibits) -> None:
    waiting = [replace(entry, optional=True) for entry in shown.all_offered]
    assert not build_surface(waiting, gates=OPEN)
    chosen = build_surface(waiting, gates=replace(OPEN, switched={"read_channel": True}))
    assert names(chosen.direct) == ("read_channel",)


def renamed(entry: Offered, name: str) -> Offered:
    tool = entry.tool
    assert isinstance(tool, Noted)
    return replace(entry, tool=replace(tool, spec=replace(tool.spec, name=name)))


def test_the_names_of_meta_tools_are_taken(shown: Exhibits) -> None:
    entries = zip(shown.all_offered, META_TOOLS, strict=False)
    surface = build_surface([renamed(entry, name) for entry, name in entries], gates=OPEN)
    assert not META_TOOLS & surface.callable.keys()
    assert {spec.registered for spec in surface.direct} == META_TOOLS


def test_many_tools_wait_behind_a_search_once_they_cost_too_much(shown: Exhibits) -> None:
    many = [
        renamed(entry, f"{entry.tool.spec.name}{number}")
        for entry in shown.all_offered
        for number in range(5)
    ]
    upfront = build_surface(many, gates=OPEN)
    cost = tokens(upfront)
    assert build_surface(many, gates=OPEN, most_tokens=cost) == upfront
    flipped = build_surface(many, gates=OPEN, most_tokens=cost - 1)
    assert flipped.over_budget
    assert flipped.dispatcher == "execute_tool"
    assert tokens(flipped) * 2 <= cost
    few = build_surface(shown.all_offered, gates=OPEN, most_tokens=1)
    assert not few.over_budget  # a search would save too little to be worth its rounds


SPECS = st.lists(
    st.sampled_from([*Exhibits().specs.values()]), unique_by=lambda spec: spec.name
).map(lambda specs: {spec.name: spec for spec in specs})
NAMES = st.frozensets(st.sampled_from([*Exhibits().tools, "zzz"]))


@given(tools=SPECS, up=NAMES)
def test_split_loses_and_doubles_nothing(tools: dict[str, ToolSpec], up: frozenset[str]) -> None:
    direct, deferred = split(tools, up)
    assert not direct.keys() & deferred.keys()
    assert {**direct, **deferred} == tools
    for part in (direct, deferred):
        assert list(part) == [name for name in tools if name in part]
    assert all((name in direct) == (name in CORE or name in up) for name in tools)


@given(tools=SPECS, up=NAMES)
def test_a_surface_offers_what_can_be_dispatched(
    tools: dict[str, ToolSpec], up: frozenset[str]
) -> None:
    exposed = apply(tools, "search", up)
    catalog = exclude_up(tools, up)
    assert catalog.keys() <= tools.keys()
    assert not catalog.keys() & up
    assert set(exposed.advertised) <= tools.keys() - exposed.tools.keys()
    assert exposed.tools.keys() - META_TOOLS <= tools.keys()
    assert exposed.tools.keys() | set(exposed.advertised) >= tools.keys()
    assert bool(exposed.advertised) == (len(META_TOOLS & exposed.tools.keys()) == 2)
    again = apply(tools, "search", up)
    assert canonical_json(list(again.tools)) == canonical_json(list(exposed.tools))


@given(query=st.text(max_size=12) | st.sampled_from(["web", "WEB_", " e ", "select:web_fetch"]))
def test_a_search_finds_what_it_says(query: str) -> None:
    catalog = list(Exhibits().specs.values())
    found = tool_search(query, catalog)
    told = [each["name"] for each in found["tools"]]
    assert len(told) == len(set(told)) <= MOST_FOUND
    assert set(told) <= {spec.name for spec in catalog}
    words = query.strip().casefold()
    if words and not words.startswith("select:"):
        matching = {
            spec.name
            for spec in catalog
            if words in spec.name.casefold() or words in spec.description.casefold()
        }
        assert matching <= set(told)


def test_a_search_ranks_and_tells_what_it_left_out() -> None:
    def spec(name: str, description: str = "-") -> ToolSpec:
        return ToolSpec(name=name, description=description, parameters={"type": "object"})

    catalog = [
        *(spec("z", "Mentions map."), spec("roadmap"), spec("mapper"), spec("map")),
        *(spec("maps"), spec("other")),
    ]
    found = tool_search(" MAP ", catalog)
    assert [each["name"] for each in found["tools"]] == ["map", "mapper", "maps", "roadmap", "z"]
    many = tool_search("map", [spec(f"map{number}") for number in range(13)])
    assert (len(many["tools"]), many["omitted"]) == (10, 3)


@given(name=st.text(min_size=1, max_size=20), raw=st.dictionaries(st.text(), st.floats(0, 9)))
def test_a_payload_is_unwrapped_as_it_was_wrapped(name: str, raw: dict[str, float]) -> None:
    text = json.dumps(raw, indent=1)
    inner = unwrapped(wrapped(name, text))
    if name == "use_loaded_tool":
        assert inner is None
    else:
        assert inner is not None
        assert (inner.name, inner.raw_arguments, inner.arguments) == (name, text, raw)


@pytest.mark.parametrize(
    "raw",
    [
        *("", "null", "[]", "{", '{"name":"a"', '{"name":"a"} x', '{"name":"a",}', '{"name":null}'),
        *('{"name":""}', '{"name":"use_loaded_tool"}', '{"name":"a","x":1}', "{'name':'a'}"),
        *('{"name":"a","arguments":[]}', '{"name":"a","arguments":"{}"}', '{"arguments":{}}'),
        '{"name":"a","name":"b"}',
        *(
            f'{{"name":"a","arguments":{{"n":{number}}}}}'
            for number in ("1e999", "NaN", "Infinity")
        ),
    ],
)
def test_a_malformed_payload_holds_no_call(raw: str) -> None:
    assert unwrapped(raw) is None


def test_blanks_around_a_payload_mean_nothing() -> None:
    inner = unwrapped(' { "arguments" : { "n" : 1.0 } , "name" : "a" } \n')
    assert inner is not None
    assert (inner.name, inner.raw_arguments) == ("a", '{ "n" : 1.0 }')
