import json
import re
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

import pytest
from pydantic import Field, StrictInt

from prompt.schema import problems
from prompt.schema_level import SchemaLevel
from prompt.surface import canonical_json
from prompt.values import JsonObject, Rate, ToolSpec
from tests.tools.conftest import Contexts
from tools.builtin import builtin_registry
from tools.exposure import Gates
from tools.registry import Registry, Tool, ToolContext, ToolFailure, tool
from tools.surface import build_surface
from tools.toolset import offering

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tools.md"

GOLDEN = """\
{"name":"roll_dice","parameters":{"type":"object","properties":{"dice":{\
"description":"such as 2d6 or d20+3","maxLength":100,"type":"string"}},\
"required":["dice"],"additionalProperties":false}}
{"name":"current_time","parameters":{"type":"object","properties":{"timezone":{"default":"UTC",\
"description":"IANA name such as Europe/Oslo","type":"string"}},"additionalProperties":false}}
{"name":"remember","parameters":{"type":"object","properties":{"fact":{"description":\
"one full sentence","maxLength":500,"minLength":1,"type":"string"}},"required":["fact"],\
"additionalProperties":false}}
{"name":"recall","parameters":{"type":"object","properties":{"query":{"default":"",\
"description":"words to look for; empty lists all","type":"string"}},\
"additionalProperties":false}}
{"name":"forget","parameters":{"type":"object","properties":{"fact_id":{"description":\
"number of the fact, as recall lists it","type":"integer"}},"required":["fact_id"],\
"additionalProperties":false}}
"""


@tool(read_only=True)
async def mix(
    context: ToolContext,
    *,
    colours: Annotated[list[str], Field(max_length=3, description="names")],
    mode: Literal["add", "subtract"] = "add",
    count: StrictInt = 1,
) -> str:
    """Mix colours
    over two lines.

    This paragraph is for programmers.
    """
    return json.dumps([context.member_id, colours, mode, count])


def test_the_schemas_of_the_built_in_tools() -> None:
    """They stand in every prompt: a change of theirs is a change of every head."""
    written = "".join(
        json.dumps(
            {"name": entry.spec.name, "parameters": entry.spec.parameters}, separators=(",", ":")
        )
        + "\n"
        for entry in builtin_registry()
    )
    assert written == GOLDEN


def test_what_the_built_in_tools_may_do() -> None:
    kinds = {entry.spec.name: entry.spec.read_only for entry in builtin_registry()}
    assert kinds == {
        "roll_dice": True,
        "current_time": True,
        "remember": False,
        "recall": True,
        "forget": False,
    }
    assert all(entry.spec.source == "builtin" for entry in builtin_registry())
    assert all(entry.spec.description.endswith(".") for entry in builtin_registry())


def test_every_tool_has_a_rate_and_the_page_tells_it() -> None:
    rows = [line.split("|") for line in PAGE.read_text("utf-8").splitlines()]
    told = {
        name: cells[-2].strip()
        for cells in rows
        if len(cells) == 7
        for name in re.findall(r"`(\w+)`", cells[1])
    }
    for entry in builtin_registry():
        rate = entry.spec.rate
        assert rate.seconds == 60
        assert told[entry.spec.name].startswith(f"{rate.calls} a minute")
    assert get_type_hints(ToolSpec)["rate"] is Rate, "no tool goes without"


def test_a_signature_becomes_a_spec() -> None:
    assert mix.spec.name == "mix"
    assert mix.spec.description == "Mix colours over two lines."
    assert mix.spec.read_only
    assert mix.spec.parameters == {
        "type": "object",
        "properties": {
            "colours": {
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 3,
                "description": "names",
            },
            "mode": {"type": "string", "enum": ["add", "subtract"], "default": "add"},
            "count": {"type": "integer", "default": 1},
        },
        "required": ["colours"],
        "additionalProperties": False,
    }


async def test_defaults_are_filled_in(context: Contexts) -> None:
    assert json.loads((await mix.run(context(), {"colours": ["red"]})).text) == [
        10,
        ["red"],
        "add",
        1,
    ]
    given: JsonObject = {"colours": [], "mode": "subtract", "count": 2}
    assert json.loads((await mix.run(context(), given)).text) == [10, [], "subtract", 2]


async def test_what_passes_the_schema_alone_fails_with_the_name_of_the_argument(
    context: Contexts,
) -> None:
    arguments = {"colours": ["red"], "count": 1.0}
    assert not problems(mix.spec.parameters, arguments)
    with pytest.raises(ToolFailure, match=r"count: .*integer"):
        await mix.run(context(), arguments)


def test_a_tool_without_arguments() -> None:
    @tool()
    async def ping(context: ToolContext) -> str:
        """Ping."""
        return str(context.guild_id)

    assert ping.spec.parameters == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


def test_a_registry_has_one_tool_of_a_name_and_keeps_its_order() -> None:
    registry = Registry(mix, *builtin_registry())
    assert [entry.spec.name for entry in registry][:2] == ["mix", "roll_dice"]
    assert registry.get("mix") is mix
    with pytest.raises(ValueError, match="share a name"):
        Registry(mix, mix)


@pytest.mark.parametrize("name", ["__class__", "get", "_tools", "__init__", "keys", "", "MIX"])
def test_only_the_exact_name_of_a_tool_finds_one(name: str) -> None:
    assert Registry(mix).get(name) is None


def test_disabled_tools_are_absent_everywhere() -> None:
    surface = build_surface(
        offering(builtin_registry()), gates=Gates(switched={"remember": False, "nonsense": False})
    )
    names = ["roll_dice", "current_time", "recall", "forget"]
    assert [entry["function"]["name"] for entry in surface.native] == names
    assert list(surface.callable) == names
    assert '"remember"' not in surface.block


def test_the_same_registry_gives_the_same_bytes() -> None:
    assert (
        build_surface(offering(builtin_registry())).block
        == build_surface(offering(builtin_registry())).block
    )


def declared(name: str) -> Tool:
    """A tool of any name, as a server of tools may declare it."""

    async def run(context: ToolContext, *, day: Annotated[str, Field(pattern="^[0-9-]+$")]) -> str:
        """Tell."""
        return f"it ran on {day}"

    run.__name__ = name
    return tool()(run)


LONG = "a" * 80


def test_names_are_made_fit_for_endpoints_and_stay_apart() -> None:
    names = ["get.weather", "get_weather", "get weather", "größe", "日本", LONG, f"{LONG}b", "ok-1"]
    surface = build_surface(offering(Registry(*(declared(name) for name in names))))
    told = list(surface.callable)
    assert len(set(told)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in told)
    assert [spec.registered or spec.name for spec in surface.direct] == names
    assert (told[1], told[3], told[7]) == ("get_weather", "gr_e", "ok-1")


def test_a_name_that_is_made_fit_depends_on_no_unrelated_tool() -> None:
    alone = build_surface(offering(Registry(declared("get.weather")))).direct[0].name
    beside = (
        build_surface(offering(Registry(declared("zzz"), declared("get.weather")))).direct[1].name
    )
    assert alone == beside == "get_weather"


@pytest.mark.parametrize("level", ["simple", "full", "names_only"])
def test_the_block_is_the_array_at_every_level(level: SchemaLevel) -> None:
    surface = build_surface(offering(Registry(declared("when"))), level=level)
    (entry,) = surface.native
    assert surface.block == canonical_json([entry])
    sent = entry["function"]["parameters"]["properties"]["day"]
    assert ("pattern" in sent) == (level == "full")
    assert surface.direct[0].parameters["properties"]["day"]["pattern"] == "^[0-9-]+$"


def test_every_tool_has_a_description() -> None:
    async def quiet(context: ToolContext) -> str:
        return ""

    (entry,) = build_surface(offering(Registry(tool()(quiet)))).native
    assert entry["function"]["description"] == "quiet"
